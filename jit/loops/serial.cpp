#include "serial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "../ops/traits.hpp"
#include "../plan/row_passes.hpp"
#include "dead_code.hpp"
#include "elements.hpp"
#include "serial_reduction.hpp"
#include "verify.hpp"

namespace sinter::inline v1::jit::loops {
namespace {

class Serial {
 public:
  Serial(const Kernel& kernel, const KernelTraits& traits, const SymbolicNest& nest, Builder& b)
      : kernel_(kernel),
        graph_(kernel.graph),
        traits_(traits),
        nest_(nest),
        b_(b),
        elements_(kernel.graph, b),
        passes_(kernel),
        rows_(kernel.rows ? nest.row_dims() : 0),
        needed_(backward_slice(graph_, graph_.outputs(), [](std::size_t) { return false; })) {}

  void run() {
    add_params();
    row_ = uniform();
    emit_loops(0, rows_, [&] {
      compute_row_values(0);
      for (int s = 0; s < passes_.stages.count; ++s) {
        reduce(static_cast<std::size_t>(s));
        compute_row_values(s + 1);
      }
      if (passes_.stages.has_final_pass) write_elements();
      store_outputs(row_, false);
    });
    report_faults();
  }

 private:
  Value integer(std::int64_t n) { return b_.integer(Kind::Int64, n); }
  Value int64_param(std::string name) { return b_.param(std::move(name), index_type(Kind::Int64)); }
  std::size_t input(std::size_t i) const { return kernel_.outputs.size() + i; }

  // ---- Parameters

  void add_params() {
    for (std::size_t k = 0; k < nest_.operands.size(); ++k) {
      const bool is_output = k < kernel_.outputs.size();
      names_.push_back(fmt::format("{}{}", is_output ? 'y' : 'x', is_output ? k : k - kernel_.outputs.size()));
      const Type type = pointer_type(storage(traits_.operands[k].dtype));
      pointers_.push_back(traits_.operands[k].memory ? b_.param(names_[k], type) : none);
      strides_.emplace_back();
      for (int d = 0; d < nest_.ndim; ++d) strides_[k].push_back(stride(k, d));
    }
    for (int d = 0; d < nest_.ndim; ++d)
      extents_.push_back(number_or_param(nest_.extents[d], fmt::format("extent{}", d)));
  }

  Value stride(std::size_t k, int d) {
    return number_or_param(nest_.operands[k].strides[d], fmt::format("{}_stride{}", names_[k], d));
  }
  Value number_or_param(const Extent& extent, std::string name) {
    return extent.is_number() ? integer(extent.factor()) : int64_param(std::move(name));
  }

  Values uniform() {
    std::vector<Value> scalars(graph_.nodes().size(), none);
    int count = 0;
    for (std::size_t i = 0; i < scalars.size(); ++i)
      if (const Node& n = graph_.nodes()[i]; n.op == Op::scalar)
        scalars[i] = b_.param(fmt::format("s{}", count++), element_type(n.dtype));
    Value columns = integer(1);
    for (int d = rows_; d < nest_.ndim; ++d) columns = b_.mul(columns, extents_[static_cast<std::size_t>(d)]);
    return elements_.uniform(
        columns, [&](std::size_t node) { return scalars[node]; }, [&](std::size_t i) { return pointers_[input(i)]; });
  }

  // ---- Loops

  /// Loops over the dims [first, last), with `body` in the innermost one.
  void emit_loops(int first, int last, const std::function<void()>& body) {
    if (first == last) return body();
    const Value zero = integer(0), one = integer(1), extent = extents_[static_cast<std::size_t>(first)];
    b_.emit_for(zero, extent, one, Unroll::CompilerDefault, fmt::format("i{}", first), [&](Value counter) {
      counters_.push_back(counter);
      emit_loops(first + 1, last, body);
      counters_.pop_back();
    });
  }

  /// The offset of the operand's current element.
  Value offset(std::size_t k) {
    Value at = integer(0);
    for (std::size_t d = 0; d < counters_.size(); ++d) at = b_.add(at, b_.mul(counters_[d], strides_[k][d]));
    return at;
  }

  Value load(std::size_t k) {
    if (pointers_[k] == none) return b_.element(offset(k), DType::Int64);
    return b_.named(b_.load(pointers_[k], offset(k), 1, Access::Unaligned), names_[k]);
  }

  /// The position of the current element in its row.
  Value position() {
    Value at = integer(0);
    for (auto d = static_cast<std::size_t>(rows_); d < counters_.size(); ++d)
      at = b_.add(b_.mul(at, extents_[d]), counters_[d]);
    return b_.element(at, DType::Int64);
  }

  // ---- Values

  void compute(const std::vector<bool>& needed, Values& values) {
    elements_.compute(needed, values, none, [&](std::size_t i) { return load(input(i)); });
  }

  /// Computes the per-row values that become available after `stages` stages.
  void compute_row_values(int stages) {
    std::vector<bool> needed = needed_;
    for (std::size_t i = 0; i < needed.size(); ++i)
      needed[i] =
          needed[i] && passes_.stages.per_row[i] && passes_.stages.stage[i] == stages && !combines(graph_.nodes()[i]);
    compute(needed, row_);
  }

  Values elements(const RowPass& pass) {
    Values values = row_;
    compute(backward_slice(graph_, pass.wanted, [&](std::size_t i) { return passes_.stages.per_row[i]; }), values);
    return values;
  }

  void reduce(std::size_t number) {
    const RowPass& pass = passes_.passes[number];
    const int lanes = lanes_of(pass);
    std::vector<SerialReduction> reductions;
    for (const Operand r : pass.reductions)
      reductions.emplace_back(b_, graph_[r].op, graph_[graph_.operands(graph_[r])[0]].dtype, lanes);
    const auto add = [&](Value lane) {
      const Values values = elements(pass);
      for (std::size_t i = 0; i < reductions.size(); ++i)
        reductions[i].add(value_of(values, graph_.operands(graph_[pass.reductions[i]])[0]), position(), lane);
      if (passes_.writes(number)) store_outputs(values, true);
    };
    if (lanes == 1) {
      emit_loops(rows_, nest_.ndim, [&] { add(first_lane()); });
    } else {
      b_.emit_if(b_.less(integer(lanes - 1), extents_.back()), [&] {  // else the lanes would cost more than the row
        for (SerialReduction& r : reductions) r.start_lanes();
        emit_loops(rows_, nest_.ndim - 1, [&] { emit_lanes(lanes, add); });
        for (SerialReduction& r : reductions) r.combine_lanes();
      });
      emit_loops(rows_, nest_.ndim - 1, [&] { emit_tail(lanes, add); });
    }
    for (std::size_t i = 0; i < reductions.size(); ++i)
      row_[static_cast<std::size_t>(pass.reductions[i].node)] = reductions[i].result();
  }

  // ---- Lanes: along the innermost dim, element i is in lane i % lanes. The last elements, which do not fill all
  // lanes, are in the first one.

  Value first_lane() { return b_.integer(Kind::Index, 0); }
  Value whole(int lanes) { return b_.sub(extents_.back(), b_.rem_by(extents_.back(), lanes)); }
  std::string innermost_counter() const { return fmt::format("i{}", nest_.ndim - 1); }

  void at(Value counter, Value lane, const std::function<void(Value)>& body) {
    counters_.push_back(counter);
    body(lane);
    counters_.pop_back();
  }
  void emit_lanes(int lanes, const std::function<void(Value)>& body) {
    b_.emit_for(
        integer(0), whole(lanes), integer(lanes), Unroll::CompilerDefault, innermost_counter(), [&](Value first) {
          const auto in_lane = [&](Value lane) { at(b_.add(first, b_.convert(lane, Kind::Int64)), lane, body); };
          b_.emit_counted(lanes, "l", in_lane, Unroll::Vectors);
        });
  }
  void emit_tail(int lanes, const std::function<void(Value)>& body) {
    b_.emit_for(whole(lanes), extents_.back(), integer(1), Unroll::CompilerDefault, innermost_counter(),
                [&](Value counter) { at(counter, first_lane(), body); });
  }

  /// 1 where lanes would be empty: rows without dims, or shorter ones.
  int lanes() const {
    if (rows_ == nest_.ndim) return 1;
    const Extent& innermost = nest_.extents[nest_.ndim - 1];
    return innermost.is_number() && innermost.factor() < serial_lanes ? 1 : serial_lanes;
  }
  int lanes_of(const RowPass& pass) const {
    const auto in_order = [&](Operand r) { return traits_of(graph_[r].op).gives_position; };
    return std::ranges::any_of(pass.reductions, in_order) ? 1 : lanes();
  }

  void write_elements() {
    const auto write = [&](Value) { store_outputs(elements(passes_.passes.back()), true); };
    if (lanes() == 1) return emit_loops(rows_, nest_.ndim, [&] { write(first_lane()); });
    emit_loops(rows_, nest_.ndim - 1, [&] {
      emit_lanes(lanes(), write);
      emit_tail(lanes(), write);
    });
  }

  void store_outputs(const Values& values, bool of_elements) {
    for (std::size_t k = 0; k < kernel_.outputs.size(); ++k) {
      if (passes_.is_element_output(k) != of_elements) continue;
      const Value at = offset(k), value = b_.to_storage(value_of(values, graph_.outputs()[k]));
      b_.store(pointers_[k], at, value, Access::Unaligned);
    }
  }

  static Value value_of(const Values& values, Operand o) { return values[static_cast<std::size_t>(o.node)]; }

  void report_faults() {
    if (!traits_.faults.any()) return;
    const Value faults = b_.param("faults", index_type(Kind::FaultWord));
    for (const Fault f : all_faults)
      if (traits_.faults.has(f)) b_.report_fault(f, faults, b_.integer(Kind::UInt32, fault_bit(f)));
  }

  const Kernel& kernel_;
  const Graph& graph_;
  const KernelTraits& traits_;
  const SymbolicNest& nest_;
  Builder& b_;
  const Elements elements_;
  const RowPasses passes_;
  const int rows_;
  const std::vector<bool> needed_;
  std::vector<std::string> names_;  // of operands
  std::vector<Value> pointers_, extents_, counters_;
  std::vector<std::vector<Value>> strides_;
  Values row_;  // per-row values that have been computed, by node
};

}  // namespace

LoopProgram lower_serial(const Kernel& kernel, const KernelTraits& traits, const SymbolicNest& nest) {
  LoopProgram program{.name = kernel.name, .wide = true, .aliased = true, .code = {}};
  Builder b(program);
  Serial(kernel, traits, nest, b).run();
  eliminate_dead_code(program);
  check(program);
  return program;
}

}  // namespace sinter::inline v1::jit::loops

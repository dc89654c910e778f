#include "serial_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../ops/traits.hpp"
#include "serial.hpp"

namespace sinter::inline v1::jit::loops {

SerialKernel::SerialKernel(const Kernel& kernel, const KernelTraits& traits, const SymbolicNest& nest, Builder& b)
    : kernel_(kernel),
      graph_(kernel.graph),
      traits_(traits),
      nest_(nest),
      b_(b),
      passes_(kernel),
      rows_(kernel.rows ? nest.row_dims() : 0),
      needed_(backward_slice(graph_, graph_.outputs(), [](std::size_t) { return false; })),
      kept_(kernel.rows ? value_to_keep(passes_) : std::nullopt),
      elements_(kernel.graph, b) {
  add_params();
}

// ---- Parameters

void SerialKernel::add_params() {
  for (std::size_t k = 0; k < nest_.operands.size(); ++k) {
    const bool is_output = k < kernel_.outputs.size();
    names_.push_back(fmt::format("{}{}", is_output ? 'y' : 'x', is_output ? k : k - kernel_.outputs.size()));
    const Type type = pointer_type(storage(traits_.operands[k].dtype));
    pointers_.push_back(traits_.operands[k].memory ? b_.param(names_[k], type) : none);
    strides_.emplace_back();
    for (int d = 0; d < nest_.ndim; ++d)
      strides_[k].push_back(number_or_param(nest_.operands[k].strides[d], fmt::format("{}_stride{}", names_[k], d)));
  }
  for (int d = 0; d < nest_.ndim; ++d)
    extents_.push_back(number_or_param(nest_.extents[d], fmt::format("extent{}", d)));
}

Value SerialKernel::number_or_param(const Extent& extent, std::string name) {
  return extent.is_number() ? integer(extent.factor()) : b_.param(std::move(name), index_type(Kind::Int64));
}

Values SerialKernel::compute_uniform() {
  std::vector<Value> scalars(graph_.nodes().size(), none);
  int count = 0;
  for (std::size_t i = 0; i < scalars.size(); ++i)
    if (const Node& n = graph_.nodes()[i]; n.op == Op::scalar)
      scalars[i] = b_.param(fmt::format("s{}", count++), element_type(n.dtype));
  Value columns = integer(1);
  for (int d = rows_; d < nest_.ndim; ++d) columns = b_.mul(columns, extents_[static_cast<std::size_t>(d)]);
  Values values = elements_.uniform(
      columns, [&](std::size_t node) { return scalars[node]; }, [&](std::size_t i) { return pointers_[input(i)]; });
  std::vector<bool> computable(values.size());  // from others
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Node& n = graph_.nodes()[i];
    const auto is_uniform = [&](Operand o) { return values[index(o)] != none || computable[index(o)]; };
    computable[i] = needed_[i] && n.arity > 0 && n.op != Op::load && !combines(n) &&
                    std::ranges::all_of(graph_.operands(n), is_uniform);
  }
  compute(computable, values);
  return values;
}

// ---- Loops

void SerialKernel::emit_loops(int first, int last, const std::function<void()>& body) {
  if (first == last) return body();
  b_.emit_for(integer(0), extents_[static_cast<std::size_t>(first)], integer(1), hint(first), counter_name(first),
              [&](Value counter) {
                counters_.push_back(counter);
                emit_loops(first + 1, last, body);
                counters_.pop_back();
              });
}

LoopHint SerialKernel::hint(int dim) const {
  return dim == 0 && nest_.extents[0] != 1 ? LoopHint::Parallel : LoopHint::CompilerDefault;
}

std::string SerialKernel::counter_name(int dim) const { return fmt::format("i{}", dim); }

// ---- Elements

Value SerialKernel::offset(std::size_t k) {
  Value at = integer(0);
  for (std::size_t d = 0; d < counters_.size(); ++d) at = b_.add(at, b_.mul(counters_[d], strides_[k][d]));
  return at;
}

Value SerialKernel::load(std::size_t k) {
  if (pointers_[k] == none) return b_.element(offset(k), DType::Int64);
  return b_.named(b_.load(pointers_[k], offset(k), 1, Access::Unaligned), names_[k]);
}

void SerialKernel::store(std::size_t k, Value value) {
  b_.store(pointers_[k], offset(k), b_.to_storage(value), Access::Unaligned);
}

Value SerialKernel::position() {
  Value at = integer(0);
  for (auto d = static_cast<std::size_t>(rows_); d < counters_.size(); ++d)
    at = b_.add(b_.mul(at, extents_[d]), counters_[d]);
  return b_.element(at, DType::Int64);
}

void SerialKernel::compute(const std::vector<bool>& needed, Values& values) {
  elements_.compute(needed, values, none, [&](std::size_t i) { return load(input(i)); });
}

void SerialKernel::compute_row_values(int stages, Values& values) {
  std::vector<bool> needed = needed_;
  for (std::size_t i = 0; i < needed.size(); ++i)
    needed[i] =
        needed[i] && passes_.stages.per_row[i] && passes_.stages.stage[i] == stages && !combines(graph_.nodes()[i]);
  compute(needed, values);
}

Values SerialKernel::elements(std::size_t pass, Values values) {
  if (reads_kept(pass)) values[index(kept_->value)] = load(kept_->output);
  const auto is_known = [&](std::size_t i) { return passes_.stages.per_row[i] || values[i] != none; };
  compute(backward_slice(graph_, passes_.passes[pass].wanted, is_known), values);
  if (keeps(pass)) store(kept_->output, values[index(kept_->value)]);
  return values;
}

void SerialKernel::store_outputs(const Values& values, bool of_elements) {
  for (std::size_t k = 0; k < kernel_.outputs.size(); ++k)
    if (passes_.is_element_output(k) == of_elements) store(k, values[index(graph_.outputs()[k])]);
}

void SerialKernel::report_faults() {
  if (!traits_.faults.any()) return;
  const Value faults = b_.param("faults", index_type(Kind::FaultWord));
  for (const Fault f : all_faults)
    if (traits_.faults.has(f)) b_.report_fault(f, faults, b_.integer(Kind::UInt32, fault_bit(f)));
}

}  // namespace sinter::inline v1::jit::loops

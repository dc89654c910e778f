#include "serial_columns.hpp"

#include <algorithm>
#include <utility>

#include "../ops/traits.hpp"

namespace sinter::inline v1::jit::loops {
namespace {

/// Columns of a block: memory is read in runs of this many elements.
constexpr int block_columns = 64;

}  // namespace

bool SerialColumns::suits(const Kernel& kernel, const SymbolicNest& nest) noexcept {
  if (!kernel.rows) return false;
  bool has_contiguous_rows = false;
  for (std::size_t k = 0; k < nest.operands.size(); ++k) {
    if (kernel.rows->axis_mapping[k] != AxisMapping::Domain) continue;
    if (nest.operands[k].strides[nest.ndim - 1] == 1) return false;
    has_contiguous_rows |= nest.operands[k].strides[nest.row_dims() - 1] == 1;
  }
  return has_contiguous_rows;
}

void SerialColumns::run() {
  uniform_ = compute_uniform();
  const Extent& columns = nest_.extents[last_];
  const Value extent = extents_[static_cast<std::size_t>(last_)];
  const Value rest = columns.is_number() ? integer(columns.factor() % block_columns) : b_.rem_by(extent, block_columns);
  const Value whole =
      columns.is_number() ? integer(columns.factor() / block_columns * block_columns) : b_.sub(extent, rest);
  const auto emit_blocks = [&](Value begin, Value end, Value count, LoopHint hint) {
    b_.emit_for(begin, end, integer(block_columns), hint, counter_name(last_),
                [&](Value first) { emit_block(first, b_.convert(count, Kind::Index)); });
  };
  emit_loops(0, last_, [&] {
    if (whole != integer(0)) emit_blocks(integer(0), whole, integer(block_columns), hint(last_));
    if (rest != integer(0)) emit_blocks(whole, extent, rest, LoopHint::CompilerDefault);
  });
  report_faults();
}

void SerialColumns::emit_block(Value first, Value count) {
  first_ = first, count_ = count;
  counters_.push_back(first);
  std::ranges::fill(columns_, none);
  compute_column_values(0, [](Values&, Value) {});
  for (int s = 0; s < passes_.stages.count; ++s) reduce(static_cast<std::size_t>(s));
  if (passes_.stages.has_final_pass) write_elements();
  counters_.pop_back();
}

void SerialColumns::reduce(std::size_t number) {
  const RowPass& pass = passes_.passes[number];
  std::vector<SerialReduction> reductions;
  for (const Operand r : pass.reductions)
    reductions.emplace_back(b_, graph_[r].op, graph_[graph_.operands(graph_[r])[0]].dtype, block_columns);
  emit_lanes(
      [&](Value lane) {
        for (SerialReduction& r : reductions) r.start(lane);
      },
      LoopHint::CompilerDefault);
  const auto compares = [&](Operand r) { return traits_of(graph_[r].op).gives_position; };
  const bool branches = std::ranges::any_of(pass.reductions, compares);
  const auto for_each = [&](auto add) {
    return [&, add](Value lane) {
      const Values values = elements(number, column_values(lane));
      for (std::size_t i = 0; i < reductions.size(); ++i)
        (reductions[i].*add)(operand_of(values, pass.reductions[i]), position(), lane);
      if (passes_.writes(number)) store_outputs(values, true);
    };
  };
  const LoopHint hint = branches ? LoopHint::CompilerDefault : LoopHint::Lanes;
  const Extent& innermost = nest_.extents[nest_.ndim - 1];
  const bool has_blocks = !innermost.is_number() || innermost.factor() >= block_elements;
  if (has_blocks && std::ranges::any_of(reductions, &SerialReduction::has_blocks))
    reduce_in_blocks(reductions, for_each(&SerialReduction::add_in_block), hint);
  else
    emit_loops(rows_, nest_.ndim, [&] { emit_lanes(for_each(&SerialReduction::add), hint); });
  for (std::size_t i = 0; i < reductions.size(); ++i) columns_[index(pass.reductions[i])] = reductions[i].results();
  compute_column_values(static_cast<int>(number) + 1, [&](Values& values, Value lane) {
    for (std::size_t i = 0; i < reductions.size(); ++i)
      if (values[index(pass.reductions[i])] == none) values[index(pass.reductions[i])] = reductions[i].result(lane);
  });
}

void SerialColumns::reduce_in_blocks(std::vector<SerialReduction>& reductions, const ForLane& add, LoopHint hint) {
  const int innermost = nest_.ndim - 1;
  const auto for_lanes = [&](auto f) {
    emit_lanes(
        [&](Value lane) {
          for (SerialReduction& r : reductions) (r.*f)(lane);
        },
        LoopHint::CompilerDefault);
  };
  const auto add_block = [&](Value first) {
    const Value next = b_.add(first, integer(block_elements)), end = extents_.back();
    for_lanes(&SerialReduction::start_block);
    b_.emit_for(first, b_.select(b_.less(next, end), next, end), integer(1), LoopHint::CompilerDefault,
                counter_name(innermost), [&](Value counter) {
                  counters_.push_back(counter);
                  emit_lanes(add, hint);
                  counters_.pop_back();
                });
    for_lanes(&SerialReduction::finish_block);
  };
  emit_loops(rows_, innermost, [&] {
    b_.emit_for(integer(0), extents_.back(), integer(block_elements), LoopHint::CompilerDefault, "block", add_block);
  });
}

void SerialColumns::write_elements() {
  emit_loops(rows_, nest_.ndim, [&] {
    emit_lanes([&](Value lane) { store_outputs(elements(passes_.passes.size() - 1, column_values(lane)), true); });
  });
}

// ---- Values of a column

void SerialColumns::compute_column_values(int stages, const std::function<void(Values&, Value lane)>& results) {
  std::vector<Value> columns = columns_;  // dead code elimination removes those that nothing reads later
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Node& n = graph_.nodes()[i];
    const bool is_available = passes_.stages.per_row[i] && passes_.stages.stage[i] + combines(n) == stages;
    if (needed_[i] && uniform_[i] == none && columns[i] == none && is_available)
      columns[i] = b_.local(element_type(n.dtype), block_columns, none, "column");
  }
  emit_lanes([&](Value lane) {
    Values values = column_values(lane);
    results(values, lane);
    compute_row_values(stages, values);
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (columns[i] != columns_[i]) b_.set(columns[i], lane, values[i]);
    if (stages == passes_.stages.count) store_outputs(values, false);
  });
  columns_ = std::move(columns);
}

Values SerialColumns::column_values(Value lane) {
  Values values = uniform_;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (columns_[i] != none) values[i] = b_.get(columns_[i], lane);
  return values;
}

void SerialColumns::emit_lanes(const ForLane& body, LoopHint hint) {
  const Value zero = b_.integer(Kind::Index, 0), one = b_.integer(Kind::Index, 1);
  b_.emit_for(zero, count_, one, hint, "l", [&](Value lane) {
    counters_[static_cast<std::size_t>(last_)] = b_.add(first_, b_.convert(lane, Kind::Int64));
    body(lane);
  });
}

}  // namespace sinter::inline v1::jit::loops

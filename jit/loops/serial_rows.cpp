#include "serial_rows.hpp"

#include <algorithm>

#include "../ops/traits.hpp"

namespace sinter::inline v1::jit::loops {

void SerialRows::run() {
  row_ = compute_uniform();
  emit_loops(0, rows_, [&] {
    compute_row_values(0, row_);
    for (int s = 0; s < passes_.stages.count; ++s) {
      reduce(static_cast<std::size_t>(s));
      compute_row_values(s + 1, row_);
    }
    if (passes_.stages.has_final_pass) write_elements();
    store_outputs(row_, false);
  });
  report_faults();
}

void SerialRows::reduce(std::size_t number) {
  const RowPass& pass = passes_.passes[number];
  const int lanes = lanes_of(pass);
  std::vector<SerialReduction> reductions;
  for (const Operand r : pass.reductions)
    reductions.emplace_back(b_, graph_[r].op, graph_[graph_.operands(graph_[r])[0]].dtype, lanes);
  const auto add = [&](Value lane) {
    const Values values = elements(pass, row_);
    for (std::size_t i = 0; i < reductions.size(); ++i)
      reductions[i].add(operand_of(values, pass.reductions[i]), position(), lane);
    if (passes_.writes(number)) store_outputs(values, true);
  };
  if (lanes == 1)
    emit_loops(rows_, nest_.ndim, [&] { add(first_lane()); });
  else
    reduce_in_lanes(lanes, reductions, add);
  for (std::size_t i = 0; i < reductions.size(); ++i)
    row_[index(pass.reductions[i])] = reductions[i].result(first_lane());
}

void SerialRows::reduce_in_lanes(int lanes, std::vector<SerialReduction>& reductions, const ForLane& add) {
  for (SerialReduction& r : reductions) r.start(first_lane());
  b_.emit_if(b_.less(integer(lanes - 1), extents_.back()), [&] {  // else the lanes would cost more than the row
    b_.emit_counted(lanes, "l", [&](Value lane) {
      for (SerialReduction& r : reductions) r.start(lane);
    });
    emit_loops(rows_, nest_.ndim - 1, [&] { emit_lanes(lanes, add); });
    for (SerialReduction& r : reductions) r.combine_lanes();
  });
  emit_loops(rows_, nest_.ndim - 1, [&] { emit_tail(lanes, add); });
}

void SerialRows::write_elements() {
  const auto write = [&](Value) { store_outputs(elements(passes_.passes.back(), row_), true); };
  if (lanes() == 1) return emit_loops(rows_, nest_.ndim, [&] { write(first_lane()); });
  emit_loops(rows_, nest_.ndim - 1, [&] {
    emit_lanes(lanes(), write);
    emit_tail(lanes(), write);
  });
}

// ---- Lanes

int SerialRows::lanes() const {
  if (rows_ == nest_.ndim) return 1;
  const Extent& innermost = nest_.extents[nest_.ndim - 1];
  return innermost.is_number() && innermost.factor() < serial_lanes ? 1 : serial_lanes;
}

int SerialRows::lanes_of(const RowPass& pass) const {
  const auto in_order = [&](Operand r) { return traits_of(graph_[r].op).gives_position; };
  return std::ranges::any_of(pass.reductions, in_order) ? 1 : lanes();
}

void SerialRows::at(Value counter, Value lane, const ForLane& body) {
  counters_.push_back(counter);
  body(lane);
  counters_.pop_back();
}

void SerialRows::emit_lanes(int lanes, const ForLane& body) {
  const int innermost = nest_.ndim - 1;
  b_.emit_for(integer(0), whole(lanes), integer(lanes), hint(innermost), counter_name(innermost), [&](Value first) {
    const auto in_lane = [&](Value lane) { at(b_.add(first, b_.convert(lane, Kind::Int64)), lane, body); };
    b_.emit_counted(lanes, "l", in_lane, LoopHint::Vectors);
  });
}

void SerialRows::emit_tail(int lanes, const ForLane& body) {
  b_.emit_for(whole(lanes), extents_.back(), integer(1), LoopHint::CompilerDefault, counter_name(nest_.ndim - 1),
              [&](Value counter) { at(counter, first_lane(), body); });
}

}  // namespace sinter::inline v1::jit::loops

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
  const auto for_each = [&](auto add) {
    return [&, add](Value lane) {
      const Values values = elements(number, row_);
      for (std::size_t i = 0; i < reductions.size(); ++i)
        (reductions[i].*add)(operand_of(values, pass.reductions[i]), position(), lane);
      if (passes_.writes(number)) store_outputs(values, true);
    };
  };
  const ForLane add = for_each(&SerialReduction::add), add_in_block = for_each(&SerialReduction::add_in_block);
  if (lanes == 1)
    emit_loops(rows_, nest_.ndim, [&] { add(first_lane()); });
  else
    reduce_in_lanes(lanes, reductions, add, add_in_block);
  for (std::size_t i = 0; i < reductions.size(); ++i)
    row_[index(pass.reductions[i])] = reductions[i].result(first_lane());
}

void SerialRows::reduce_in_lanes(int lanes, std::vector<SerialReduction>& reductions, const ForLane& add,
                                 const ForLane& add_in_block) {
  const int innermost = nest_.ndim - 1;
  for (SerialReduction& r : reductions) r.start(first_lane());
  const Value is_long = b_.less(integer(lanes - 1), extents_.back()),
              is_short = b_.less(extents_.back(), integer(lanes));
  b_.emit_if(is_long, [&] {
    b_.emit_counted(lanes, "l", [&](Value lane) {
      for (SerialReduction& r : reductions) r.start(lane);
    });
    emit_loops(rows_, innermost, [&] {
      emit_blocks(lanes, reductions, add_in_block);
      emit_rest(lanes, LoopHint::Lanes, add);
    });
    for (SerialReduction& r : reductions) r.combine_lanes();
  });
  if (nest_.extents[innermost].is_number()) return;
  b_.emit_if(is_short, [&] { emit_loops(rows_, nest_.ndim, [&] { add(first_lane()); }); });  // lanes would cost more
}

void SerialRows::emit_blocks(int lanes, std::vector<SerialReduction>& reductions, const ForLane& add_in_block) {
  const int size = lanes * block_elements;
  const auto emit_block = [&](Value first) {
    const Value next = b_.add(first, integer(size)), end = whole(lanes);
    const auto for_lanes = [&](auto f) {
      b_.emit_counted(lanes, "l", [&](Value lane) {
        for (SerialReduction& r : reductions) (r.*f)(lane);
      });
    };
    for_lanes(&SerialReduction::start_block);
    emit_lanes(first, b_.select(b_.less(next, end), next, end), lanes, LoopHint::Lanes, add_in_block);
    for_lanes(&SerialReduction::finish_block);
  };
  if (std::ranges::any_of(reductions, &SerialReduction::has_blocks))
    b_.emit_for(integer(0), whole(lanes), integer(size), LoopHint::CompilerDefault, "block", emit_block);
  else
    emit_lanes(integer(0), whole(lanes), lanes, LoopHint::Lanes, add_in_block);
}

void SerialRows::write_elements() {
  const auto write = [&](Value) { store_outputs(elements(passes_.passes.size() - 1, row_), true); };
  if (lanes() == 1) return emit_loops(rows_, nest_.ndim, [&] { write(first_lane()); });
  emit_loops(rows_, nest_.ndim - 1, [&] {
    emit_lanes(integer(0), whole(lanes()), lanes(), LoopHint::Vectors, write);
    emit_rest(lanes(), LoopHint::Vectors, write);
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

void SerialRows::emit_lanes(Value first, Value last, int lanes, LoopHint lanes_hint, const ForLane& body) {
  const int innermost = nest_.ndim - 1;
  b_.emit_for(first, last, integer(lanes), hint(innermost), counter_name(innermost), [&](Value start) {
    const auto in_lane = [&](Value lane) { at(b_.add(start, b_.convert(lane, Kind::Int64)), lane, body); };
    b_.emit_counted(lanes, "l", in_lane, lanes_hint);
  });
}

void SerialRows::emit_rest(int lanes, LoopHint lanes_hint, const ForLane& body) {
  if (const Extent& e = nest_.extents[nest_.ndim - 1]; e.is_number() && e.factor() % lanes == 0) return;
  const Value start = whole(lanes), count = b_.convert(b_.rem_by(extents_.back(), lanes), Kind::Index);
  b_.emit_for(first_lane(), count, b_.integer(Kind::Index, 1), lanes_hint, "l",
              [&](Value lane) { at(b_.add(start, b_.convert(lane, Kind::Int64)), lane, body); });
}

}  // namespace sinter::inline v1::jit::loops

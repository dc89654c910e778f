#include "traversal.hpp"

#include <utility>

namespace sinter::inline v1::jit::loops {

bool Traversal::has_tail() const noexcept {
  return frame_.reduces() ? frame_.scheme.tail : frame_.c.ndim == 1 && frame_.c.lanes > 1;
}

/// How many of the elements after the last vector a thread of the team has. A team whose size is known at launch has a
/// warp at least.
int Traversal::tail_steps(int team_size) const noexcept {
  const int team = team_size > 0 ? team_size : 32;
  return (frame_.c.lanes - 1 + team - 1) / team;
}

Place Traversal::kept_place(const Share& share, Value step) const {
  const Value position = b_.named(b_.add(share.thread, b_.mul(step, share.team)), "c");
  const Value guard = frame_.scheme.exact ? share.here : b_.named(b_.less(position, share.end), "inside");
  if (share.team_size == 0) return {position, frame_.c.lanes, guard};
  return {position, frame_.c.lanes, guard, share.thread, b_.mul(step, share.team)};
}

Place Traversal::tail_place(const Share& share, Value step) const {
  const Value first = b_.add(b_.times(share.vectors, frame_.c.lanes), share.thread);
  const Value position = b_.named(b_.add(first, b_.mul(step, share.team)), "c");
  return {position, 1, b_.both(share.has_tail, b_.less(position, operands_.columns()))};
}

/// A statement for each step of an unrolled loop.
void Traversal::unroll(int count, const std::function<void(Value)>& statement) const {
  if (count == 1) return statement(b_.integer(Kind::Index, 0));
  const Value step = b_.unrolled(count, "k");
  statement(step);
  b_.end();
}

// ---- Rows in registers

void Traversal::load_kept(const Share& share) {
  kept_ = {}, tail_ = {};
  const auto load = [&](int steps, int lanes, const char* suffix, const auto& place) {
    std::vector<Value> arrays(frame_.kernel.inputs.size(), none);
    bool any = false;
    for (const OperandLayout& a : operands_.all())
      if (is_kept(a)) {
        arrays[a.number] = b_.local(element_type(a.dtype, lanes), steps, none, a.name + suffix);
        any = true;
      }
    if (!any) return arrays;
    unroll(steps, [&](Value step) {
      const Place at = place(step);
      for (const OperandLayout& a : operands_.all())
        if (is_kept(a)) b_.set(arrays[a.number], step, operands_.load(a, at));
    });
    return arrays;
  };
  kept_.inputs =
      load(frame_.scheme.steps, frame_.c.lanes, "_kept", [&](Value step) { return kept_place(share, step); });
  if (has_tail()) tail_.inputs = load(tail_steps_, 1, "_tail", [&](Value step) { return tail_place(share, step); });
}

void Traversal::begin_pass(std::size_t number) {
  next_kept_ = {}, next_tail_ = {};
  if (!frame_.scheme.kept || number + 1 == frame_.passes.passes.size()) return;
  for (const NodeId n : values_to_keep(frame_, kept_, number)) {
    const auto node = static_cast<std::size_t>(n);
    const auto add = [&](Registers& registers, int lanes, int steps) {
      registers.nodes.resize(frame_.graph.nodes().size(), none);
      registers.nodes[node] = b_.local(element_type(frame_.graph.nodes()[node].dtype, lanes), steps, none, "kept");
    };
    add(next_kept_, frame_.c.lanes, frame_.scheme.steps);
    if (has_tail()) add(next_tail_, 1, tail_steps_);
  }
}

void Traversal::save(const Tile& tile, const Values& values) const {
  if (!tile.saved) return;
  for (std::size_t i = 0; i < tile.saved->nodes.size(); ++i)
    if (tile.saved->nodes[i] != none) b_.set(tile.saved->nodes[i], tile.step, values[i]);
}

void Traversal::end_pass() {
  const auto merge = [](Registers& into, const Registers& from) {
    if (into.nodes.empty()) into.nodes = from.nodes;
    for (std::size_t i = 0; i < from.nodes.size(); ++i)
      if (from.nodes[i] != none) into.nodes[i] = from.nodes[i];
  };
  merge(kept_, std::exchange(next_kept_, {})), merge(tail_, std::exchange(next_tail_, {}));
}

void Traversal::kept_pass(const Share& share, const Visit& visit) {
  unroll(frame_.scheme.steps, [&](Value step) {
    Place place = kept_place(share, step);
    const bool conditional = frame_.must_be_inside() && place.guard != none;
    if (conditional) b_.when(std::exchange(place.guard, none));
    visit({place, step, &kept_, &next_kept_});
    if (conditional) b_.end();
  });
}

void Traversal::tail(const Share& share, const Visit& visit) {
  unroll(tail_steps_, [&](Value step) {
    Place place = tail_place(share, step);
    b_.when(std::exchange(place.guard, none));
    visit({place, step, &tail_, &next_tail_});
    b_.end();
  });
}

// ---- Rows in memory, or in the row cache

void Traversal::pass(std::size_t number, const Share& share, const Visit& visit,
                     const std::function<void(const Batch&)>& visit_batch) {
  if (frame_.scheme.kept)
    kept_pass(share, visit);
  else
    looped_pass(number, share, visit, visit_batch);
  if (has_tail()) tail(share, visit);
}

/// Loads enough vectors per iteration to hide memory latency; processes the remaining ones singly.
void Traversal::looped_pass(std::size_t number, const Share& share, const Visit& visit,
                            const std::function<void(const Batch&)>& visit_batch) {
  const int steps = frame_.scheme.steps, lanes = frame_.c.lanes;
  Value begin = b_.add(share.begin, share.thread);
  if (steps > 1) {
    const int together = steps * share.team_size;
    const Value full = b_.times(b_.over(b_.sub(share.end, share.begin), together), together);
    const Value end = b_.add(share.begin, full), step = b_.integer(Kind::Index, together);
    const Value base = b_.range(begin, end, step, Unroll::None, "base");
    const auto place = [&](Value step) { return Place{b_.add(base, b_.mul(step, share.team)), lanes}; };
    const Registers registers = load_batch(number, place);
    visit_batch([&](const Visit& each) { unroll(steps, [&](Value step) { each({place(step), step, &registers}); }); });
    b_.end();
    begin = b_.add(begin, full);
  }
  const Value position = b_.range(begin, share.end, share.team, Unroll::None, "i");
  visit({{position, lanes}});
  b_.end();
}

Registers Traversal::load_batch(std::size_t number, const std::function<Place(Value)>& place) const {
  std::vector<Value> arrays(frame_.kernel.inputs.size(), none);
  std::vector<const OperandLayout*> direct, cached, filling;
  for (const OperandLayout& a : operands_.all()) {
    if (!a.is_loaded() || !reads(a, number)) continue;
    const int lanes = a.along == Along::Broadcast ? 1 : frame_.c.lanes;
    arrays[a.number] = b_.local(element_type(a.dtype, lanes), frame_.scheme.steps, none, a.name + "_in");
    (reads_cache(a, number) ? cached : direct).push_back(&a);
    if (fills_cache(a, number)) filling.push_back(&a);
  }
  const auto for_each = [&](const auto& operands, const auto& statement) {
    if (operands.empty()) return;
    unroll(frame_.scheme.steps, [&](Value step) {
      for (const OperandLayout* a : operands) statement(*a, step);
    });
  };
  const auto from_memory = [&](const OperandLayout& a, Value step) {
    b_.set(arrays[a.number], step, operands_.load(a, place(step)));
  };
  for_each(direct, from_memory);
  if (!cached.empty()) {
    b_.when(uses_cache());
    for_each(cached, [&](const OperandLayout& a, Value step) {
      b_.set(arrays[a.number], step, operands_.load_cached(a, place(step)));
    });
    b_.end();
    b_.when(lacks_cache());
    for_each(cached, from_memory);
    b_.end();
  }
  if (!filling.empty()) {
    b_.when(uses_cache());
    for_each(filling, [&](const OperandLayout& a, Value step) {
      const Place at = place(step);
      operands_.store_cached(a, at, b_.get(arrays[a.number], step));
    });
    b_.end();
  }
  return {std::move(arrays), {}};
}

bool Traversal::fills_cache(const OperandLayout& a, std::size_t pass) const {
  if (!a.row_cache || !reads(a, pass)) return false;
  for (std::size_t earlier = 0; earlier < pass; ++earlier)
    if (reads(a, earlier)) return false;
  return true;
}

Value Traversal::load(std::size_t pass, const OperandLayout& a, const Tile& tile) const {
  if (tile.registers && !tile.registers->inputs.empty() && tile.registers->inputs[a.number] != none)
    return b_.get(tile.registers->inputs[a.number], tile.step);
  if (reads_cache(a, pass)) {
    const Value found = b_.local(element_type(a.dtype, tile.place.lanes), 1, none, a.name + "_in");
    b_.when(uses_cache());
    b_.set(found, operands_.load_cached(a, tile.place));
    b_.end();
    b_.when(lacks_cache());
    b_.set(found, operands_.load(a, tile.place));
    b_.end();
    return b_.get(found);
  }
  const Value value = b_.named(operands_.load(a, tile.place), a.name);
  if (fills_cache(a, pass)) {
    b_.when(uses_cache());
    operands_.store_cached(a, tile.place, value);
    b_.end();
  }
  return value;
}

}  // namespace sinter::inline v1::jit::loops

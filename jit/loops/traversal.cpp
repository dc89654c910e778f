#include "traversal.hpp"

#include <utility>

namespace sinter::inline v1::jit::loops {

bool Traversal::has_tail() const noexcept {
  return context_.reduces() ? context_.scheme.tail : context_.c.ndim == 1 && context_.c.vector_width > 1;
}

/// The number of elements of the tail that a thread of the team has. A team whose size is known at launch has at least
/// a warp.
int Traversal::tail_elements(int team_size) const noexcept {
  const int team = team_size > 0 ? team_size : 32;
  return (context_.c.vector_width - 1 + team - 1) / team;
}

VectorPosition Traversal::position_of(const WorkRange& work, Value step) const {
  const Value position = b_.named(b_.add(work.thread, b_.mul(step, work.stride)), "c");
  const Value guard = context_.scheme.full_vectors ? work.row_active : b_.named(b_.less(position, work.end), "inside");
  if (work.team_size == 0) return {position, context_.c.vector_width, guard};
  return {position, context_.c.vector_width, guard, work.thread, b_.mul(step, work.stride)};
}

VectorPosition Traversal::tail_position(const WorkRange& work, Value step) const {
  const Value first = b_.add(b_.mul_by(work.row_vectors, context_.c.vector_width), work.thread);
  const Value position = b_.named(b_.add(first, b_.mul(step, work.stride)), "c");
  return {position, 1, b_.and_guard(work.owns_tail, b_.less(position, operands_.columns()))};
}

/// A statement for each step of an unrolled loop.
void Traversal::unroll(int count, const std::function<void(Value)>& statement) const {
  if (count == 1) return statement(b_.integer(Kind::Index, 0));
  b_.emit_unrolled(count, "k", statement);
}

// ---- Rows in registers

void Traversal::load_registers(const WorkRange& work) {
  registers_ = {}, tail_registers_ = {};
  const auto load = [&](int steps, int width, const char* suffix, const auto& position) {
    std::vector<Value> arrays(context_.kernel.inputs.size(), none);
    bool any = false;
    for (const OperandLayout& a : operands_.all())
      if (is_in_registers(a)) {
        arrays[a.index] = b_.local(element_type(a.dtype, width), steps, none, a.name + suffix);
        any = true;
      }
    if (!any) return arrays;
    unroll(steps, [&](Value step) {
      const VectorPosition at = position(step);
      for (const OperandLayout& a : operands_.all())
        if (is_in_registers(a)) b_.set(arrays[a.index], step, operands_.load(a, at));
    });
    return arrays;
  };
  registers_.inputs = load(context_.scheme.vectors_per_thread, context_.c.vector_width, "_registers",
                           [&](Value step) { return position_of(work, step); });
  if (has_tail())
    tail_registers_.inputs = load(tail_elements_, 1, "_tail", [&](Value step) { return tail_position(work, step); });
}

void Traversal::begin_pass(std::size_t pass) {
  saved_ = {}, saved_tail_ = {};
  if (!context_.scheme.in_registers || pass + 1 == context_.passes.passes.size()) return;
  for (const NodeId n : values_to_keep(context_, registers_, pass)) {
    const auto node = static_cast<std::size_t>(n);
    const auto add = [&](Registers& registers, int width, int steps) {
      registers.nodes.resize(context_.graph.nodes().size(), none);
      registers.nodes[node] = b_.local(element_type(context_.graph.nodes()[node].dtype, width), steps, none, "saved");
    };
    add(saved_, context_.c.vector_width, context_.scheme.vectors_per_thread);
    if (has_tail()) add(saved_tail_, 1, tail_elements_);
  }
}

void Traversal::save(const VectorSlot& slot, const Values& values) const {
  if (!slot.saved) return;
  for (std::size_t i = 0; i < slot.saved->nodes.size(); ++i)
    if (slot.saved->nodes[i] != none) b_.set(slot.saved->nodes[i], slot.step, values[i]);
}

void Traversal::end_pass() {
  const auto merge = [](Registers& into, const Registers& from) {
    if (into.nodes.empty()) into.nodes = from.nodes;
    for (std::size_t i = 0; i < from.nodes.size(); ++i)
      if (from.nodes[i] != none) into.nodes[i] = from.nodes[i];
  };
  merge(registers_, std::exchange(saved_, {})), merge(tail_registers_, std::exchange(saved_tail_, {}));
}

void Traversal::register_pass(const WorkRange& work, const Visit& visit) {
  unroll(context_.scheme.vectors_per_thread, [&](Value step) {
    VectorPosition at = position_of(work, step);
    const auto process = [&] { visit({at, step, &registers_, &saved_}); };
    const bool conditional = context_.needs_control_flow_guard() && at.guard != none;
    conditional ? b_.emit_if(std::exchange(at.guard, none), process) : process();
  });
}

void Traversal::tail(const WorkRange& work, const Visit& visit) {
  unroll(tail_elements_, [&](Value step) {
    VectorPosition at = tail_position(work, step);
    b_.emit_if(std::exchange(at.guard, none), [&] { visit({at, step, &tail_registers_, &saved_tail_}); });
  });
}

// ---- Rows in memory, or in the row cache

void Traversal::pass(std::size_t pass, const WorkRange& work, const Visit& visit,
                     const std::function<void(const Batch&)>& visit_batch) {
  if (context_.scheme.in_registers)
    register_pass(work, visit);
  else
    looped_pass(pass, work, visit, visit_batch);
  if (has_tail()) tail(work, visit);
}

/// Loads enough vectors per iteration to hide memory latency; processes the remaining ones singly.
void Traversal::looped_pass(std::size_t pass, const WorkRange& work, const Visit& visit,
                            const std::function<void(const Batch&)>& visit_batch) {
  const int batch_size = context_.scheme.vectors_per_thread, width = context_.c.vector_width;
  Value begin = b_.add(work.begin, work.thread);
  if (batch_size > 1) {
    const int together = batch_size * work.team_size;
    const Value full = b_.mul_by(b_.div_by(b_.sub(work.end, work.begin), together), together);
    const Value end = b_.add(work.begin, full), step = b_.integer(Kind::Index, together);
    b_.emit_for(begin, end, step, LoopHint::Rolled, "base", [&](Value base) {
      const auto position = [&](Value k) { return VectorPosition{b_.add(base, b_.mul(k, work.stride)), width}; };
      const Registers registers = load_batch(pass, position);
      visit_batch([&](const Visit& each) { unroll(batch_size, [&](Value k) { each({position(k), k, &registers}); }); });
    });
    begin = b_.add(begin, full);
  }
  b_.emit_for(begin, work.end, work.stride, LoopHint::Rolled, "i", [&](Value position) { visit({{position, width}}); });
}

Registers Traversal::load_batch(std::size_t pass, const std::function<VectorPosition(Value)>& position) const {
  std::vector<Value> arrays(context_.kernel.inputs.size(), none);
  std::vector<const OperandLayout*> direct, cached, filling;
  for (const OperandLayout& a : operands_.all()) {
    if (!a.is_loaded() || !reads(a, pass)) continue;
    const int width = a.layout == Layout::InnerBroadcast ? 1 : context_.c.vector_width;
    arrays[a.index] = b_.local(element_type(a.dtype, width), context_.scheme.vectors_per_thread, none, a.name + "_in");
    (reads_cache(a, pass) ? cached : direct).push_back(&a);
    if (fills_cache(a, pass)) filling.push_back(&a);
  }
  const auto for_each = [&](const auto& operands, const auto& statement) {
    if (operands.empty()) return;
    unroll(context_.scheme.vectors_per_thread, [&](Value step) {
      for (const OperandLayout* a : operands) statement(*a, step);
    });
  };
  const auto from_memory = [&](const OperandLayout& a, Value step) {
    b_.set(arrays[a.index], step, operands_.load(a, position(step)));
  };
  for_each(direct, from_memory);
  if (!cached.empty()) {
    b_.emit_if(uses_cache(), [&] {
      for_each(cached, [&](const OperandLayout& a, Value step) {
        b_.set(arrays[a.index], step, operands_.load_cached(a, position(step)));
      });
    });
    b_.emit_if(lacks_cache(), [&] { for_each(cached, from_memory); });
  }
  if (!filling.empty()) {
    b_.emit_if(uses_cache(), [&] {
      for_each(filling, [&](const OperandLayout& a, Value step) {
        const VectorPosition at = position(step);
        operands_.store_cached(a, at, b_.get(arrays[a.index], step));
      });
    });
  }
  return {std::move(arrays), {}};
}

bool Traversal::fills_cache(const OperandLayout& a, std::size_t pass) const {
  if (!a.row_cache || !reads(a, pass)) return false;
  for (std::size_t earlier = 0; earlier < pass; ++earlier)
    if (reads(a, earlier)) return false;
  return true;
}

Value Traversal::load(std::size_t pass, const OperandLayout& a, const VectorSlot& slot) const {
  if (slot.registers && !slot.registers->inputs.empty() && slot.registers->inputs[a.index] != none)
    return b_.get(slot.registers->inputs[a.index], slot.step);
  if (reads_cache(a, pass)) {
    const Value found = b_.local(element_type(a.dtype, slot.at.width), 1, none, a.name + "_in");
    b_.emit_if(uses_cache(), [&] { b_.set(found, operands_.load_cached(a, slot.at)); });
    b_.emit_if(lacks_cache(), [&] { b_.set(found, operands_.load(a, slot.at)); });
    return b_.get(found);
  }
  const Value value = b_.named(operands_.load(a, slot.at), a.name);
  if (fills_cache(a, pass)) b_.emit_if(uses_cache(), [&] { operands_.store_cached(a, slot.at, value); });
  return value;
}

}  // namespace sinter::inline v1::jit::loops

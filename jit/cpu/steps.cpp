#include "steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include <sinter/jit/ops.hpp>
#include <sinter/runtime/error.hpp>
#include "../functions/functions.hpp"
#include "../passes/complex_parts.hpp"
#include "../passes/compute_dtypes.hpp"
#include "../plan/faults.hpp"
#include "cost.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

/// The index of each operation of the table among those that have loops.
constexpr auto loop_numbers = [] {
  std::array<std::uint16_t, op_count> numbers{};
  std::uint16_t next = 0;
  for (int op = static_cast<int>(first_table_op); op < op_count; ++op)
    if (!is_composite(static_cast<Op>(op))) numbers[static_cast<std::size_t>(op)] = next++;
  return numbers;
}();
static_assert(loop_numbers[static_cast<std::size_t>(Op::class_index)] + 1 == loop_op_count);
static_assert(cast_dtypes == real_dtype_count);

constexpr std::int64_t cache_for_tiles = 24 * 1024;

std::uint16_t loop_of(Op op) {
  if (is_composite(op)) throw Error(fmt::format("{} must be expanded before it is computed", name(op)));
  return loop_numbers[static_cast<std::size_t>(op)];
}

/// The loops of operations that compute in `dtype`.
Group group_of(DType dtype) {
  switch (dtype) {
    case DType::Bool: return Group::Bool;
    case DType::Int32: return Group::Int32;
    case DType::Int64: return Group::Int64;
    case DType::Float32: return Group::Float32;
    case DType::Float64: return Group::Float64;
    default: throw Error(fmt::format("the CPU has no loops for {}: its compute dtype is another one", name(dtype)));
  }
}

/// The loop of real(), imag() or complex().
std::uint16_t complex_loop(Op op, DType part) {
  const ComplexOp which = op == Op::real ? ComplexOp::Real : op == Op::imag ? ComplexOp::Imag : ComplexOp::Make;
  const int of_doubles = part == DType::Float64 ? static_cast<int>(ComplexOp::count) : 0;
  return static_cast<std::uint16_t>(of_doubles + static_cast<int>(which));
}

/// The loops of loads of one element size.
Memory load_of(std::size_t size) {
  return size == 1   ? Memory::Load1
         : size == 2 ? Memory::Load2
         : size == 4 ? Memory::Load4
         : size == 8 ? Memory::Load8
                     : Memory::Load16;
}

Check check_of(const Graph& graph, const Node& n) {
  if (nonzero_operand(graph, n)) return Check::Divisor;
  if (!has(n.op, BoundsChecked)) return Check::None;
  return has(n.op, AllowsNegativeIndex) ? Check::Position : Check::Class;
}

class StepsBuilder {
 public:
  StepsBuilder(const Graph& graph, LeafPatterns leaves) : graph_(graph), leaves_(leaves) {}

  Steps run(Grouping grouping, const FusedWork& fused) {
    find_levels();
    count_uses();
    steps_.values.reserve(2 * graph_.nodes().size());  // at most each is spread
    steps_.values.resize(graph_.nodes().size());
    for (std::size_t id = 0; id < graph_.nodes().size(); ++id) add(static_cast<ValueId>(id));
    for (const Operand o : graph_.outputs()) {
      const auto v = static_cast<ValueId>(o.node);
      steps_.values[v].output = true;
      steps_.outputs.push_back(over_tiles(v));
    }
    order_steps(steps_);
    if (grouping == Grouping::Compiled) {
      if (has_states(leaves_, fused.reductions)) add_reductions(fused.reductions);
      steps_.prefetched = fused.prefetched;
      make_loops(steps_, graph_, uses_, leaves_);
    } else {
      make_chains(steps_, uses_);
    }
    assign_slots();
    list_places();
    list_direct_operands();
    choose_tile();
    return std::move(steps_);
  }

 private:
  void find_levels() {
    for (const Node& n : graph_.nodes()) {
      Level level = Level::Once;
      if (is_element_leaf(n.op)) level = leaf_level(static_cast<std::uint32_t>(n.attribute));
      for (const Operand o : graph_.operands(n)) level = std::max(level, levels_[static_cast<std::size_t>(o.node)]);
      levels_.push_back(level);
    }
  }

  /// Counts reads; nodes that no output needs have none and are skipped.
  void count_uses() {
    uses_.assign(graph_.nodes().size(), 0);
    const auto use = [&](ValueId v) { ++uses_[v]; };
    for (const Operand o : graph_.outputs()) use(static_cast<ValueId>(o.node));
    for (std::size_t id = uses_.size(); id-- > 0;) {
      if (uses_[id] == 0) continue;
      if (const std::optional<Run> run = run_of(static_cast<ValueId>(id)))
        use(run->array), use(run->start);
      else
        for (const Operand o : graph_.operands(graph_.nodes()[id])) use(static_cast<ValueId>(o.node));
    }
  }

  /// A load at offset `start` + a counting leaf's positions.
  std::optional<Run> run_of(ValueId id) const {
    const Node& n = graph_.nodes()[id];
    if (n.op != Op::load) return std::nullopt;
    const auto operands = graph_.operands(n);
    const Node& sum = graph_[operands[1]];
    if (sum.op != Op::add) return std::nullopt;
    const auto terms = graph_.operands(sum);
    for (const auto& [start, leaf] : {std::pair(terms[0], terms[1]), std::pair(terms[1], terms[0])}) {
      if (!is_counting(graph_[leaf]) || levels_[static_cast<std::size_t>(start.node)] == Level::EachTile) continue;
      return Run{id, static_cast<ValueId>(operands[0].node), static_cast<ValueId>(start.node),
                 static_cast<std::uint32_t>(graph_[leaf].attribute)};
    }
    return std::nullopt;
  }
  bool is_counting(const Node& n) const {
    return n.op == Op::iota && n.attribute < 64 && (leaves_.counting >> n.attribute & 1) != 0;
  }

  void add(ValueId id) {
    const Node& n = graph_.nodes()[id];
    Value& v = steps_.values[id];
    v.size = static_cast<std::uint8_t>(size_of(n.dtype));
    if (n.op == Op::scalar) {  // numbered by its index among all scalar nodes, used or not
      v.kind = Value::Kind::Scalar;
      v.number = scalars_++;
    }
    if (uses_[id] == 0 || n.op == Op::scalar) return;
    if (is_element_leaf(n.op)) {
      v.kind = Value::Kind::Leaf;
      v.number = static_cast<std::uint32_t>(n.attribute);
      v.level = levels_[id];
      steps_.inputs.push_back(id);
    } else if (n.op == Op::array) {
      v.kind = Value::Kind::Array;
      v.number = static_cast<std::uint32_t>(n.attribute);
      steps_.arrays.push_back(id);
    } else if (n.op == Op::constant) {
      v.kind = Value::Kind::Constant;
      v.number = static_cast<std::uint32_t>(steps_.constants.size());
      steps_.constants.push_back(n.attribute);
    } else if (const std::optional<Run> run = run_of(id)) {
      v.kind = Value::Kind::Run;
      v.level = Level::EachTile;
      steps_.runs.push_back(*run);
      if (leaves_.per_short_row) steps_.nanoseconds += nanoseconds(v.size);  // is copied
    } else {
      add_step(id, n, v);
    }
  }

  void add_reductions(std::span<const OutputReduction> reductions) {
    for (const OutputReduction& r : reductions) {
      Value states;
      states.kind = Value::Kind::Leaf;
      states.size = state_bytes(r.op);
      states.level = leaf_level(r.operand);
      states.number = r.operand;
      steps_.reductions.push_back(
          {r.op, steps_.outputs[r.output], r.is_stored, static_cast<ValueId>(steps_.values.size())});
      steps_.values.push_back(states);
    }
  }

  Level leaf_level(std::uint32_t leaf) const {
    if (leaf >= 64) return Level::EachTile;
    return leaves_.nest >> leaf & 1 ? Level::Once : leaves_.row >> leaf & 1 ? Level::EachRow : Level::EachTile;
  }

  void add_step(ValueId id, const Node& n, Value& v) {
    const auto operands = graph_.operands(n);
    const DType compute = graph_[operands.back()].dtype;
    Step s;
    if (n.op != Op::call) choose_loop(s, n, compute, v.size);
    s.arity = static_cast<std::uint8_t>(n.arity);
    s.check = check_of(graph_, n);
    s.out = id;
    v.kind = Value::Kind::Result;
    for (int k = 0; k < n.arity; ++k) {
      s.in[k] = static_cast<ValueId>(operands[static_cast<std::size_t>(k)].node);
      v.level = std::max(v.level, steps_.values[s.in[k]].level);
    }
    for (int k = 0; k < n.arity && v.level == Level::EachTile; ++k) s.in[k] = over_tiles(s.in[k]);
    for (int k = 0; k < n.arity && v.level != Level::Once; ++k)
      s.form = static_cast<std::uint8_t>(s.form | (steps_.values[s.in[k]].level < v.level) << k);
    if (n.op == Op::call) {
      s.group = Group::Functions;
      s.row = static_cast<std::uint16_t>(steps_.functions.size());
      steps_.functions.emplace_back(called_function(n), s.form);
    }
    if (v.level == Level::Once) return steps_.once.push_back(s);
    const double takes = nanoseconds(n.op, compute);
    if (v.level == Level::EachRow) {
      steps_.rows.push_back(s);
      steps_.row_nanoseconds += takes;
    } else {
      steps_.tiles.push_back(s);
      steps_.nanoseconds += takes;
    }
  }

  /// The value as steps over tiles read it: of short rows, each element is repeated along its row.
  ValueId over_tiles(ValueId v) {
    if (!leaves_.per_short_row || steps_.values[v].level != Level::EachRow) return v;
    spread_of_.resize(graph_.nodes().size(), none);
    if (spread_of_[v] != none) return spread_of_[v];
    Value spread;
    spread.kind = Value::Kind::Spread;
    spread.size = steps_.values[v].size;
    spread.level = Level::EachTile;
    spread.number = v;
    spread_of_[v] = static_cast<ValueId>(steps_.values.size());
    steps_.spread.push_back(spread_of_[v]);
    steps_.values.push_back(spread);
    return spread_of_[v];
  }

  static void choose_loop(Step& s, const Node& n, DType compute, std::size_t size) {
    if (is_of_parts(n.op)) {
      if (!is_complex(n.op == Op::complex ? n.dtype : compute))
        throw Error(fmt::format("{} of {} must be lowered before it is computed", name(n.op), name(compute)));
      s.group = Group::Complex;
      s.row = complex_loop(n.op, real_of(compute));
    } else if (n.op == Op::cast) {
      if (!has_conversion(compute, n.dtype))
        throw Error(fmt::format("the CPU has no loop from {} to {}: it takes two steps", name(compute), name(n.dtype)));
      s.group = Group::Casts;
      s.row = static_cast<std::uint16_t>(static_cast<int>(compute) * cast_dtypes + static_cast<int>(n.dtype));
    } else if (n.op == Op::load) {
      s.group = Group::Memory;
      s.row = static_cast<std::uint16_t>(load_of(size));
    } else {
      s.group = group_of(compute);
      s.row = loop_of(n.op);
    }
  }

  /// A slot is free again after the last step that reads its value. An operation may overwrite its own operand if that
  /// has the same element size; conversions and loads, whose loops assume that arrays do not alias, and chains, which
  /// write before they have read everything, may not. A function's operands may have several sizes.
  void assign_slots() {
    std::vector<std::uint32_t> last(steps_.values.size(), none);
    for (std::uint32_t i = 0; i < steps_.tiles.size(); ++i)
      for (const ValueId v : reads(steps_.tiles[i])) last[v] = i;
    for (std::uint32_t i = 0; i < steps_.tiles.size(); ++i) {
      const Step& s = steps_.tiles[i];
      const bool separate = s.chain != none || s.group == Group::Casts || s.group == Group::Complex ||
                            s.group == Group::Memory || s.group == Group::Functions;
      if (separate) take_slots(s);
      for (const ValueId v : reads(s))
        if (last[v] == i) give_back(steps_.values[v]), last[v] = none;
      if (!separate) take_slots(s);
    }
  }
  std::span<const ValueId> reads(const Step& s) const {
    if (s.chain != none) return steps_.chains[s.chain].reads;
    return {s.in, s.arity};
  }
  void take_slots(const Step& s) {
    if (s.chain == none) return take_slot(steps_.values[s.out]);
    for (const ValueId v : steps_.chains[s.chain].writes) take_slot(steps_.values[v]);
  }
  void take_slot(Value& v) {
    if (v.output) return;
    std::vector<std::uint32_t>& free = free_[v.size];
    if (free.empty()) {
      free.push_back(static_cast<std::uint32_t>(steps_.slots.size()));
      steps_.slots.push_back(v.size);
    }
    v.slot = free.back();
    free.pop_back();
  }
  void give_back(const Value& v) {
    if (v.slot != none) free_[v.size].push_back(v.slot);
  }

  void list_places() {
    std::vector<bool> in_use(steps_.values.size());
    for (const ValueId v : steps_.outputs) in_use[v] = true;
    for (const auto* steps : {&steps_.once, &steps_.rows, &steps_.tiles})
      for (const Step& s : *steps) {
        for (const ValueId v : reads(s)) in_use[v] = true;
        if (s.chain == none) in_use[s.out] = true;
        if (s.chain != none)
          for (const ValueId v : steps_.chains[s.chain].writes) in_use[v] = true;
      }
    const auto is_operand = [&](ValueId v) {
      const Value::Kind kind = steps_.values[v].kind;
      return kind == Value::Kind::Leaf || kind == Value::Kind::Array || kind == Value::Kind::Run;
    };
    for (const Run& r : steps_.runs) in_use[r.start] = true;
    for (ValueId v = 0; v < in_use.size(); ++v)
      if (in_use[v] && !is_operand(v)) steps_.places.push_back(v);
  }

  /// If the only step writes each output once, and nothing else.
  void list_direct_operands() {
    if (steps_.tiles.size() != 1 || !steps_.once.empty() || !steps_.rows.empty() || !steps_.runs.empty() ||
        !steps_.spread.empty())
      return;
    const Step& s = steps_.tiles[0];
    const Chain* const chain = s.chain == none ? nullptr : &steps_.chains[s.chain];
    if (s.check != Check::None || s.group == Group::Functions || !steps_.arrays.empty()) return;
    if (chain != nullptr && !chain->code.empty()) return;  // interpreted
    std::vector<ValueId> operands(s.in, s.in + s.arity), writes{s.out};
    if (chain != nullptr)
      operands = chain->operands, writes = chain->writes;
    else
      operands.insert(operands.begin(), s.out);
    std::vector<ValueId> stored;
    std::ranges::copy_if(steps_.outputs, std::back_inserter(stored), [&](ValueId v) { return steps_.is_stored(v); });
    if (!std::ranges::is_permutation(stored, writes)) return;
    for (const ValueId v : operands) steps_.direct.push_back(direct_operand(steps_.values[v], v));
  }
  DirectOperand direct_operand(const Value& value, ValueId v) const {
    if (value.kind == Value::Kind::Scalar) return {DirectOperand::Kind::Scalar, value.size, value.number};
    if (value.kind == Value::Kind::Constant) return {DirectOperand::Kind::Constant, value.size, value.number};
    const auto outputs = static_cast<std::uint32_t>(steps_.outputs.size());
    if (value.kind == Value::Kind::Leaf) return {DirectOperand::Kind::Array, value.size, outputs + value.number};
    const auto output = std::ranges::find(steps_.outputs, v) - steps_.outputs.begin();
    return {DirectOperand::Kind::Array, value.size, static_cast<std::uint32_t>(output)};
  }

  void choose_tile() {
    std::int64_t bytes = 0;  // of one element of everything
    for (const ValueId v : steps_.inputs) bytes += steps_.values[v].size;
    for (const ValueId v : steps_.outputs) bytes += steps_.values[v].size;
    for (const std::uint8_t size : steps_.slots) bytes += size;
    for (const ValueId v : steps_.spread) bytes += steps_.values[v].size;
    for (const Run& r : steps_.runs) bytes += leaves_.per_short_row ? steps_.values[r.value].size : 0;
    steps_.nanoseconds += nanoseconds(bytes);
    steps_.tile = std::clamp<std::int64_t>(cache_for_tiles / bytes, 128, 2048) / 128 * 128;
  }

  const Graph& graph_;
  LeafPatterns leaves_;
  Steps steps_;
  std::vector<Level> levels_;
  std::vector<std::uint32_t> uses_;
  std::vector<ValueId> spread_of_;  // by node
  std::vector<std::uint32_t> free_[17];
  std::uint32_t scalars_ = 0;
};

}  // namespace

bool has_states(const LeafPatterns& leaves, std::span<const OutputReduction> reductions) noexcept {
  return !reductions.empty() && std::ranges::all_of(reductions, [&](const OutputReduction& r) {
    return r.operand < 64 && ((leaves.nest | leaves.row) >> r.operand & 1) != 0;
  });
}

Steps make_steps(const Graph& graph, LeafPatterns leaves, Grouping grouping, const FusedWork& fused) {
  return StepsBuilder(graph, leaves).run(grouping, fused);
}

void order_steps(Steps& steps) {
  // Depth first from the outputs, the operand with the most steps first, so that few values are live.
  const std::size_t count = steps.tiles.size();
  std::vector<std::uint32_t> producer(steps.values.size(), none), height(count, 0), pending;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Step& s = steps.tiles[i];
    for (int k = 0; k < s.arity; ++k)
      if (const std::uint32_t p = producer[s.in[k]]; p != none) height[i] = std::max(height[i], height[p] + 1);
    producer[s.out] = i;
  }
  std::vector<Step> ordered;
  std::vector<bool> done(count, false);
  ordered.reserve(count);
  for (std::size_t k = steps.outputs.size(); k-- > 0;)
    if (producer[steps.outputs[k]] != none) pending.push_back(producer[steps.outputs[k]]);
  while (!pending.empty()) {
    const std::uint32_t i = pending.back();
    const Step& s = steps.tiles[i];
    const std::size_t before = pending.size();
    for (int k = 0; k < s.arity && !done[i]; ++k)
      if (const std::uint32_t p = producer[s.in[k]]; p != none && !done[p]) {
        pending.push_back(p);
        for (std::size_t at = pending.size() - 1; at > before && height[pending[at]] < height[pending[at - 1]]; --at)
          std::swap(pending[at], pending[at - 1]);
      }
    if (pending.size() > before) continue;
    pending.pop_back();
    if (!done[i]) ordered.push_back(s);
    done[i] = true;
  }
  steps.tiles = std::move(ordered);
}

}  // namespace sinter::inline v1::jit::cpu

#include "steps.hpp"

#include <algorithm>

#include <sinter/jit/ops.hpp>

namespace sinter::inline v1::jit::cpu {
namespace {

static_assert(row_op_count == op_count - static_cast<int>(first_table_op));
static_assert(static_cast<int>(Group::Float64) == static_cast<int>(DType::Float64) && dtype_count == 5);

constexpr std::int64_t cache_for_tiles = 24 * 1024;

std::uint16_t row_of(Op op) { return static_cast<std::uint16_t>(static_cast<int>(op) - static_cast<int>(first_table_op)); }

/// Roughly, in nanoseconds for an element: what decides about threads.
double cost_of(const Node& n, DType compute) {
  if (n.op == Op::cast) return 0.2;
  const double width = compute == DType::Float64 ? 4 : 1;
  switch (n.op) {
    case Op::exp: case Op::log: case Op::tanh: case Op::erf: case Op::sigmoid: case Op::silu: case Op::gelu:
    case Op::gelu_tanh: return 0.6 * width;
    case Op::exp2: case Op::expm1: case Op::log2: case Op::log10: case Op::log1p: case Op::sin: case Op::cos:
    case Op::tan: case Op::asin: case Op::acos: case Op::atan: case Op::sinh: case Op::cosh: case Op::hypot:
    case Op::erfc: case Op::softplus: return 2 * width;
    case Op::pow: case Op::atan2: case Op::floor_divide: case Op::remainder: case Op::fmod: return 4 * width;
    case Op::random_uniform: case Op::random_uniform_double: case Op::random_normal: case Op::random_normal_double:
    case Op::random_below: return 6;
    default: return 0.02 * static_cast<double>(size_of(compute));
  }
}

class Builder {
 public:
  Builder(const Graph& graph, bool fuse) : graph_(graph), fuse_(fuse) {}

  Steps run() {
    mark_reachable();
    steps_.values.resize(graph_.nodes().size());
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes().size()); ++id)
      if (uses_[static_cast<std::size_t>(id)] > 0) add(id);
    for (const Operand o : graph_.outputs()) {
      steps_.outputs.push_back(static_cast<ValueId>(o.node));
      value(o).output = true;
    }
    if (fuse_) fuse_steps(steps_, uses_);
    std::erase_if(steps_.tiles, [](const Step& s) { return s.arity == 0; });
    assign_slots();
    choose_tile();
    return std::move(steps_);
  }

 private:
  Value& value(Operand o) { return steps_.values[static_cast<std::size_t>(o.node)]; }

  /// Counts how often each node that leads to an output is read.
  void mark_reachable() {
    uses_.assign(graph_.nodes().size(), 0);
    for (const Operand o : graph_.outputs()) ++uses_[static_cast<std::size_t>(o.node)];
    for (std::size_t id = uses_.size(); id-- > 0;)
      if (uses_[id] > 0)
        for (const Operand o : graph_.operands(graph_.nodes()[id])) ++uses_[static_cast<std::size_t>(o.node)];
  }

  void add(NodeId id) {
    const Node& n = graph_.nodes()[static_cast<std::size_t>(id)];
    Value& v = steps_.values[static_cast<std::size_t>(id)];
    v.size = static_cast<std::uint8_t>(size_of(n.dtype));
    v.uniform = n.op == Op::scalar || n.op == Op::constant;
    switch (n.op) {
      case Op::leaf:
      case Op::index:
        v.kind = n.op == Op::leaf ? Value::Kind::Leaf : Value::Kind::Index;
        v.number = static_cast<std::uint32_t>(n.attribute);
        steps_.leaves = std::max(steps_.leaves, v.number + 1);
        steps_.inputs.push_back(static_cast<ValueId>(id));
        break;
      case Op::scalar:
        v.kind = Value::Kind::Scalar;
        v.number = scalars_before(id);
        break;
      case Op::constant:
        v.number = static_cast<std::uint32_t>(steps_.constants.size());
        steps_.constants.push_back(n.attribute);
        break;
      default: add_step(id, n, v);
    }
  }

  /// Scalars are numbered by their place among the scalar nodes, used or not.
  std::uint32_t scalars_before(NodeId id) {
    for (; counted_ < id; ++counted_) scalars_ += graph_.nodes()[static_cast<std::size_t>(counted_)].op == Op::scalar;
    return scalars_;
  }

  void add_step(NodeId id, const Node& n, Value& v) {
    const auto operands = graph_.operands(n);
    const DType compute = graph_[operands.back()].dtype;
    v.kind = Value::Kind::Result;
    Step s{static_cast<Group>(compute), static_cast<std::uint8_t>(n.arity), 0, static_cast<ValueId>(id),
           {0, static_cast<std::uint8_t>(n.arity)}, {}};
    if (n.op == Op::cast) {
      s.forms.count = 0;
      s.group = Group::Casts;
      s.row = static_cast<std::uint16_t>(static_cast<int>(compute) * dtype_count + static_cast<int>(n.dtype));
    } else {
      s.row = row_of(n.op);
    }
    v.uniform = true;
    for (int k = 0; k < n.arity; ++k) {
      s.in[k] = static_cast<ValueId>(operands[static_cast<std::size_t>(k)].node);
      v.uniform = v.uniform && steps_.values[s.in[k]].uniform;
    }
    (v.uniform ? steps_.once : steps_.tiles).push_back(s);
    if (!v.uniform) steps_.cost += cost_of(n, compute);
  }

  /// A slot is free again after the last step that reads its value; a step may write over an operand of its own that
  /// has the same element size, but conversions, whose loops are compiled for separate arrays.
  void assign_slots() {
    std::vector<std::uint32_t> last(steps_.values.size(), 0);
    for (std::uint32_t i = 0; i < steps_.tiles.size(); ++i)
      for (int k = 0; k < steps_.tiles[i].arity; ++k) last[steps_.tiles[i].in[k]] = i;
    for (std::uint32_t i = 0; i < steps_.tiles.size(); ++i) {
      const Step& s = steps_.tiles[i];
      const bool separate = s.group == Group::Casts;
      if (separate) take_slot(steps_.values[s.out]);
      for (int k = 0; k < s.arity; ++k)
        if (last[s.in[k]] == i) give_back(steps_.values[s.in[k]]), last[s.in[k]] = no_slot;
      if (!separate) take_slot(steps_.values[s.out]);
    }
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
    if (v.slot != no_slot) free_[v.size].push_back(v.slot);
  }

  void choose_tile() {
    std::int64_t bytes = 0;
    for (const std::uint8_t size : steps_.slots) bytes += size;
    for (const ValueId v : steps_.inputs) bytes += steps_.values[v].size;
    for (const ValueId v : steps_.outputs) steps_.output_bytes += steps_.values[v].size;
    bytes += steps_.output_bytes;
    steps_.cost += 0.05 * static_cast<double>(bytes);
    steps_.tile = std::clamp<std::int64_t>(cache_for_tiles / bytes, 128, 2048) / 64 * 64;
  }

  const Graph& graph_;
  bool fuse_;
  Steps steps_;
  std::vector<std::uint32_t> uses_;
  std::vector<std::uint32_t> free_[9];
  NodeId counted_ = 0;
  std::uint32_t scalars_ = 0;
};

}  // namespace

Steps make_steps(const Graph& graph, bool fuse) { return Builder(graph, fuse).run(); }

}  // namespace sinter::inline v1::jit::cpu

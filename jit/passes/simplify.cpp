#include "simplify.hpp"

#include <xxhash.h>

#include <algorithm>
#include <numeric>

#include <runtime/environment.hpp>
#include "../infer/shapes.hpp"
#include "../ops/traits.hpp"
#include "fold.hpp"
#include "lower.hpp"

namespace sinter::inline v1::jit {

namespace {

bool commutes(Op op) noexcept {
  switch (op) {
    case Op::add:
    case Op::mul:
    case Op::fma:
    case Op::eq:
    case Op::ne:
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_xor:
    case Op::bitwise_and:
    case Op::bitwise_or:
    case Op::bitwise_xor: return true;
    default: return false;
  }
}

Graph without_dead_nodes(const Graph& graph) {
  std::vector<std::uint32_t> all(graph.outputs().size());
  std::iota(all.begin(), all.end(), 0u);
  return part_of(graph, all);
}

/// If shapes follow from a graph's nodes, as in one that reduces, a simplified value must keep the shape of the value
/// that it replaces. For each value, tracks the operands whose shapes it may have lost; where the shape matters,
/// `broadcast_like` restores them.
class ShapePreserver {
 public:
  ShapePreserver(Builder& to, bool matter) : to_(to), enabled_(matter) {}

  /// Records the next node of the old graph, which `made` replaces; its operands were `from` in the old graph and are
  /// `operands` in the new one.
  void add(const Node& n, std::span<const Operand> from, std::span<const Operand> operands, Operand made) {
    int lost = nothing;
    if (enabled_ && !changes_shape(n.op))
      for (std::size_t i = 0; i < operands.size(); ++i) {
        lost = union_of(lost, dropped_shapes_[static_cast<std::size_t>(from[i].node)]);
        if (!covers(made, operands[i], 2)) lost = union_of(lost, new_set({operands[i]}));
      }
    dropped_shapes_.push_back(lost);
  }

  /// `made` in the shape of the original value.
  Operand keep(Operand value, Operand made) {
    if (!enabled_ || dropped_shapes_[static_cast<std::size_t>(value.node)] == nothing) return made;
    const auto has_own_shape = [&](NodeId id) {
      return changes_shape(to_.graph().nodes()[static_cast<std::size_t>(id)].op);
    };
    std::vector<NodeId> sources = shape_sources(to_.graph(), made.node, seen_, has_own_shape);
    for (const Operand dropped : sets_[static_cast<std::size_t>(dropped_shapes_[static_cast<std::size_t>(value.node)])])
      for (const NodeId source : shape_sources(to_.graph(), dropped.node, seen_, has_own_shape)) {
        if (std::ranges::find(sources, source) != sources.end()) continue;
        sources.push_back(source);
        made = to_.make(Op::broadcast_like, to_[made].dtype, {made, Operand{source}});
      }
    return made;
  }

 private:
  using Set = std::vector<Operand>;
  static constexpr int nothing = 0;

  bool has_shape(Operand o) const noexcept {
    return to_[o].op != Op::constant && to_[o].op != Op::scalar && to_[o].op != Op::array;
  }
  /// Whether the shape of `made` provably covers that of `o`, looking at most `depth` operations deep.
  bool covers(Operand made, Operand o, int depth) const {
    if (made == o || !has_shape(o)) return true;
    if (depth == 0 || changes_shape(to_[made].op)) return false;
    const auto inside = to_.graph().operands(to_[made]), parts = to_.graph().operands(to_[o]);
    return std::ranges::any_of(inside, [&](Operand p) { return covers(p, o, depth - 1); }) ||
           (!changes_shape(to_[o].op) && !parts.empty() &&
            std::ranges::all_of(parts, [&](Operand p) { return covers(made, p, depth - 1); }));
  }
  int union_of(int a, int b) {
    if (a == nothing) return b;
    Set all = sets_[static_cast<std::size_t>(a)];
    for (const Operand o : sets_[static_cast<std::size_t>(b)])
      if (std::ranges::find(all, o) == all.end()) all.push_back(o);
    return all.size() == sets_[static_cast<std::size_t>(a)].size() ? a : new_set(std::move(all));
  }
  int new_set(Set set) {
    sets_.push_back(std::move(set));
    return static_cast<int>(sets_.size()) - 1;
  }

  Builder& to_;
  const bool enabled_;
  std::vector<int> dropped_shapes_;  // index in sets_, by node
  std::vector<Set> sets_{{}};        // of values of the new graph
  NodeSet seen_;
};

/// Calls make(builder, node, its operands in the new graph) for every node, in order.
template <class Make>
Graph rebuild(const Graph& graph, bool keeps_shapes, Make make) {
  Builder builder;
  builder.reserve(graph.nodes().size());
  std::vector<Operand> remap, operands;
  remap.reserve(graph.nodes().size());
  ShapePreserver shapes(builder, keeps_shapes);
  for (const Node& n : graph.nodes()) {
    operands.clear();
    const auto from = graph.operands(n);
    for (Operand o : from) operands.push_back(remap[static_cast<std::size_t>(o.node)]);
    if (changes_shape(n.op))
      for (std::size_t i = 0; i < operands.size(); ++i) operands[i] = shapes.keep(from[i], operands[i]);
    remap.push_back(make(builder, n, operands));
    shapes.add(n, from, operands, remap.back());
  }
  for (Operand o : graph.outputs()) builder.graph().output(shapes.keep(o, remap[static_cast<std::size_t>(o.node)]));
  return without_dead_nodes(builder.graph());
}

/// x * y + z, which every executor rounds once. Only if nothing else reads the product.
class Contraction {
 public:
  explicit Contraction(const Graph& graph) : graph_(graph), uses_(graph.nodes().size()) {
    for (Operand o : graph.all_operands()) ++uses_[static_cast<std::size_t>(o.node)];
    for (Operand o : graph.outputs()) ++uses_[static_cast<std::size_t>(o.node)];
  }

  Graph run(bool keeps_shapes) {
    return rebuild(graph_, keeps_shapes, [&](Builder& b, const Node& n, Builder::Operands operands) {
      if ((n.op == Op::add || n.op == Op::sub) && category(n.dtype) == Category::Float) {
        if (is_product(graph_.operands(n)[0])) return contract(b, n, operands[0], operands[1], false);
        if (is_product(graph_.operands(n)[1])) return contract(b, n, operands[1], operands[0], true);
      }
      return b.make(n.op, n.dtype, operands, n.attribute);
    });
  }

 private:
  /// Whether it is a product that nothing else reads, perhaps broadcast: whether shapes are kept makes no difference.
  bool is_product(Operand o) const {
    while (graph_[o].op == Op::broadcast_like && is_read_once(o)) o = graph_.operands(graph_[o])[0];
    return graph_[o].op == Op::mul && is_read_once(o);
  }
  bool is_read_once(Operand o) const { return uses_[static_cast<std::size_t>(o.node)] == 1; }

  /// product + other, product - other or, with `right`, other - product.
  static Operand contract(Builder& b, const Node& n, Operand product, Operand other, bool right) {
    while (b[product].op == Op::broadcast_like) product = b.operand(product, 0);
    // After a neighbor was contracted, simplification may have replaced the product.
    if (b[product].op != Op::mul)
      return right ? b.make(n.op, n.dtype, {other, product}) : b.make(n.op, n.dtype, {product, other});
    Operand x = b.operand(product, 0), y = b.operand(product, 1);
    if (n.op == Op::sub && right) {
      const bool free = b[y].op == Op::constant || b[y].op == Op::neg;
      Operand& negated = free ? y : x;
      negated = b.make(Op::neg, n.dtype, {negated});
    } else if (n.op == Op::sub) {
      other = b.make(Op::neg, n.dtype, {other});
    }
    return b.make(Op::fma, n.dtype, {x, y, other});
  }

  const Graph& graph_;
  std::vector<std::uint32_t> uses_;
};

bool contracts() noexcept { return !runtime::is_off("SINTER_FMA"); }

}  // namespace

std::size_t Builder::KeyHash::operator()(const Key& key) const noexcept {
  static_assert(std::has_unique_object_representations_v<Key>);
  return XXH3_64bits(&key, sizeof key);
}

Operand Builder::intern(Op op, DType dtype, Operands operands, std::uint64_t attribute) {
  Key key{op, dtype, static_cast<std::uint16_t>(operands.size()), 0, attribute, {}};
  std::ranges::copy(operands, key.operands.begin());
  if (commutes(op) && key.operands[1].node < key.operands[0].node) std::swap(key.operands[0], key.operands[1]);
  const auto [place, is_new] = interned_.try_emplace(key);
  if (is_new) place->second = graph_.node(op, dtype, operands, attribute);
  return place->second;
}

Operand Builder::make(Op op, DType dtype, Operands operands, std::uint64_t attribute) {
  if (operands.empty()) return intern(op, dtype, {}, attribute);
  // rewrite() may grow the graph, which may own the operands' memory.
  std::array<Operand, max_arity> copy;
  std::ranges::copy(operands, copy.begin());
  operands = Operands(copy).first(operands.size());
  if (const auto simpler = rewrite(*this, op, dtype, operands)) return *simpler;
  const Node& last = graph_[operands.back()];
  const bool divides = has(op, FaultsOnZeroDivisor) && category(last.dtype) != Category::Float && last.attribute == 0;
  const bool faults = divides || has(op, BoundsChecked);
  const bool is_foldable = op != Op::call && !is_reduction(op) && op != Op::broadcast_like;
  if (!faults && !is_complex(dtype) && is_foldable &&
      std::ranges::all_of(operands, [&](Operand o) { return graph_[o].op == Op::constant; })) {
    std::array<Value, max_arity> values;
    std::ranges::transform(operands, values.begin(),
                           [&](Operand o) { return Value{graph_[o].dtype, graph_[o].attribute}; });
    return intern(Op::constant, dtype, {}, fold(op, dtype, std::span(values).first(operands.size())));
  }
  return intern(op, dtype, operands, has_parameter(op) ? attribute : 0);
}

Graph simplify(const Graph& graph, bool keeps_shapes) {
  keeps_shapes |= depends_on_shapes(graph);
  Graph once =
      rebuild(lower(graph, keeps_shapes), keeps_shapes, [](Builder& b, const Node& n, Builder::Operands operands) {
        return b.make(n.op, n.dtype, operands, n.attribute);
      });
  return contracts() ? Contraction(once).run(keeps_shapes) : once;
}

}  // namespace sinter::inline v1::jit

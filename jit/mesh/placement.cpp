#include "placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

#include <sinter/runtime/error.hpp>
#include "../functions/functions.hpp"

namespace sinter::inline v1::jit {
namespace {

constexpr int not_read_yet = -5;

bool is_elementwise(const Graph& graph) noexcept {
  return std::ranges::none_of(graph.nodes(), [](const Node& n) { return changes_shape(n.op); });
}

/// Propagates the sharded axis from the leaves to the outputs.
class Placer {
 public:
  Placer(const Graph& graph, std::span<const Shape> shapes, Placements& made)
      : graph_(graph), shapes_(shapes), made_(made) {}

  int axis_of(NodeId id, std::span<const PlacedLeaf> leaves) {
    const Node& n = graph_.nodes()[static_cast<std::size_t>(id)];
    if (is_leaf(n.op)) return axis_of_leaf(n, leaves[n.attribute]);
    const auto operands = graph_.operands(n);
    if (std::ranges::any_of(operands, [&](Operand o) { return axis(o) == depends_on_cut; })) return depends_on_cut;
    if (n.op == Op::matmul) return of_product(id, n);
    if (is_reduction(n.op)) return of_reduction(id, n);
    return of_elementwise(id, n);
  }

  /// Requires an operand to be sharded along this axis. Returns whether it is already: a computed value needs a cut.
  bool take_shard(NodeId id, std::uint32_t operand, int along) {
    const Operand o = id < 0 ? graph_.outputs()[operand] : operand_of(id, operand);
    const Node& n = graph_[o];
    if (!is_element_leaf(n.op)) {
      cut(Cut::Kind::Value, o.node, along);
      return false;
    }
    made_.sliced.push_back({id, operand, along});
    demand(static_cast<std::uint32_t>(n.attribute), along);
    return true;
  }
  /// For leaves that only broadcast to an output.
  void slice_leaves(std::int64_t of, int along) {
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i)
      if (const Node& n = graph_.nodes()[i]; is_element_leaf(n.op))
        made_.leaves[n.attribute] = extent_from_end(shapes_[i], along) == of ? along : no_axis;
  }
  void take_replicated(Operand o) {
    if (const Node& n = graph_[o]; is_element_leaf(n.op)) demand(static_cast<std::uint32_t>(n.attribute), no_axis);
  }

 private:
  int axis(Operand o) const { return made_.axes[static_cast<std::size_t>(o.node)]; }
  const Shape& shape(Operand o) const { return shapes_[static_cast<std::size_t>(o.node)]; }
  Operand operand_of(NodeId id, std::uint32_t i) const {
    return graph_.operands(graph_.nodes()[static_cast<std::size_t>(id)])[i];
  }

  void demand(std::uint32_t leaf, int along) {
    int& known = made_.leaves[leaf];
    made_.leaves_agree &= known == not_read_yet || known == along;
    known = along;
  }
  void cut(Cut::Kind kind, NodeId id, int along) {
    const auto same = [&](const Cut& c) { return c.node == id && c.kind == kind; };
    if (std::ranges::none_of(made_.cuts, same)) made_.cuts.push_back({kind, id, along});
  }

  int axis_of_leaf(const Node& n, const PlacedLeaf& leaf) {
    if (n.op == Op::array && leaf.axis != no_axis)
      throw DeviceError(fmt::format(
          "elements of {} are read at computed indices, which may belong to another rank's shard\n  Replicate it: "
          "replicate(x, mesh)",
          runtime::describe_placed(*leaf.tensor)));
    if (n.op == Op::array) demand(static_cast<std::uint32_t>(n.attribute), no_axis);
    return leaf.axis;
  }

  /// Operands broadcast: the sharded ones must agree on the axis; each rank slices the others as needed.
  int of_elementwise(NodeId id, const Node& n) {
    const auto operands = graph_.operands(n);
    int along = no_axis;
    for (const Operand o : operands)
      if (axis(o) != no_axis) {
        if (along != no_axis && along != axis(o)) refuse(n);
        along = axis(o);
      }
    bool is_ready = true;
    for (std::uint32_t i = 0; i < operands.size(); ++i) is_ready &= align(id, i, along);
    return is_ready ? along : depends_on_cut;
  }

  /// Aligns an operand with a result sharded along this axis. Returns whether it is placed so already.
  bool align(NodeId id, std::uint32_t i, int along) {
    const Node& n = graph_.nodes()[static_cast<std::size_t>(id)];
    const Operand o = graph_.operands(n)[i];
    if (graph_[o].op == Op::array) return true;
    if (along == no_axis) return take_replicated(o), true;
    const bool broadcasts =
        extent_from_end(shape(o), along) != extent_from_end(shapes_[static_cast<std::size_t>(id)], along);
    if (axis(o) == no_axis && (broadcasts || extent_from_end(shape(o), along) == 1)) return take_replicated(o), true;
    if (axis(o) == no_axis) return take_shard(id, i, along);
    if (broadcasts) refuse(n);
    return true;
  }

  int of_reduction(NodeId id, const Node& n) {
    const auto operands = graph_.operands(n);
    for (const Operand o : operands) take_replicated_unless_sharded(o);
    const int along = axis(operands[0]);
    if (along == no_axis) return no_axis;
    const ReduceAxes reduced = ReduceAxes::of(n.attribute);
    const bool preserves_shape = info(n.op).reduction == Reduction::ShapePreserving;
    if (reduced.axes >> along & 1) {
      if (extent_from_end(shape(operands[0]), along) == 0)
        return preserves_shape ? along : no_axis;  // nothing to communicate
      cut(Cut::Kind::Reduction, id, along);
      return depends_on_cut;
    }
    if (preserves_shape || reduced.keeps) return along;
    return along - std::popcount(static_cast<unsigned>(reduced.axes & ((1u << along) - 1)));
  }
  void take_replicated_unless_sharded(Operand o) {
    if (axis(o) == no_axis) take_replicated(o);
  }

  /// Follows torch.matmul's rules: the axis of a vector is the contracted one.
  int of_product(NodeId id, const Node& n) {
    const Operand a = graph_.operands(n)[0], b = graph_.operands(n)[1];
    const bool row = shape(a).ndim() == 1, column = shape(b).ndim() == 1;
    const Transposed transposes = Transposed::of(n.attribute);
    const bool swaps_a = transposes.a && !row, swaps_b = transposes.b && !column;
    const int inner_a = swaps_a ? 1 : 0, inner_b = column || swaps_b ? 0 : 1;
    if (axis(a) == inner_a || axis(b) == inner_b) {
      const bool has_a = multiply_parts(id, 0, inner_a), has_b = multiply_parts(id, 1, inner_b);
      if (has_a && has_b) cut(Cut::Kind::Product, id, axis(a) == no_axis ? axis(b) : axis(a));
      return depends_on_cut;
    }
    if (axis(a) == no_axis && axis(b) == no_axis) return take_replicated(a), take_replicated(b), no_axis;
    const int along = axis(a) != no_axis ? axis(a) : axis(b);
    if (along >= 2) return of_batch(id, n, along, along - row - column);
    if (axis(a) != no_axis && axis(b) != no_axis) refuse(n);
    take_replicated(axis(a) == no_axis ? a : b);
    // The other axis of the sharded matrix is contracted: a's rows are the result's, as are b's columns.
    if (axis(a) == no_axis) return 0;
    return column ? 0 : 1;
  }

  /// Aligns an operand of a product that contracts the sharded axis. Returns whether ranks have their parts of it.
  bool multiply_parts(NodeId id, std::uint32_t i, int inner) {
    const Operand o = operand_of(id, i);
    if (axis(o) == no_axis) return take_shard(id, i, inner);
    if (axis(o) != inner) refuse(graph_.nodes()[static_cast<std::size_t>(id)]);
    return true;
  }

  /// `in_result` is the same axis in the result, which lacks the axes of vectors.
  int of_batch(NodeId id, const Node& n, int along, int in_result) {
    bool is_ready = true;
    const std::int64_t matrices = extent_from_end(shapes_[static_cast<std::size_t>(id)], in_result);
    for (std::uint32_t i = 0; i < 2; ++i) {
      const Operand o = graph_.operands(n)[i];
      if (axis(o) == along ? extent_from_end(shape(o), along) != matrices : axis(o) != no_axis) refuse(n);
      if (axis(o) != no_axis) continue;
      if (extent_from_end(shape(o), along) == 1)
        take_replicated(o);
      else
        is_ready &= take_shard(id, i, along);
    }
    return is_ready ? in_result : depends_on_cut;
  }

  std::string describe(Operand o) const {
    while (graph_[o].op == Op::cast) o = graph_.operands(graph_[o])[0];
    const std::string what = fmt::format("{} {}", name(graph_[o].dtype), to_string(shape(o)));
    if (graph_[o].op == Op::scalar || graph_[o].op == Op::constant) return fmt::format("{} scalar", what);
    if (axis(o) == no_axis) return what + ", replicated";
    return fmt::format("{}, sharded along dim {}", what, shape(o).ndim() - 1 - axis(o));
  }
  [[noreturn]] void refuse(const Node& n) const {
    std::string lines;
    for (char letter = 'a'; const Operand o : graph_.operands(n))
      lines += fmt::format("\n    {}: {}", letter++, describe(o));
    throw DeviceError(fmt::format(
        "{} of operands with mismatched shards, where{}\n  Each rank computes with its own shards, so operands "
        "must be sharded along the same dim of the result or replicated. To replicate an operand, call "
        "replicate(x, mesh)",
        operation_name(n), lines));
  }

  const Graph& graph_;
  std::span<const Shape> shapes_;
  Placements& made_;
};

}  // namespace

Placements place(const Graph& graph, std::span<const Shape> shapes, std::span<const PlacedLeaf> leaves) {
  Placements made;
  made.leaves.assign(leaves.size(), not_read_yet);
  made.axes.reserve(graph.nodes().size());
  Placer placer(graph, shapes, made);
  for (NodeId id = 0; id < std::ssize(graph.nodes()); ++id) made.axes.push_back(placer.axis_of(id, leaves));
  return made;
}

void place_output(Placements& made, const Graph& graph, std::span<const Shape> shapes, std::uint32_t output, int axis) {
  const Operand o = graph.outputs()[output];
  const Shape& shape = shapes[static_cast<std::size_t>(o.node)];
  Placer placer(graph, shapes, made);
  if (made.axes[static_cast<std::size_t>(o.node)] != no_axis) return;
  if (axis == no_axis || extent_from_end(shape, axis) == 1)
    placer.take_replicated(o);
  else if (graph.outputs().size() == 1 && is_elementwise(graph) && !is_element_leaf(graph[o].op))
    placer.slice_leaves(extent_from_end(shape, axis), axis);
  else
    placer.take_shard(-1, output, axis);
}

}  // namespace sinter::inline v1::jit

#include "placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::jit {
namespace {

constexpr int unused = -3;

bool is_tensor(Op op) noexcept { return op == Op::leaf || op == Op::index; }

bool is_elementwise(const Graph& graph) noexcept {
  return std::ranges::none_of(graph.nodes(), [](const Node& n) { return is_reshaping(n.op); });
}

/// Follows the axis in pieces from the leaves to the outputs.
class Placing {
 public:
  Placing(const Graph& graph, std::span<const Shape> shapes, Placements& made)
      : graph_(graph), shapes_(shapes), made_(made) {}

  int axis_of(NodeId id, std::span<runtime::TensorImpl* const> leaves) {
    const Node& n = graph_.nodes()[static_cast<std::size_t>(id)];
    if (is_tensor(n.op) || n.op == Op::array) return axis_of_leaf(n, *leaves[n.attribute]);
    const auto operands = graph_.operands(n);
    if (std::ranges::any_of(operands, [&](Operand o) { return axis(o) == later; })) return later;
    if (n.op == Op::matmul) return of_product(id, n);
    if (is_reduction(n.op)) return of_reduction(id, n);
    return of_elementwise(id, n);
  }

  /// An operand that is to be in pieces along this axis. Whether it is now: a value is so after a cut.
  bool take_part(NodeId id, std::uint32_t operand, int along) {
    const Operand o = id < 0 ? graph_.outputs()[operand] : operand_of(id, operand);
    const Node& n = graph_[o];
    if (!is_tensor(n.op)) {
      cut(Cut::Kind::Value, o.node, along);
      return false;
    }
    made_.sliced.push_back({id, operand, along});
    demand(static_cast<std::uint32_t>(n.attribute), along);
    return true;
  }
  /// Where nothing but broadcasting is between leaves and an output.
  void take_parts_of_leaves(std::int64_t of, int along) {
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i)
      if (const Node& n = graph_.nodes()[i]; is_tensor(n.op))
        made_.leaves[n.attribute] = extent_from_end(shapes_[i], along) == of ? along : whole;
  }
  void take_whole(Operand o) {
    if (const Node& n = graph_[o]; is_tensor(n.op)) demand(static_cast<std::uint32_t>(n.attribute), whole);
  }

 private:
  int axis(Operand o) const { return made_.axes[static_cast<std::size_t>(o.node)]; }
  const Shape& shape(Operand o) const { return shapes_[static_cast<std::size_t>(o.node)]; }
  Operand operand_of(NodeId id, std::uint32_t i) const {
    return graph_.operands(graph_.nodes()[static_cast<std::size_t>(id)])[i];
  }

  void demand(std::uint32_t leaf, int along) {
    int& known = made_.leaves[leaf];
    made_.leaves_agree &= known == unused || known == along;
    known = along;
  }
  void cut(Cut::Kind kind, NodeId id, int along) {
    const auto same = [&](const Cut& c) { return c.node == id && c.kind == kind; };
    if (std::ranges::none_of(made_.cuts, same)) made_.cuts.push_back({kind, id, along});
  }

  int axis_of_leaf(const Node& n, const runtime::TensorImpl& t) {
    const int along = t.buffer && t.buffer->pieces() ? runtime::split_axis(t) : whole;
    if (n.op == Op::array && along != whole)
      throw DeviceError(fmt::format(
          "elements of {} are read at computed places, which may be those of another position\n  Every position needs "
          "all of it: replicate(x, mesh)",
          runtime::describe_placed(t)));
    if (n.op == Op::array) demand(static_cast<std::uint32_t>(n.attribute), whole);
    return along;
  }

  /// Operands broadcast: those in pieces agree about the axis, of the others each position takes what it needs.
  int of_elementwise(NodeId id, const Node& n) {
    const auto operands = graph_.operands(n);
    int along = whole;
    for (const Operand o : operands)
      if (axis(o) != whole) {
        if (along != whole && along != axis(o)) refuse(n);
        along = axis(o);
      }
    bool is_ready = true;
    for (std::uint32_t i = 0; i < operands.size(); ++i) is_ready &= meet(id, i, along);
    return is_ready ? along : later;
  }

  /// An operand beside one that is in pieces along this axis of the result. Whether it lies as that needs it.
  bool meet(NodeId id, std::uint32_t i, int along) {
    const Node& n = graph_.nodes()[static_cast<std::size_t>(id)];
    const Operand o = graph_.operands(n)[i];
    if (graph_[o].op == Op::array) return true;
    if (along == whole) return take_whole(o), true;
    const bool broadcasts =
        extent_from_end(shape(o), along) != extent_from_end(shapes_[static_cast<std::size_t>(id)], along);
    if (axis(o) == whole && (broadcasts || extent_from_end(shape(o), along) == 1)) return take_whole(o), true;
    if (axis(o) == whole) return take_part(id, i, along);
    if (broadcasts) refuse(n);
    return true;
  }

  int of_reduction(NodeId id, const Node& n) {
    const auto operands = graph_.operands(n);
    for (const Operand o : operands) take_whole_unless_pieces(o);
    const int along = axis(operands[0]);
    if (along == whole) return whole;
    const Along combined = Along::of(n.attribute);
    const bool spreads = info(n.op).reduction == Reduction::Spreads;
    if (combined.axes >> along & 1) {
      if (extent_from_end(shape(operands[0]), along) == 0) return spreads ? along : whole;  // each has all of nothing
      cut(Cut::Kind::Reduction, id, along);
      return later;
    }
    if (spreads || combined.keeps) return along;
    return along - std::popcount(static_cast<unsigned>(combined.axes & ((1u << along) - 1)));
  }
  void take_whole_unless_pieces(Operand o) {
    if (axis(o) == whole) take_whole(o);
  }

  /// Matrices by torch.matmul's rules: an axis of a vector is the one that is multiplied along.
  int of_product(NodeId id, const Node& n) {
    const Operand a = graph_.operands(n)[0], b = graph_.operands(n)[1];
    const bool row = shape(a).rank() == 1, column = shape(b).rank() == 1;
    const int inner_a = 0, inner_b = column ? 0 : 1;
    if (axis(a) == inner_a || axis(b) == inner_b) {
      const bool has_a = multiply_parts(id, 0, inner_a), has_b = multiply_parts(id, 1, inner_b);
      if (has_a && has_b) cut(Cut::Kind::Product, id, axis(a) == whole ? axis(b) : axis(a));
      return later;
    }
    if (axis(a) == whole && axis(b) == whole) return take_whole(a), take_whole(b), whole;
    const int along = axis(a) != whole ? axis(a) : axis(b);
    if (along >= 2) return of_batch(id, n, along, along - row - column);
    if (axis(a) != whole && axis(b) != whole) refuse(n);
    take_whole(axis(a) == whole ? a : b);
    return axis(a) != whole && column ? 0 : along;
  }

  /// An operand of a product along the axis in pieces. Whether positions have their parts of it.
  bool multiply_parts(NodeId id, std::uint32_t i, int inner) {
    const Operand o = operand_of(id, i);
    if (axis(o) == whole) return take_part(id, i, inner);
    if (axis(o) != inner) refuse(graph_.nodes()[static_cast<std::size_t>(id)]);
    return true;
  }

  /// `in_result` is the same axis there: those of vectors go.
  int of_batch(NodeId id, const Node& n, int along, int in_result) {
    bool is_ready = true;
    const std::int64_t matrices = extent_from_end(shapes_[static_cast<std::size_t>(id)], in_result);
    for (std::uint32_t i = 0; i < 2; ++i) {
      const Operand o = graph_.operands(n)[i];
      if (axis(o) == along ? extent_from_end(shape(o), along) != matrices : axis(o) != whole) refuse(n);
      if (axis(o) != whole) continue;
      if (extent_from_end(shape(o), along) == 1)
        take_whole(o);
      else
        is_ready &= take_part(id, i, along);
    }
    return is_ready ? in_result : later;
  }

  std::string describe(Operand o) const {
    while (graph_[o].op == Op::cast) o = graph_.operands(graph_[o])[0];
    const std::string what = fmt::format("{} {}", name(graph_[o].dtype), to_string(shape(o)));
    if (graph_[o].op == Op::scalar || graph_[o].op == Op::constant) return fmt::format("{} scalar", what);
    if (axis(o) == whole) return what + ", replicated";
    return fmt::format("{}, dim {} in pieces", what, shape(o).rank() - 1 - axis(o));
  }
  [[noreturn]] void refuse(const Node& n) const {
    std::string lines;
    for (char letter = 'a'; const Operand o : graph_.operands(n))
      lines += fmt::format("\n    {}: {}", letter++, describe(o));
    throw DeviceError(fmt::format(
        "{} of operands whose pieces do not belong together, where{}\n  A position computes with the pieces that it "
        "has: operands are in pieces along the same dim of the result, or replicated. replicate(x, mesh) gives every "
        "position all of an operand",
        name(n.op), lines));
  }

  const Graph& graph_;
  std::span<const Shape> shapes_;
  Placements& made_;
};

}  // namespace

Placements place(const Graph& graph, std::span<const Shape> shapes, std::span<runtime::TensorImpl* const> leaves) {
  Placements made;
  made.leaves.assign(leaves.size(), unused);
  made.axes.reserve(graph.nodes().size());
  Placing placing(graph, shapes, made);
  for (NodeId id = 0; id < std::ssize(graph.nodes()); ++id) made.axes.push_back(placing.axis_of(id, leaves));
  return made;
}

void place_output(Placements& made, const Graph& graph, std::span<const Shape> shapes, std::uint32_t output, int axis) {
  const Operand o = graph.outputs()[output];
  const Shape& shape = shapes[static_cast<std::size_t>(o.node)];
  Placing placing(graph, shapes, made);
  if (made.axes[static_cast<std::size_t>(o.node)] != whole) return;
  if (axis == whole || extent_from_end(shape, axis) == 1)
    placing.take_whole(o);
  else if (graph.outputs().size() == 1 && is_elementwise(graph) && graph[o].op != Op::leaf && graph[o].op != Op::index)
    placing.take_parts_of_leaves(extent_from_end(shape, axis), axis);
  else
    placing.take_part(-1, output, axis);
}

}  // namespace sinter::inline v1::jit

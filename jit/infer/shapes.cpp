#include "shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include <sinter/runtime/error.hpp>
#include "../functions/functions.hpp"
#include "../ops/traits.hpp"
#include "product_shape.hpp"

namespace sinter::inline v1::jit {
namespace {

void check_axes(const Node& n, const Shape& operand) {
  const ReduceAxes along = ReduceAxes::of(n.attribute);
  const int ndim = operand.ndim();
  if (along.axes != ReduceAxes::all_axes && along.axes >> std::max(ndim, 1) != 0)
    throw IndexError(fmt::format(
        "Dimension out of range (expected to be in range of [{}, {}], but got {})\n  in {} of a "
        "{}-dimensional value of shape {}",
        -std::max(ndim, 1), std::max(ndim, 1) - 1, -std::bit_width(along.axes), name(n.op), ndim, to_string(operand)));
}

void check_element(const Node& n, const Shape& operand) {
  const ReduceAxes along = ReduceAxes::of(n.attribute);
  for (int axis = 0; axis < operand.ndim(); ++axis)
    if (operand[axis] == 0 && along.axes >> (operand.ndim() - 1 - axis) & 1)
      throw IndexError(
          fmt::format("{}: Expected reduction dim {} to have non-zero size\n  the operand has shape {}, and "
                      "an empty dim has no largest or smallest element",
                      name(n.op), axis, to_string(operand)));
}

Shape shape_of_product(const Graph& graph, const Node& n, std::span<const Shape> shapes) {
  const Transposed transposes = Transposed::of(n.attribute);
  const Shape a = transposed(shapes[static_cast<std::size_t>(graph.operands(n)[0].node)], transposes.a),
              b = transposed(shapes[static_cast<std::size_t>(graph.operands(n)[1].node)], transposes.b);
  if (const std::optional<Shape> shape = product_shape(a, b)) return *shape;
  throw ShapeError(product_mismatch(a, b));
}

}  // namespace

bool depends_on_shapes(const Graph& graph) noexcept {
  return std::ranges::any_of(graph.nodes(),
                             [](const Node& n) { return changes_shape(n.op) || n.op == Op::broadcast_like; });
}

bool reduces(const Graph& graph) noexcept {
  return std::ranges::any_of(graph.nodes(), [](const Node& n) { return is_reduction(n.op); });
}

std::vector<Shape> shapes_of_leaves(std::span<runtime::TensorImpl* const> leaves) {
  std::vector<Shape> shapes;
  shapes.reserve(leaves.size());
  for (const runtime::TensorImpl* t : leaves) shapes.push_back(t->shape);
  return shapes;
}

std::vector<Shape> shapes_of(const Graph& graph, std::span<const Shape> leaves) {
  std::vector<Shape> shapes;
  shapes.reserve(graph.nodes().size());
  extend_shapes(shapes, graph, leaves);
  return shapes;
}

void extend_shapes(std::vector<Shape>& shapes, const Graph& graph, std::span<const Shape> leaves) {
  for (const Node& n : graph.nodes().subspan(shapes.size())) {
    Shape shape;
    if (is_element_leaf(n.op)) shape = leaves[n.attribute];
    if (n.op == Op::matmul) {
      shapes.push_back(shape_of_product(graph, n, shapes));
      continue;
    }
    for (const Operand o : graph.operands(n))
      if (!broadcast(shape, shapes[static_cast<std::size_t>(o.node)]))
        throw ShapeError(fmt::format("the operands of {} do not broadcast: {} and {}", operation_name(n),
                                     to_string(shape), to_string(shapes[static_cast<std::size_t>(o.node)])));
    if (is_reduction(n.op)) check_axes(n, shape);
    shapes.push_back(info(n.op).reduction == Reduction::Reduces ? reduced_shape(shape, ReduceAxes::of(n.attribute))
                                                                : shape);
  }
}

void check_has_elements(const Graph& recorded, std::span<const Shape> shapes) {
  for (const Node& n : recorded.nodes())
    if (traits_of(n.op).lacks_identity)
      check_element(n, shapes[static_cast<std::size_t>(recorded.operands(n)[0].node)]);
}

}  // namespace sinter::inline v1::jit

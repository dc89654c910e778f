// Shapes of gradients: sums over broadcast axes, and views of values, which are pushed to the leaves.
#include "../evaluate/evaluator.hpp"
#include "../ops/traits.hpp"
#include "derivative_functions.hpp"
#include "differentiator.hpp"

namespace sinter::inline v1::jit {

Operand Differentiator::sum_to_shape(const Shape& shape, Operand g, const Shape& from) {
  const Shape of_g = this->shape(g);
  std::uint8_t kept = 0, dropped = 0;
  std::int64_t copies = 1;  // along axes of `from` that g itself broadcasts along
  for (int axis = 0; axis < from.ndim(); ++axis) {
    const std::int64_t extent = from[-1 - axis];
    const bool has_axis = axis < shape.ndim();
    if (has_axis && shape[-1 - axis] == extent) continue;
    const bool varies = axis < of_g.ndim() && of_g[-1 - axis] == extent;
    if (varies)
      (has_axis ? kept : dropped) |= static_cast<std::uint8_t>(1u << axis);
    else
      copies *= extent;
    if (!varies && !has_axis && axis < of_g.ndim()) dropped |= static_cast<std::uint8_t>(1u << axis);
  }
  const DType dtype = node(g).dtype;
  if (dropped) g = made(Op::sum, dtype, {&g, 1}, ReduceAxes{dropped, false}.bits());
  if (kept) g = made(Op::sum, dtype, {&g, 1}, ReduceAxes{kept, true}.bits());
  if (copies == 1) return g;
  const terms::Term term{&recorded_.graph, g};
  const Operand factors[] = {g, terms::slopes::Numbers{term}(static_cast<double>(copies)).operand};
  return made(Op::mul, dtype, factors);
}

Operand Differentiator::broadcast_to(Operand g, const Shape& shape) {
  if (this->shape(g) == shape) return g;
  const Operand like[] = {g, add_leaf(runtime::iota_tensor(shape, recorded_.device))};
  return made(Op::broadcast_like, node(g).dtype, like);
}

Operand Differentiator::apply_axis_map(Operand value, const AxisMap& map) {
  if (shape(value).ndim() == 0 || (map.is_identity() && map.ndim() == shape(value).ndim())) return value;
  const auto known = views_.find({value.node, map});
  if (known != views_.end()) return known->second;
  const std::optional<Operand> pushed = push_view(value, map);
  const Operand view = pushed ? *pushed : apply_axis_map(materialize(value), map);
  views_.emplace(std::pair{value.node, map}, view);
  return view;
}

/// The same operations on views of their operands, as far as operations allow.
std::optional<Operand> Differentiator::push_view(Operand value, const AxisMap& map) {
  const Node n = node(value);
  if (is_element_leaf(n.op)) return add_leaf(map.view(*recorded_.leaves[n.attribute]), origin(n.attribute));
  if (n.op == Op::scalar || n.op == Op::constant || n.op == Op::array) return value;
  if (n.op == Op::matmul) {
    const Operand a = operand(value, 0), b = operand(value, 1);
    const bool are_matrices = shape(a).ndim() > 1 && shape(b).ndim() > 1;
    if (!are_matrices || map != AxisMap::swapping(shape(value).ndim())) return std::nullopt;
    const Transposed t = Transposed::of(n.attribute);
    return emit_matmul(b, a, {!t.b, !t.a});
  }
  if (is_reduction(n.op)) {
    const bool fits = shape(operand(value, 0)).ndim() + map.ndim() <= max_ndim;
    const bool is_row_wise =
        info(n.op).reduction == Reduction::Reduces && n.arity == 1 && !traits_of(n.op).gives_position;
    return fits && is_row_wise ? std::optional(view_of_reduction(value, map)) : std::nullopt;
  }
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < n.arity; ++i) operands.push_back(apply_axis_map(operand(value, i), map));
  return made(n.op, n.dtype, operands, n.attribute);
}

/// The reduction of a view of its operand that has the reduce axes outermost.
Operand Differentiator::view_of_reduction(Operand value, const AxisMap& map) {
  const Node n = node(value);
  const Operand from = operand(value, 0);
  const int ndim = shape(from).ndim();
  const ReduceAxes along = ReduceAxes::of(n.attribute);
  if (!along.keeps && map == AxisMap::restoring(along.axes, ndim))
    return made(n.op, n.dtype, {&from, 1}, ReduceAxes{along.axes, true}.bits());
  const auto is_reduced = [&](int axis) { return (along.axes >> axis & 1) != 0; };
  std::vector<std::int8_t> shown;  // for each axis of the result, the operand's
  for (int axis = 0; axis < ndim; ++axis)
    if (!is_reduced(axis))
      shown.push_back(static_cast<std::int8_t>(axis));
    else if (along.keeps)
      shown.push_back(AxisMap::added);
  AxisMap whole;
  for (int axis = 0; axis < map.ndim(); ++axis)
    whole.push_back(map[axis] < 0 || map[axis] >= std::ssize(shown) ? AxisMap::added
                                                                    : shown[static_cast<std::size_t>(map[axis])]);
  std::uint8_t axes = 0;
  for (int axis = 0; axis < ndim; ++axis)
    if (is_reduced(axis)) {
      axes |= static_cast<std::uint8_t>(1u << whole.ndim());
      whole.push_back(static_cast<std::int8_t>(axis));
    }
  const Operand operand = apply_axis_map(from, whole);
  return made(n.op, n.dtype, {&operand, 1}, ReduceAxes{axes, false}.bits());
}

Operand Differentiator::materialize(Operand value) {
  const LazyRef part = lazy(taken({&value, 1}));
  runtime::TensorRef result;
  evaluate({&part, 1}, &result);
  return add_leaf(result, std::make_shared<const Origin>(Origin{{part}, {}, result}));
}

}  // namespace sinter::inline v1::jit

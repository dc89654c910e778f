#include "differentiator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include <sinter/runtime/error.hpp>
#include "../evaluate/evaluator.hpp"
#include "../infer/product_shape.hpp"
#include "../infer/shapes.hpp"
#include "../ops/facts.hpp"
#include "../passes/composite.hpp"
#include "derivatives.hpp"

namespace sinter::inline v1::jit {
namespace {

using terms::slopes::Slope;

bool is_differentiable(DType dtype) noexcept { return category(dtype) >= Category::Float; }

[[noreturn]] void throw_no_derivative(Op op, std::size_t operand) {
  throw Error(
      fmt::format("grad: {} has no derivative by its operand {}\n  If the gradient is not to flow through it, take "
                  "stop_gradient of that operand",
                  name(op), operand + 1));
}

}  // namespace

Differentiator::Differentiator(Recorded recorded) : recorded_(std::move(recorded)) {
  recorded_.graph = expand_composites(recorded_.graph, derives_from_body);
  leaf_shapes_ = shapes_of_leaves(recorded_.leaves);
  update_shapes();
}

void Differentiator::update_shapes() { extend_shapes(shapes_, recorded_.graph, leaf_shapes_); }

Operand Differentiator::made(Op op, DType dtype, std::span<const Operand> operands, std::uint64_t attribute) {
  const Operand o = recorded_.graph.node(op, dtype, operands, attribute);
  update_shapes();
  return o;
}

Operand Differentiator::add_leaf(runtime::TensorRef tensor) {
  const auto number = static_cast<std::uint32_t>(recorded_.leaves.size());
  const bool lacks_memory = runtime::lacks_memory(*tensor);
  const Operand leaf = lacks_memory ? recorded_.graph.iota(number) : recorded_.graph.leaf(tensor->dtype, number);
  leaf_shapes_.push_back(tensor->shape);
  recorded_.leaves.push_back(tensor.get());
  recorded_.held.push_back(std::move(tensor));
  update_shapes();
  return leaf;
}

Recorded Differentiator::taken(std::span<const Operand> values) const {
  Recorded part = recorded_;
  std::vector<std::uint32_t> numbers;
  for (const Operand value : values) {
    numbers.push_back(static_cast<std::uint32_t>(part.graph.outputs().size()));
    part.graph.output(value);
  }
  part.graph = part_of(part.graph, numbers);
  return part;
}

// ---- The pass

void Differentiator::run(Operand seed, const std::vector<bool>& wanted) {
  find_needed(wanted);
  gradients_.assign(needed_.size(), std::nullopt);
  reached_.assign(needed_.size(), false);
  reached_[static_cast<std::size_t>(output().node)] = true;
  add(output(), seed);
  for (NodeId id = static_cast<NodeId>(needed_.size()); id-- > 0;) {
    if (!needed_[static_cast<std::size_t>(id)] || !reached_[static_cast<std::size_t>(id)]) continue;
    for (const Operand o : recorded_.graph.operands(node({id}))) reached_[static_cast<std::size_t>(o.node)] = true;
    if (gradients_[static_cast<std::size_t>(id)]) visit({id});
  }
}

/// A node needs a gradient if a wanted leaf changes it continuously.
void Differentiator::find_needed(const std::vector<bool>& wanted) {
  needed_.clear();
  for (const Node& n : recorded_.graph.nodes()) {
    const bool is_tensor = n.op == Op::leaf || n.op == Op::array;
    const bool is_needed = is_tensor ? n.attribute < wanted.size() && wanted[n.attribute]
                                     : std::ranges::any_of(
                                           recorded_.graph.operands(n),
                                           [&](Operand o) { return needed_[static_cast<std::size_t>(o.node)]; });
    needed_.push_back(is_needed && is_differentiable(n.dtype));
  }
}

void Differentiator::add(Operand to, Operand g) {
  if (!needed_[static_cast<std::size_t>(to.node)]) return;
  std::optional<Operand>& sum = gradients_[static_cast<std::size_t>(to.node)];
  const Operand terms[] = {sum.value_or(g), g};
  sum = sum ? made(Op::add, node(g).dtype, terms) : g;
}

void Differentiator::visit(Operand value) {
  const Node n = node(value);
  const Operand g = *gradients_[static_cast<std::size_t>(value.node)];
  switch (n.op) {
    case Op::leaf:
    case Op::array: return;
    case Op::load: return loads_.push_back(value);
    case Op::cast: return visit_cast(value, g);
    case Op::matmul: return visit_product(value, g);
    case Op::broadcast_like: return add(operand(value, 0), summed_to(shape(operand(value, 0)), g, shape(value)));
    default: return visit_table_op(value, g);
  }
}

void Differentiator::visit_cast(Operand value, Operand g) {
  const Operand from = operand(value, 0);
  const bool drops = is_complex(node(g).dtype) && !is_complex(node(from).dtype);
  if (drops) g = made(Op::real, real_of(node(g).dtype), {&g, 1});
  g = recorded_.graph.cast(g, node(from).dtype);
  update_shapes();
  add(from, g);
}

void Differentiator::visit_table_op(Operand value, Operand g) {
  const Node n = node(value);
  const Reduction kind = info(n.op).reduction;
  const ReduceAxes along = ReduceAxes::of(n.attribute);
  const Shape elements = n.arity > 0 ? shape(operand(value, 0)) : Shape();
  if (kind == Reduction::ShapePreserving) g = broadcast_to(g, shape(value));
  if (kind == Reduction::Reduces && !along.keeps) g = viewed(g, AxisMap::restoring(along.axes, elements.ndim()));
  const std::vector<Slope> slopes = slopes_of(recorded_.graph, value.node, g);
  update_shapes();
  for (std::size_t i = 0; i < n.arity; ++i) {
    const Operand to = operand(value, i);
    if (!needed_[static_cast<std::size_t>(to.node)]) continue;
    const Slope slope = i < slopes.size() ? slopes[i] : Slope(Slope::Kind::None);
    if (slope.kind == Slope::Kind::None || slope.kind == Slope::Kind::Body) throw_no_derivative(n.op, i);
    if (slope.kind == Slope::Kind::Zero) continue;
    const Shape& from = kind == Reduction::None ? shape(value) : elements;
    add(to, summed_to(shape(to), slope.value.operand, from));
  }
}

// ---- Matrix products

Operand Differentiator::multiplied(Operand a, Operand b, Transposed transposes) {
  const Operand factors[] = {a, b};
  return made(Op::matmul, node(a).dtype, factors, transposes.bits());
}

Operand Differentiator::conjugated(Operand a) {
  return is_complex(node(a).dtype) ? made(Op::conj, node(a).dtype, {&a, 1}) : a;
}

/// Of c = a b: g b^T for a, and a^T g for b, summed over the batches along which they broadcast.
void Differentiator::visit_product(Operand value, Operand g) {
  g = broadcast_to(g, shape(value));
  const Operand a = operand(value, 0), b = operand(value, 1);
  const Transposed t = Transposed::of(node(value).attribute);
  if (shape(a).ndim() == 1 || shape(b).ndim() == 1) {
    for (std::size_t i = 0; i < 2; ++i)
      if (needed_[static_cast<std::size_t>(operand(value, i).node)])
        add(operand(value, i), vector_product(value, g, i));
    return;
  }
  const auto add_to = [&](Operand to, Operand product) {
    Shape batch = shape(product);
    add(to, summed_to(shape(to), product, batch));
  };
  // a is stored transposed if t.a: then its gradient is (g b^T)^T = b g^T.
  if (needed_[static_cast<std::size_t>(a.node)])
    add_to(a, t.a ? multiplied(conjugated(b), g, {t.b, true}) : multiplied(g, conjugated(b), {false, !t.b}));
  if (needed_[static_cast<std::size_t>(b.node)])
    add_to(b, t.b ? multiplied(g, conjugated(a), {true, t.a}) : multiplied(conjugated(a), g, {!t.a, false}));
}

/// The gradient of an operand of a product of which one operand, or both, is a vector.
Operand Differentiator::vector_product(Operand value, Operand g, std::size_t which) {
  const Operand a = operand(value, 0), b = operand(value, 1);
  const Transposed t = Transposed::of(node(value).attribute);
  const bool row = shape(a).ndim() == 1, column = shape(b).ndim() == 1;
  const Operand to = which == 0 ? a : b, other = conjugated(which == 0 ? b : a);
  // As products of elements, summed over all axes but those of the operand: g has the axes (..., m, n), those of a
  // row's m and a column's n dropped; the operands (..., m, k) and (k, n).
  const DType dtype = node(value).dtype;
  const auto product = [&](Operand x, Operand y) {
    const Operand factors[] = {x, y};
    return made(Op::mul, dtype, factors);
  };
  if (row && column) return product(g, other);
  const int g_ndim = shape(g).ndim();
  if (column) {  // (..., m, k) (k) -> (..., m): outer products, or sums over m
    const Operand g_column = viewed(g, AxisMap::restoring(1, g_ndim + 1));
    if (which == 0) {
      Operand outer = product(g_column, other);
      if (t.a) outer = viewed(outer, AxisMap::swapping(shape(outer).ndim()));
      return summed_to(shape(to), outer, shape(outer));
    }
    const Operand matrix = t.a ? viewed(other, AxisMap::swapping(shape(other).ndim())) : other;
    const Operand terms = product(g_column, matrix);
    return summed_to(shape(to), terms, shape(terms));
  }
  // (k) (..., k, n) -> (..., n)
  const Operand g_row = viewed(g, AxisMap::restoring(2, g_ndim + 1));
  if (which == 1) {
    const Operand a_column = viewed(other, AxisMap::restoring(1, 2));
    Operand outer = product(a_column, g_row);
    if (t.b) outer = viewed(outer, AxisMap::swapping(shape(outer).ndim()));
    return summed_to(shape(to), outer, shape(outer));
  }
  const Operand matrix = t.b ? viewed(other, AxisMap::swapping(shape(other).ndim())) : other;
  const Operand terms = product(g_row, matrix);  // (..., k, n), summed over n
  const Operand sums = made(Op::sum, dtype, {&terms, 1}, ReduceAxes{1, false}.bits());
  return summed_to(shape(to), sums, shape(sums));
}

// ---- Shapes of gradients

Operand Differentiator::summed_to(const Shape& shape, Operand g, const Shape& from) {
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

// ---- Views

Operand Differentiator::viewed(Operand value, const AxisMap& map) {
  if (shape(value).ndim() == 0 || (map.is_identity() && map.ndim() == shape(value).ndim())) return value;
  const auto known = views_.find({value.node, map});
  if (known != views_.end()) return known->second;
  const std::optional<Operand> pushed = push_view(value, map);
  const Operand view = pushed ? *pushed : viewed(evaluated(value), map);
  views_.emplace(std::pair{value.node, map}, view);
  return view;
}

/// The same operations on views of their operands, as far as operations allow.
std::optional<Operand> Differentiator::push_view(Operand value, const AxisMap& map) {
  const Node n = node(value);
  if (n.op == Op::leaf || n.op == Op::iota) return add_leaf(map.view(*recorded_.leaves[n.attribute]));
  if (n.op == Op::scalar || n.op == Op::constant || n.op == Op::array) return value;
  if (n.op == Op::matmul) {
    const Operand a = operand(value, 0), b = operand(value, 1);
    const bool are_matrices = shape(a).ndim() > 1 && shape(b).ndim() > 1;
    if (!are_matrices || map != AxisMap::swapping(shape(value).ndim())) return std::nullopt;
    const Transposed t = Transposed::of(n.attribute);
    return multiplied(b, a, {!t.b, !t.a});
  }
  if (is_reduction(n.op)) {
    const bool fits = shape(operand(value, 0)).ndim() + map.ndim() <= max_ndim;
    const bool is_row_wise = info(n.op).reduction == Reduction::Reduces && n.arity == 1 && !facts(n.op).gives_position;
    return fits && is_row_wise ? std::optional(view_of_reduction(value, map)) : std::nullopt;
  }
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < n.arity; ++i) operands.push_back(viewed(operand(value, i), map));
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
  const Operand operand = viewed(from, whole);
  return made(n.op, n.dtype, {&operand, 1}, ReduceAxes{axes, false}.bits());
}

Operand Differentiator::evaluated(Operand value) {
  const Recorded part = taken({&value, 1});
  runtime::TensorRef result;
  evaluate_recorded(part, &result, Mode::Fused);
  return add_leaf(std::move(result));
}

// ---- Results

std::optional<Operand> Differentiator::of_leaf(std::uint32_t leaf) const {
  for (std::size_t id = 0; id < gradients_.size(); ++id) {
    const Node& n = recorded_.graph.nodes()[id];
    if (n.op == Op::leaf && n.attribute == leaf) return gradients_[id];
  }
  return std::nullopt;
}

bool Differentiator::is_reached(std::uint32_t leaf) const {
  for (std::size_t id = 0; id < reached_.size(); ++id) {
    const Node& n = recorded_.graph.nodes()[id];
    if ((n.op == Op::leaf || n.op == Op::array) && n.attribute == leaf && reached_[id]) return true;
  }
  return false;
}

std::vector<Differentiator::Gathered> Differentiator::of_array(std::uint32_t leaf) const {
  std::vector<Gathered> found;
  for (const Operand load : loads_)
    if (node(operand(load, 0)).attribute == leaf)
      found.push_back({operand(load, 1), *gradients_[static_cast<std::size_t>(load.node)]});
  return found;
}

}  // namespace sinter::inline v1::jit

#include "differentiator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <sinter/runtime/error.hpp>
#include "../functions/functions.hpp"
#include "../infer/shapes.hpp"
#include "../passes/composite.hpp"
#include "derivatives.hpp"

namespace sinter::inline v1::jit {
namespace {

using terms::slopes::Slope;

bool is_differentiable(DType dtype) noexcept { return category(dtype) >= Category::Float; }

[[noreturn]] void throw_no_derivative(const Node& n, std::size_t operand) {
  throw Error(fmt::format(
      "grad: {} has no derivative with respect to its operand {}\n  If the gradient is not to flow through it, take "
      "stop_gradient of that operand",
      operation_name(n), operand + 1));
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

Operand Differentiator::add_leaf(runtime::TensorRef tensor, std::shared_ptr<const Origin> origin) {
  const auto number = static_cast<std::uint32_t>(recorded_.leaves.size());
  const bool lacks_memory = runtime::lacks_memory(*tensor);
  const Operand leaf = lacks_memory ? recorded_.graph.iota(number) : recorded_.graph.leaf(tensor->dtype, number);
  if (origin) {
    recorded_.origins.resize(number);
    recorded_.origins.push_back(std::move(origin));
  }
  leaf_shapes_.push_back(tensor->shape);
  recorded_.leaves.push_back(tensor.get());
  recorded_.held.push_back(std::move(tensor));
  update_shapes();
  return leaf;
}

std::shared_ptr<const Origin> Differentiator::origin(std::size_t leaf) const {
  return leaf < recorded_.origins.size() ? recorded_.origins[leaf] : nullptr;
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
    case Op::broadcast_like: return add(operand(value, 0), sum_to_shape(shape(operand(value, 0)), g, shape(value)));
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
  if (kind == Reduction::Reduces && !along.keeps)
    g = apply_axis_map(g, AxisMap::restoring(along.axes, elements.ndim()));
  const std::vector<Slope> slopes = slopes_of(recorded_.graph, value.node, g);
  update_shapes();
  for (std::size_t i = 0; i < n.arity; ++i) {
    const Operand to = operand(value, i);
    if (!needed_[static_cast<std::size_t>(to.node)]) continue;
    const Slope slope = i < slopes.size() ? slopes[i] : Slope(Slope::Kind::None);
    if (slope.kind == Slope::Kind::None || slope.kind == Slope::Kind::Body) throw_no_derivative(n, i);
    if (slope.kind == Slope::Kind::Zero) continue;
    const Shape& from = kind == Reduction::None ? shape(value) : elements;
    add(to, sum_to_shape(shape(to), slope.value.operand, from));
  }
}

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

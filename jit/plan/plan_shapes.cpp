#include "plan_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <sinter/runtime/error.hpp>
#include "../infer/shapes.hpp"
#include "product.hpp"

namespace sinter::inline v1::jit {
namespace {

bool is_output(const Slot& s) noexcept { return s.kind == Slot::Kind::Output; }

}  // namespace

Shape shape_by_inputs(const Kernel& kernel, Leaves leaves, std::span<const Shape> temporaries) {
  const auto shape_of = [&](const Slot& s) -> const Shape& {
    return s.kind == Slot::Kind::Leaf ? leaves[s.number]->shape : temporaries[s.number];
  };
  if (kernel.is_product) return product_shape(kernel, shape_of(kernel.inputs[0]), shape_of(kernel.inputs[1]));
  Shape whole;
  const auto add = [&](const Slot& s) {
    if (s.kind == Slot::Kind::Array) return;
    const Shape& with = shape_of(s);
    if (whole.empty())
      whole = with;
    else if (!(whole == with) && !broadcast(whole, with))
      throw ShapeError("the operands of " + kernel.name + " do not broadcast");
  };
  for (std::size_t i = 0; i < kernel.inputs.size(); ++i)
    if (!kernel.rows || kernel.rows->axis_mapping[kernel.outputs.size() + i] != AxisMapping::Rows)
      add(kernel.inputs[i]);
  if (kernel.rows)
    for (const Slot& s : kernel.rows->domain) add(s);
  return whole;
}

Shape output_shape(const Kernel& kernel, std::size_t output, const Shape& shape) {
  if (!kernel.rows || kernel.rows->axis_mapping[output] == AxisMapping::Domain) return shape;
  return reduced_shape(shape, {kernel.rows->axes, kernel.rows->axis_mapping[output] == AxisMapping::Kept});
}

PlanShapes plan_shapes(const Plan& plan, const Shape* outputs, Leaves leaves) {
  PlanShapes shapes{{}, std::vector<Shape>(plan.temporaries.size()), std::vector<Shape>(plan.graph.outputs().size())};
  for (const Kernel& k : plan.kernels) {
    const bool as_outputs = outputs && std::ranges::any_of(k.outputs, is_output);
    shapes.kernels.push_back(as_outputs ? *outputs : shape_by_inputs(k, leaves, shapes.temporaries));
    for (std::size_t i = 0; i < k.outputs.size(); ++i)
      (is_output(k.outputs[i]) ? shapes.outputs : shapes.temporaries)[k.outputs[i].number] =
          output_shape(k, i, shapes.kernels.back());
  }
  return shapes;
}

void check_same_shapes(const Graph& recorded, Leaves leaves, std::span<const Shape> found) {
  const std::vector<Shape> shapes = shapes_of(recorded, shapes_of_leaves(leaves));
  for (std::uint32_t i = 0; i < recorded.outputs().size(); ++i) {
    const Shape& right = shapes[static_cast<std::size_t>(recorded.outputs()[i].node)];
    if (!(found[i] == right))
      throw Error(
          fmt::format("internal error: output {} has shape {}, and its plan would give {}\n  This is a bug in "
                      "Sinter: please report it, with what e.explain() prints. SINTER_FUSION=off in the "
                      "environment evaluates without such plans",
                      i, to_string(right), to_string(found[i])));
  }
}

}  // namespace sinter::inline v1::jit

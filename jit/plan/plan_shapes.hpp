// The shapes that a plan meets with given leaves.
#pragma once
#include <vector>

#include "../graph/leaves.hpp"
#include "plan.hpp"

namespace sinter::inline v1::jit {

struct PlanShapes {
  std::vector<Shape> kernels;  // that they run over: of one that reduces, its domain
  std::vector<Shape> temporaries, outputs;
};

/// The shape that a kernel runs over by its inputs: all of an elementwise one. `temporaries` are those written so far.
Shape shape_by_inputs(const Kernel& kernel, Leaves leaves, std::span<const Shape> temporaries = {});

/// The shape of an output of a kernel that runs over this one.
Shape output_shape(const Kernel& kernel, std::size_t output, const Shape& shape);

/// `outputs` is the shape of the outputs, where the plan does not reduce; else null.
PlanShapes plan_shapes(const Plan& plan, const Shape* outputs, Leaves leaves);

/// Throws Error where an output of what was recorded has another shape than what stands for it, a plan or a graph that
/// is left, would give: a bug in this library, which must not become a result.
void check_same_shapes(const Graph& recorded, Leaves leaves, std::span<const Shape> found);

}  // namespace sinter::inline v1::jit

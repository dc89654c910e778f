// The shapes of a plan's kernels and temporaries for given leaves.
#pragma once
#include <vector>

#include "../graph/leaves.hpp"
#include "plan.hpp"

namespace sinter::inline v1::jit {

struct PlanShapes {
  std::vector<Shape> kernels;  // the shape that each runs over; if it reduces, its domain
  std::vector<Shape> temporaries, outputs;
};

/// The shape that a kernel's inputs broadcast to, over which an elementwise kernel runs. `temporaries` are those
/// written so far.
Shape shape_by_inputs(const Kernel& kernel, Leaves leaves, std::span<const Shape> temporaries = {});

/// The shape of an output of a kernel that runs over `shape`.
Shape output_shape(const Kernel& kernel, std::size_t output, const Shape& shape);

/// `outputs` is the shape of the outputs of a plan for all shapes; null for any other plan.
PlanShapes plan_shapes(const Plan& plan, const Shape* outputs, Leaves leaves);

/// Throws Error if the recorded graph gives an output a shape other than `found`, that of its plan or of its remaining
/// graph: a bug in this library, which must not become a wrong result.
void check_same_shapes(const Graph& recorded, Leaves leaves, std::span<const Shape> found);

}  // namespace sinter::inline v1::jit

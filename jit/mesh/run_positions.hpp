// One evaluation on each position of a mesh that this process has.
#pragma once
#include <limits>
#include <vector>

#include "../run/runner.hpp"
#include "placement.hpp"

namespace sinter::inline v1::jit {

/// Where one result of an evaluation on a mesh goes.
struct Result {
  int axis = whole;          // in pieces along this axis, from the end
  runtime::TensorRef array;  // on the mesh; null: each position makes its own, see PositionResults
};

/// By result, then by position of this process.
using PositionResults = std::vector<std::vector<runtime::TensorRef>>;

/// Runs the recipe on each position, with the leaves' pieces as `placements` says, and results that go to `results`
/// where these have an array. The same kernels serve all positions. When one throws the others still run, then the
/// first error is thrown. `call` is the evaluation on the mesh; its outputs are not looked at.
/// Positions from `positions` on, which have no rows, are left out: their results are null.
PositionResults run_positions(const Recipe& recipe, const Call& call, const Mesh& mesh, std::span<const int> leaf_axes,
                              std::span<const Result> results, int positions = std::numeric_limits<int>::max());

/// A new one on the mesh, in pieces along an axis counted from the end, or on every position.
runtime::TensorRef empty_placed(const Shape& shape, int axis, DType dtype, Device mesh);

}  // namespace sinter::inline v1::jit

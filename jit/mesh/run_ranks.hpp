// One evaluation on each of this process's ranks of a mesh.
#pragma once
#include <limits>
#include <vector>

#include "../run/runner.hpp"
#include "placement.hpp"

namespace sinter::inline v1::jit {

/// The destination of one result of an evaluation on a mesh.
struct Result {
  int axis = no_axis;        // sharded along this axis, from the end
  runtime::TensorRef array;  // on the mesh; null: each rank makes its own, see RankResults
};

/// By result, then by rank of this process; empty for a result that has an array.
using RankResults = std::vector<std::vector<runtime::TensorRef>>;

/// Runs the compiled graph on each rank, with its shards of the leaves, sliced along `leaf_axes` (see Placements), and
/// writes to the arrays of `results` if given. If a rank throws, the others still run,
/// then the first error is thrown. `call` is the evaluation on the mesh; its outputs are ignored. Ranks without rows,
/// which are those from `ranks` on, are skipped: their results are null.
RankResults run_ranks(const CompiledGraph& compiled, const Call& call, const Mesh& mesh, std::span<const int> leaf_axes,
                      std::span<const Result> results, int ranks = std::numeric_limits<int>::max());

/// A new array on the mesh, sharded along an axis counted from the end, or replicated.
runtime::TensorRef empty_placed(const Shape& shape, int axis, DType dtype, Device mesh);

}  // namespace sinter::inline v1::jit

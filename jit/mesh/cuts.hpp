// Where the graph of an evaluation on a mesh is cut: the partial results of each rank, and how they are combined.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "mesh_plan.hpp"
#include "placement.hpp"

namespace sinter::inline v1::jit {

/// A graph that is cut.
struct CutGraph {
  const Graph& graph;
  std::span<const Shape> shapes;  // of its nodes
  Mesh mesh;
  std::int64_t expression;  // what processes compare of the whole evaluation
};

/// The values without a cut that these cuts depend on, as does what follows them, and that take longer to compute again
/// than to keep. So work grows with the length of a chain of sums, not with its square. No 16-bit values, which keeping
/// would round.
std::vector<NodeId> kept_values(const Graph& graph, const Placements& placed, std::span<const Cut> cuts);

/// The graph that computes a rank's partial results for these cuts, in the shapes of the whole results, and the values
/// that are kept.
Graph parts_graph(const Graph& graph, std::span<const Cut> cuts, std::span<const NodeId> kept);

/// How many ranks compute a part of the cut, the first ones: an empty shard has no largest element.
int ranks_of(const CutGraph& c, const Cut& cut);

/// How the partial results of a cut are combined. `value` and `output` are not set.
StepResult result_of(const CutGraph& c, const Cut& cut);
/// How many outputs of the parts' graph are the result's.
std::uint32_t part_count(const StepResult& result) noexcept;

/// The numbers by which processes detect that they combine different things.
std::vector<std::int64_t> subject_of(const CutGraph& c, const Cut& cut);

}  // namespace sinter::inline v1::jit

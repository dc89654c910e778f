// Where the graph of an evaluation on a mesh is cut: the partial results of each rank, and how they are combined.
#pragma once
#include <cstdint>
#include <span>

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

/// The graph that computes a rank's partial results for these cuts, in the shapes of the whole results.
Graph parts_graph(const Graph& graph, std::span<const Cut> cuts);

/// How many ranks compute a part of the cut, the first ones: an empty shard has no largest element.
int ranks_of(const CutGraph& c, const Cut& cut);

/// How the partial results of a cut are combined. `value` and `output` are not set.
CombinedCut combined(const CutGraph& c, const Cut& cut);
/// How many outputs of the parts' graph are the cut's.
std::uint32_t part_count(const CombinedCut& cut) noexcept;

/// The numbers by which processes detect that they combine different things.
std::vector<std::int64_t> subject_of(const CutGraph& c, const Cut& cut);

}  // namespace sinter::inline v1::jit

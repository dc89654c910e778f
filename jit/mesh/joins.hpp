// What positions exchange in the middle of an evaluation.
#pragma once
#include <vector>

#include "../run/runner.hpp"
#include "placement.hpp"

namespace sinter::inline v1::jit {

/// What stands for a cut: a tensor of which every position has all, of the node's shape. Where the node counts, it is
/// an index tensor of the operand's shape, from which every position can tell.
struct Joined {
  runtime::TensorRef value;
  bool counts = false;
};

/// The evaluation that is cut.
struct CutCall {
  const Graph& graph;
  std::span<const Shape> shapes;  // of its nodes
  const Call& call;               // with the leaves that the graph has now
  Mesh mesh;
  bool eager;
};

/// One for each cut: each position computes its part of all cuts in one evaluation, then the mesh's communicator joins
/// them. Sums are added up, those of 16-bit floats in float32; of everything else every position gets all parts and
/// combines them, in the order of positions. Nothing is told where `call` does not run.
std::vector<Joined> join_cuts(const CutCall& call, std::span<const Cut> cuts);

}  // namespace sinter::inline v1::jit

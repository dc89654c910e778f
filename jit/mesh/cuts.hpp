// Communication between ranks in the middle of an evaluation.
#pragma once
#include <vector>

#include "../run/runner.hpp"
#include "placement.hpp"

namespace sinter::inline v1::jit {

/// The replacement of a cut: a replicated tensor of the node's shape. For Op::count it is an iota tensor of the
/// operand's shape, from which each rank computes the count.
struct CombinedCut {
  runtime::TensorRef value;
  bool counts = false;
};

/// An evaluation whose graph is cut.
struct CutCall {
  const Graph& graph;
  std::span<const Shape> shapes;  // of its nodes
  const Call& call;               // with the graph's current leaves
  Mesh mesh;
  bool eager;
  std::int64_t expression;  // compared with other processes: see expression_of
};

/// One result for each cut: each rank computes its partial results of all cuts in one evaluation, then the mesh's
/// communicator combines them. Sums are all-reduced in buckets, those of 16-bit floats in float32; everything else is
/// all-gathered, and each rank combines the parts in rank order. No communication takes place if `call` does not run.
std::vector<CombinedCut> combine_cuts(const CutCall& call, std::span<const Cut> cuts);

}  // namespace sinter::inline v1::jit

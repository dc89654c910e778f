// How the ranks of a mesh evaluate a graph: what each of them computes, and what they combine in between.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "../run/runner.hpp"
#include "buckets.hpp"
#include "placement.hpp"

namespace sinter::inline v1::jit {

/// An evaluation on each rank. Its leaves are some of the mesh's values: the leaves of the whole evaluation, then what
/// steps left.
struct RankEvaluation {
  std::shared_ptr<const CompiledGraph> compiled;  // null for the graph of the whole evaluation
  std::vector<std::uint32_t> leaves;              // the numbers of these values
  std::vector<int> leaf_axes;                     // by leaf: the axis along which ranks slice it; see Placements
};

/// A value that a step leaves for later ones: what ranks computed for one cut, or shards that are kept.
struct StepResult {
  enum class Kind : std::uint8_t {
    Sum,        // all-reduced in a bucket
    Copies,     // the ranks' own values, which are equal
    Reduction,  // all-gathered; each rank then reduces the parts in rank order
    Count,      // follows from the shape: an iota tensor of the operand's shape, from which each rank computes it
    Shards,     // as ranks computed them: later steps read the value instead of computing it again
  } kind;
  Op op;
  std::uint32_t value;   // its number among the mesh's values
  std::uint32_t output;  // of the evaluation of parts: its first
  Shape shape;
  DType dtype;         // of the parts
  int axis = no_axis;  // of shards

  /// Of a reduction.
  struct Gathered {
    std::vector<DType> parts;                       // of each array that is gathered
    std::vector<std::int64_t> counts;               // elements of each rank; none from a rank without rows
    std::int64_t rows = 0;                          // ranks that have some
    std::shared_ptr<const CompiledGraph> compiled;  // over the gathered arrays, (rows, elements)
    bool numbers_ranks = false;                     // its last leaf is an iota tensor, (rows, 1)
    std::vector<std::int64_t> subject;              // what processes compare
  };
  std::optional<Gathered> gathered;
};

/// What the same ranks compute in one evaluation and then combine.
struct MeshStep {
  std::optional<RankEvaluation> parts;  // none if there is nothing to compute
  int ranks;                            // the first ones, which have rows
  std::size_t outputs;
  std::vector<StepResult> results;

  std::vector<std::uint32_t> sums;      // indices of those that are sums, in the order in which ranks complete them
  std::vector<PartialSum> sum_parts;    // of `sums`
  std::vector<Bucket> buckets;          // of `sums`
  std::vector<std::int64_t> sums_name;  // what processes compare
};

/// An output of the mesh's evaluation.
struct MeshOutput {
  Shape shape;
  int axis = no_axis;                  // sharded along it, from the end
  bool is_copied = false;              // into the caller's tensor, which is placed in another way
  std::optional<std::uint32_t> value;  // it is this value, which nothing else has: no rank computes anything
};

struct MeshPlan {
  std::vector<std::uint32_t>
      last_uses;  // by value: the last step that reads it; steps.size() if `last` or the user does
  std::vector<MeshStep> steps;
  std::optional<RankEvaluation> last;  // of the outputs that are no value
  std::vector<MeshOutput> outputs;
};

/// Makes the plan for these leaves and outputs, of which it depends on shapes and placements only. Throws what
/// check_shapes, place and check_output throw.
MeshPlan plan_on_mesh(const CompiledGraph& compiled, const Call& call);

}  // namespace sinter::inline v1::jit

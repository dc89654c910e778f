// The order in which the values of a kernel that reduces are computed.
#pragma once
#include <vector>

#include "online_sums.hpp"
#include "plan.hpp"

namespace sinter::inline v1::jit {

/// Each stage is one pass over a row that ends with the results of its reductions, which later stages read. Outputs
/// that have a value per element are computed in the last stage's pass or, if they need its results, in a final pass.
/// With `online`, sums that can be computed in their base's pass (OnlineSum) are, if that saves a pass.
struct RowStages {
  explicit RowStages(const Kernel& kernel, bool online = false);

  /// Whether a value is computed once per row: it depends only on reductions, scalars and per-row inputs.
  bool is_per_row(Operand o) const noexcept { return per_row[static_cast<std::size_t>(o.node)]; }
  /// For a reduction, the stage that computes it; for any other value, the number of stages that must finish before it
  /// can be computed.
  int stage_of(Operand o) const noexcept { return stage[static_cast<std::size_t>(o.node)]; }

  int count = 0;                 // number of stages, without the final pass
  bool writes_elements = false;  // whether outputs have a value per element
  bool has_final_pass = false;   // whether these need a pass of their own
  std::vector<bool> per_row;
  std::vector<int> stage;
  std::vector<OnlineSum> online;  // sums that are computed in the stage of their base

 private:
  void join(const Graph& graph);
  bool need_final_pass(const Kernel& kernel) const;
};

/// Whether an output has one element per element of the domain, even if they are equal within a row.
bool is_element_output(const Kernel& kernel, std::size_t output) noexcept;

/// Whether executors compute this reduction from elements: all but Op::count, which follows from the shape.
inline bool combines(const Node& n) noexcept { return is_reduction(n.op) && n.op != Op::count; }

}  // namespace sinter::inline v1::jit

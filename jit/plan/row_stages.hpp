// The order in which the values of a kernel that reduces are computed.
#pragma once
#include <vector>

#include "online_sums.hpp"
#include "plan.hpp"

namespace sinter::inline v1::jit {

/// Each stage is one pass over a row that ends with the results of its reductions, which later stages read. If outputs
/// have a value per element, a final pass after the last stage computes them. With `online`, sums that can be computed
/// in their base's pass (OnlineSum) are, if that saves a pass.
struct RowStages {
  explicit RowStages(const Kernel& kernel, bool online = false);

  /// Whether a value is computed once per row: it depends only on reductions, scalars and per-row inputs.
  bool is_per_row(Operand o) const noexcept { return per_row[static_cast<std::size_t>(o.node)]; }
  /// For a reduction, the stage that computes it; for any other value, the number of stages that must finish before it
  /// can be computed.
  int stage_of(Operand o) const noexcept { return stage[static_cast<std::size_t>(o.node)]; }

  int count = 0;                // number of stages, without the final pass
  bool has_final_pass = false;  // whether there is a final pass
  std::vector<bool> per_row;
  std::vector<int> stage;
  std::vector<OnlineSum> online;  // sums that are computed in the stage of their base

 private:
  void join(const Graph& graph);
};

/// Whether executors compute this reduction from elements: all but Op::count, which follows from the shape.
inline bool combines(const Node& n) noexcept { return is_reduction(n.op) && n.op != Op::count; }

}  // namespace sinter::inline v1::jit

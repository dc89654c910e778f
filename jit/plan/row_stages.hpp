// In which order the values of a kernel that reduces are computed.
#pragma once
#include <vector>

#include "online_sums.hpp"
#include "plan.hpp"

namespace sinter::inline v1::jit {

/// A pass through a row is a stage: it ends with the results of its reductions, which later stages read. After the last
/// one a final pass computes what outputs ask for each element, where one does. `online`: sums that can be found in the
/// pass of their lead are, where that spares a pass.
struct RowStages {
  explicit RowStages(const Kernel& kernel, bool online = false);

  /// One value for each row, not for each element: of what depends on reductions, numbers and inputs of that kind
  /// alone.
  bool is_per_row(Operand o) const noexcept { return per_row[static_cast<std::size_t>(o.node)]; }
  /// Of a reduction: the stage that ends with it. Of another value: how many stages must be over before it is computed.
  int stage_of(Operand o) const noexcept { return stage[static_cast<std::size_t>(o.node)]; }

  int count = 0;              // of stages, without the final pass
  bool passes_after = false;  // whether an output has a value for each element
  std::vector<bool> per_row;
  std::vector<int> stage;
  std::vector<OnlineSum> online;  // those that end with the stage of their lead

 private:
  void join(const Graph& graph);
};

/// Whether the node is a reduction that executors compute from elements; Op::count they know from the shape.
inline bool combines(const Node& n) noexcept { return is_reduction(n.op) && n.op != Op::count; }

}  // namespace sinter::inline v1::jit

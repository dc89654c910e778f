// The kernel of a group of reductions.
#pragma once
#include <vector>

#include "plan_builder.hpp"
#include "row_groups.hpp"

namespace sinter::inline v1::jit {

/// The slots of a graph's values while its row groups are scheduled.
class ValueSlots {
 public:
  ValueSlots(const RowGroups& groups, PlanBuilder& plan)
      : groups_(groups), plan_(plan), temporaries_(static_cast<std::size_t>(groups.count()), -1) {}

  /// Whether a kernel has written the value to a temporary.
  bool is_written(NodeId id) const { return temporaries_[static_cast<std::size_t>(id)] >= 0; }
  /// The slot of a leaf, index or array node, or of a value that was written.
  Slot operator[](NodeId id) const;
  /// Allocates a temporary for the value.
  Slot add(NodeId id);

 private:
  const RowGroups& groups_;
  PlanBuilder& plan_;
  std::vector<int> temporaries_;
};

/// The kernel of group g: computes its reductions and outputs, and writes what other kernels read to new temporaries.
/// Everything that it reads must have been written.
Kernel group_kernel(const RowGroups& groups, std::size_t g, ValueSlots& slots);

}  // namespace sinter::inline v1::jit

// The kernel of a group of reductions.
#pragma once
#include <vector>

#include "plan_builder.hpp"
#include "row_groups.hpp"

namespace sinter::inline v1::jit {

/// Where a graph's values are, while a plan of its groups is made.
class ValueSlots {
 public:
  ValueSlots(const RowGroups& groups, PlanBuilder& plan)
      : groups_(groups), plan_(plan), temporaries_(static_cast<std::size_t>(groups.count()), -1) {}

  /// Whether a kernel has written it to a temporary.
  bool is_written(NodeId id) const { return temporaries_[static_cast<std::size_t>(id)] >= 0; }
  /// Of a leaf, an index or an array, or of what is written.
  Slot operator[](NodeId id) const;
  /// A new temporary for it.
  Slot add(NodeId id);

 private:
  const RowGroups& groups_;
  PlanBuilder& plan_;
  std::vector<int> temporaries_;
};

/// The kernel of group g: its reductions, its outputs, and in new temporaries what other kernels read. All that it
/// reads is written.
Kernel group_kernel(const RowGroups& groups, std::size_t g, ValueSlots& slots);

}  // namespace sinter::inline v1::jit

// Which elementwise values of a graph that reduces are materialized: those that several kernels or passes need, if
// recomputing them in each costs more than storing them once.
#pragma once
#include <compare>
#include <vector>

#include "fanout_free_cones.hpp"
#include "row_groups.hpp"

namespace sinter::inline v1::jit {

/// The search, once reductions and outputs have their groups. It visits readers before what they read, because what
/// only a materialized value needs is computed once.
class CostlyValues {
 public:
  explicit CostlyValues(const RowGroups& groups);
  std::vector<NodeId> find();

 private:
  /// Where a value is computed: in a pass of a group's kernel, or in an elementwise kernel (of no_group).
  struct Place {
    int group, number;
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  void find_passes();
  void place_outputs();
  void place_operands(NodeId id);
  void place(NodeId id, const Place& in);
  bool is_computed_once_per_row(NodeId id, const Place& in) const;
  const Shape& domain(const Place& of) const;

  bool is_candidate(NodeId id) const;
  bool is_costly(NodeId id);
  void materialize(NodeId id);

  const RowGroups& groups_;
  FanoutFreeCones cones_;
  std::vector<std::vector<Place>> places_;  // by node, ascending
  std::vector<int> pass_;                   // by node: in which pass its group computes a reduction
  std::vector<std::size_t> inputs_;         // by group
  std::vector<NodeId> found_;
};

}  // namespace sinter::inline v1::jit

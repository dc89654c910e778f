// Which elementwise values are materialized: those that several kernels need, or one for many rows, if recomputing them
// costs more than storing them once. Passes of one kernel share values without memory.
#pragma once
#include <boost/container/small_vector.hpp>
#include <compare>
#include <vector>

#include "fanout_free_cones.hpp"
#include "row_groups.hpp"

namespace sinter::inline v1::jit {

/// The search, once reductions and outputs have their groups. It visits readers before what they read, because what
/// only a materialized value needs is computed once.
class CostlyValues {
 public:
  CostlyValues(const RowGroups& groups, RowValues rows);
  std::vector<NodeId> find();

 private:
  /// A kernel that computes a value: a group's, or an elementwise one (of no_group), which has a node's number.
  struct Place {
    int group;
    NodeId number;
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  using Places = boost::container::small_vector<Place, 2>;  // ascending

  void place_outputs();
  void place_operands(NodeId id);
  void place(NodeId id, const Place& in);
  bool is_computed_once_per_row(NodeId id, const Place& in) const;
  const Shape& domain(const Place& of) const;

  bool is_candidate(NodeId id) const;
  bool is_costly(NodeId id);
  void materialize(NodeId id);

  const RowGroups& groups_;
  const RowValues rows_;
  FanoutFreeCones cones_;
  std::vector<Places> places_;       // by node
  std::vector<std::size_t> inputs_;  // by group
  std::vector<NodeId> found_;
};

}  // namespace sinter::inline v1::jit

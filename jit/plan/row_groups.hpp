// Which reductions of a graph share a kernel, and what else that kernel computes. A group consists of reductions over
// one domain along the same axes; its kernel also computes their operands and, if they fit the domain, values that
// depend on their results. Kernels of different groups exchange only results of reductions and values computed from
// those alone. A value with one element per element of the domain is recomputed by each kernel and pass that reads it,
// unless the cost model says that storing it takes less time.
#pragma once
#include <algorithm>
#include <boost/dynamic_bitset.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "../graph/node_set.hpp"
#include "fanout_free_cones.hpp"
#include "plan.hpp"

namespace sinter::inline v1::jit {

/// A set of group numbers; numbers past its size are not in it.
using GroupSet = boost::dynamic_bitset<std::uint64_t>;

/// Reductions that share a kernel.
struct RowGroup {
  Shape domain;
  std::uint8_t axes;  // ReduceAxes::axes
  std::vector<NodeId> reductions;
  std::vector<std::size_t> outputs;  // the evaluation's outputs that its kernel computes
  std::vector<NodeId> made;          // values that depend only on the group's results and have their shape
  std::vector<NodeId> inputs;        // tensors that the reductions read, ascending
  GroupSet after;                    // all groups that must run before, transitively
  bool is_followed = false;          // some group must run after it
  int weight = 0;

  /// The domain with reduced axes of extent 1 (kept), and without them (rows).
  Shape kept() const { return reduced_shape(domain, {axes, true}); }
  Shape rows() const { return reduced_shape(domain, {axes, false}); }
  /// Whether results without the reduced axes broadcast to the domain as if the axes were kept: all axes before them
  /// are reduced, too.
  bool is_leading() const;
  /// Whether a tensor of this shape has one element per row.
  bool is_per_row(const Shape& shape) const;
};

/// How a value corresponds to a group's domain, by its shape and by what it is computed from.
struct Fit {
  bool domain = true;    // it broadcasts to the domain
  bool rows = true;      // it broadcasts to the domain without the reduced axes
  bool element = false;  // its elements differ within a row
};

/// The nodes that a value is computed from in one kernel: up to results of other groups and stored values.
struct BackwardSlice {
  std::vector<NodeId> needed;  // ascending
  int weight = 0, inputs = 0;

  /// The index in `needed` of a node that is in it.
  std::size_t place(NodeId id) const;
};

/// The groups of a simplified graph; none if it does not reduce.
class RowGroups {
 public:
  static constexpr int no_group = -1;

  /// Keeps a reference to `graph`. Throws what shapes_of throws.
  RowGroups(const Graph& graph, std::span<const Shape> leaves, RowValues rows);

  const Graph& graph() const noexcept { return graph_; }
  NodeId count() const noexcept { return static_cast<NodeId>(nodes_.size()); }
  const Node& node(NodeId id) const { return graph_.nodes()[static_cast<std::size_t>(id)]; }
  const Shape& shape(NodeId id) const { return shapes_[static_cast<std::size_t>(id)]; }
  NodeId operand(NodeId id) const { return graph_.operands(node(id))[0].node; }
  /// The operands that a value is computed from, without those that only determine its shape.
  std::span<const Operand> values_of(NodeId id) const { return jit::values_of(graph_, node(id)); }
  NodeId output(std::size_t number) const { return graph_.outputs()[number].node; }

  std::size_t size() const noexcept { return groups_.size(); }
  const RowGroup& operator[](std::size_t g) const { return groups_[g]; }
  /// Outputs that no group computes.
  const std::vector<std::size_t>& rest() const noexcept { return rest_; }

  /// The group of a reduction; no_group for other nodes.
  int group_of(NodeId id) const { return state(id).group; }
  /// The group whose kernel provides a value to others: that of a reduction, or the one on whose results the value
  /// depends.
  int owner(NodeId id) const { return std::max(state(id).group, state(id).made_in); }
  /// Whether a separate elementwise kernel computes it, for readers that do not have to run before.
  bool is_materialized(NodeId id) const { return state(id).materialized; }
  /// Whether a group must run before the value can be computed.
  bool depends_on(NodeId id, int group) const;
  /// Whether a temporary holds it.
  bool is_stored(NodeId id) const { return state(id).stored; }
  /// Whether a kernel of `group` reads it from memory.
  bool is_boundary(NodeId id, int group) const {
    const int from = owner(id);
    return (from >= 0 && from != group) || (is_materialized(id) && !depends_on(id, group));
  }

  /// The backward slice of `roots` in a kernel of `group` (`no_group`: an elementwise kernel), up to boundaries. With
  /// `computes`, the roots themselves do not count as boundaries.
  BackwardSlice backward_slice(std::span<const NodeId> roots, int group, bool computes = false) const;
  /// The Fit of each node in BackwardSlice::needed.
  std::vector<Fit> fits(const BackwardSlice& c, std::size_t g) const;
  /// How an output of a group's kernel corresponds to its domain; nullopt if the kernel cannot compute it.
  std::optional<AxisMapping> axis_mapping_of(NodeId id, const Fit& f, std::size_t g) const;
  /// The values that a group's kernel computes for others: reductions, outputs, stored values.
  std::vector<NodeId> roots(std::size_t g) const;
  /// The tensors that determine a value's shape: leaves, and results of other groups.
  std::vector<NodeId> shape_sources(NodeId value, int group) const;

 private:
  struct NodeState {
    GroupSet after;             // the groups that it depends on, transitively
    int group = -1;             // of a reduction
    int made_in = -1;           // for a value that depends only on one group's results and has their shape: that group
    bool materialized = false;  // computed by a separate elementwise kernel
    bool stored = false;        // a temporary holds it
  };

  NodeState& state(NodeId id) { return nodes_[static_cast<std::size_t>(id)]; }
  const NodeState& state(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  /// nullopt if the backward slice exceeds one kernel's weight limit.
  std::optional<BackwardSlice> small_backward_slice(NodeId root, int group) const;
  bool gather(BackwardSlice& c, std::span<const NodeId> roots, int group, bool computes, int most) const;
  std::vector<NodeId> inputs_of(const BackwardSlice& c, int group) const;

  void join_groups(NodeId id);
  bool may_follow(std::size_t g, const GroupSet& others) const;
  void follow(std::size_t g, const GroupSet& others);
  void add_reduction(NodeId id);
  bool joins(std::size_t g, NodeId from, const GroupSet& after, const BackwardSlice& needs,
             const std::vector<NodeId>& inputs) const;
  std::size_t group_for(NodeId id, const BackwardSlice& needs, const std::vector<NodeId>& inputs);
  void materialize(NodeId id);
  void place_output(std::size_t number);
  bool place_output_in(std::size_t g, std::size_t number);
  std::vector<std::size_t> groups_for(NodeId output) const;
  void materialize_costly_values(RowValues rows);
  void find_readers();
  void find_stored();
  void mark_shape_sources(NodeId value, int group);

  const Graph& graph_;
  const std::vector<Shape> shapes_;
  std::vector<NodeState> nodes_;
  std::vector<RowGroup> groups_;
  std::map<std::vector<std::int64_t>, std::vector<std::size_t>> alike_;  // groups by reduced axes and domain
  std::map<NodeId, std::vector<std::size_t>> readers_;  // groups that read a leaf with their domain's shape
  mutable NodeSet seen_;                                // scratch space of searches
  std::vector<std::size_t> rest_;
};

}  // namespace sinter::inline v1::jit

// Which reductions of a graph share a kernel, and what else this kernel computes. Reductions of one domain along the
// same axes are a group, with what is computed for them and, where it lies in the domain, from them. Only results of
// reductions, and what is made of these alone, pass from one group to another: what is computed for each element is
// computed again where it is read again, which takes less time than storing it.
#pragma once
#include <boost/dynamic_bitset.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "../graph/node_set.hpp"
#include "plan.hpp"

namespace sinter::inline v1::jit {

/// Groups by number; those past its size are not in it.
using GroupSet = boost::dynamic_bitset<std::uint64_t>;

/// Reductions that share a kernel.
struct RowGroup {
  Shape domain;
  std::uint8_t axes;  // that are reduced, as in ReduceAxes
  std::vector<NodeId> reductions;
  std::vector<std::size_t> outputs;  // of the evaluation
  std::vector<NodeId> made;          // what is made of results of the group alone, and has their shape
  std::vector<NodeId> inputs;        // what the reductions read, ascending
  GroupSet after;                    // groups that run before, all of them
  bool is_followed = false;          // another one runs after it
  int weight = 0;

  /// The domain with the reduced axes as extents of 1, and without them.
  Shape kept() const { return reduced_shape(domain, {axes, true}); }
  Shape rows() const { return reduced_shape(domain, {axes, false}); }
  /// Whether results without the reduced axes lie as if these were there: all axes before them are reduced, too.
  bool is_leading() const;
  /// Whether a tensor of this shape has one element for each row.
  bool is_per_row(const Shape& shape) const;
};

/// How a value lies in a group's domain, by shape and by what it is computed from.
struct Fit {
  bool domain = true;    // right-aligned, as broadcasting goes
  bool rows = true;      // in the domain without the axes that are reduced
  bool element = false;  // in the domain it differs from element to element of a row
};

/// What a value is computed from, up to reductions of other groups and what is stored.
struct Closure {
  std::vector<NodeId> needed;  // ascending
  int weight = 0, inputs = 0;

  /// Where in `needed` a node is that is there.
  std::size_t place(NodeId id) const;
};

/// The groups of a simplified graph that reduces.
class RowGroups {
 public:
  static constexpr int no_group = -1;

  /// Keeps a reference to `graph`. Throws what shapes_of throws.
  RowGroups(const Graph& graph, std::span<const Shape> leaves);

  const Graph& graph() const noexcept { return graph_; }
  NodeId count() const noexcept { return static_cast<NodeId>(nodes_.size()); }
  const Node& node(NodeId id) const { return graph_.nodes()[static_cast<std::size_t>(id)]; }
  const Shape& shape(NodeId id) const { return shapes_[static_cast<std::size_t>(id)]; }
  NodeId operand(NodeId id) const { return graph_.operands(node(id))[0].node; }
  /// The operands that a value is computed from: not those that only give it its shape.
  std::span<const Operand> values_of(NodeId id) const;
  NodeId output(std::size_t number) const { return graph_.outputs()[number].node; }

  std::size_t size() const noexcept { return groups_.size(); }
  const RowGroup& operator[](std::size_t g) const { return groups_[g]; }
  /// Outputs that no group computes.
  const std::vector<std::size_t>& rest() const noexcept { return rest_; }

  /// Of a reduction; else none.
  int group_of(NodeId id) const { return state(id).group; }
  /// The group that computes a value for others, too: that of a reduction, or the one whose results it is made of.
  int owner(NodeId id) const;
  /// Whether an elementwise kernel of its own computes it.
  bool is_materialized(NodeId id) const { return state(id).materialized; }
  /// Whether a temporary holds it.
  bool is_stored(NodeId id) const { return state(id).stored; }
  /// Whether a kernel of `group` reads it from memory.
  bool is_boundary(NodeId id, int group) const;

  /// Everything that these values are computed from in a kernel of `group` (`no_group`: in an elementwise one), up to
  /// boundaries; with `computes` these values are no boundaries themselves.
  Closure closure(std::span<const NodeId> roots, int group, bool computes = false) const;
  /// How what is needed lies in the group's domain, in the order of Closure::needed.
  std::vector<Fit> fits(const Closure& c, std::size_t g) const;
  /// How an output of a group's kernel lies; nothing where it cannot be one.
  std::optional<Over> over_of(NodeId id, const Fit& f, std::size_t g) const;
  /// What a group's kernel computes for others.
  std::vector<NodeId> roots(std::size_t g) const;
  /// Tensors that a value's shape comes from: leaves, and results of other groups.
  std::vector<NodeId> shape_sources(NodeId value, int group) const;

 private:
  struct NodeState {
    GroupSet after;             // the groups that it depends on
    int group = -1;             // of a reduction
    int made_in = -1;           // of a value that is made of a group's results alone, and has their shape: the group
    bool materialized = false;  // computed by an elementwise kernel of its own
    bool stored = false;        // a temporary holds it
  };

  NodeState& state(NodeId id) { return nodes_[static_cast<std::size_t>(id)]; }
  const NodeState& state(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  /// Nothing where one kernel would not hold it.
  std::optional<Closure> small_closure(NodeId root, int group) const;
  bool gather(Closure& c, std::span<const NodeId> roots, int group, bool computes, int most) const;
  std::vector<NodeId> inputs_of(const Closure& c, int group) const;

  void join_groups(NodeId id);
  bool may_follow(std::size_t g, const GroupSet& others) const;
  void follow(std::size_t g, const GroupSet& others);
  void add_reduction(NodeId id);
  bool joins(std::size_t g, NodeId from, const GroupSet& after, const Closure& needs,
             const std::vector<NodeId>& inputs) const;
  std::size_t group_for(NodeId id, const Closure& needs, const std::vector<NodeId>& inputs);
  void materialize(NodeId id);
  void place_output(std::size_t number);
  bool place_output_in(std::size_t g, std::size_t number);
  std::vector<std::size_t> groups_for(NodeId output) const;
  void find_readers();
  void find_stored();
  void mark_shape_sources(NodeId value, int group);

  const Graph& graph_;
  const std::vector<Shape> shapes_;
  std::vector<NodeState> nodes_;
  std::vector<RowGroup> groups_;
  std::map<std::vector<std::int64_t>, std::vector<std::size_t>> alike_;  // groups by axes and extents of the domain
  std::map<NodeId, std::vector<std::size_t>> readers_;  // groups that read a leaf in their whole domain
  mutable NodeSet seen_;                                // of the search that goes on
  std::vector<std::size_t> rest_;
};

}  // namespace sinter::inline v1::jit

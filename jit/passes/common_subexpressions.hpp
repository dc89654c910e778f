// Common subexpressions of a recorded graph: equal nodes, and C++ scalars that would make more of them equal.
#pragma once
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

/// Value numbering: equal nodes share an id.
class ValueNumbers {
 public:
  /// `id`, or the id of an equal node that was added before. `attribute` is the part of the node's attribute that is
  /// compared; `operands` are named by their ids.
  NodeId add(const Node& n, std::uint64_t attribute, std::span<const Operand> operands, NodeId id);

 private:
  using Words = boost::container::small_vector<std::uint64_t, 6>;
  struct HashWords {
    std::size_t operator()(const Words& words) const noexcept;
  };
  Words scratch_;
  std::unordered_map<Words, NodeId, HashWords> known_;
};

/// Values, shapes and errors are unchanged.
Graph eliminate_common_subexpressions(const Graph& graph);

/// Scalars in corresponding positions of two subgraphs that would be identical if these scalars were equal: 2 and 2, 1
/// and 1 in exp(x * 2 + 1) * exp(x * 2 + 1). Their values may change with each evaluation, so graphs keep them apart.
class EqualScalars {
 public:
  /// For each of the scalars that are compared, the first one of its group that is equal to it.
  using EqualityClasses = boost::container::small_vector<std::uint8_t, 32>;

  /// Scalars in `vary` are never merged.
  explicit EqualScalars(const Graph& graph, const std::set<std::uint32_t>& vary = {});
  /// Whether equal scalars never save work, as in almost every graph.
  bool is_trivial() const noexcept { return compared_.empty(); }
  EqualityClasses pattern(const Scalar* scalars) const;
  static bool all_differ(const EqualityClasses& pattern) noexcept;
  /// Whether scalars that are equal in `assumed` are also equal in `pattern`.
  static bool satisfies(const EqualityClasses& assumed, const EqualityClasses& pattern) noexcept;
  /// The graph in which calls, reductions, products and gathers that are equal for these scalars are merged; nullopt if
  /// there are none. Cheap operations are not merged, and are contracted to fma as before.
  std::optional<Graph> specialize(const Graph& graph, const EqualityClasses& pattern) const;

 private:
  struct Compared {
    std::uint32_t number;  // of the scalar
    std::uint8_t first;    // index in compared_ at which its group begins
  };
  std::vector<Compared> compared_;  // group by group
};

}  // namespace sinter::inline v1::jit

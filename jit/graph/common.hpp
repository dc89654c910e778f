// Common subexpressions of a recorded graph: equal nodes once, and C++ numbers that would make more of them equal.
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

/// Gives equal nodes one number.
class ValueNumbers {
 public:
  /// `id`, or the number of an equal node that was added before. `attribute` is what of the node's attribute counts,
  /// `operands` are named by their numbers.
  NodeId add(const Node& n, std::uint64_t attribute, std::span<const Operand> operands, NodeId id);

 private:
  using Words = boost::container::small_vector<std::uint64_t, 6>;
  struct HashWords {
    std::size_t operator()(const Words& words) const noexcept;
  };
  Words scratch_;
  std::unordered_map<Words, NodeId, HashWords> known_;
};

/// The graph with equal nodes once, of those that its outputs need. Values, shapes and errors stay.
Graph merge_common(const Graph& graph);

/// Numbers at equal places of two parts of a graph, which are one part where these numbers are equal: 2 and 1 in
/// exp(x * 2 + 1) * exp(x * 2 + 1). Each evaluation may bring other values, so graphs hold numbers apart.
class EqualNumbers {
 public:
  /// For each of the numbers that are compared, the first one in its place that is equal to it.
  using Pattern = boost::container::small_vector<std::uint8_t, 16>;

  /// Those of `vary` equal no other one.
  explicit EqualNumbers(const Graph& graph, const std::set<std::uint32_t>& vary = {});
  /// Whether no work is ever saved by equal numbers, as in almost every graph.
  bool none() const noexcept { return compared_.empty(); }
  Pattern pattern(const Scalar* scalars) const;
  static bool all_differ(const Pattern& pattern) noexcept;
  /// The graph for these numbers, or nothing where they save no call, reduction, product or gather.
  std::optional<Graph> merged(const Graph& graph, const Pattern& pattern) const;

 private:
  struct Compared {
    std::uint32_t number;
    std::uint8_t first;  // of compared_: where its group begins
  };
  std::vector<Compared> compared_;  // group by group
};

}  // namespace sinter::inline v1::jit

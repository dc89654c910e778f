#include "common_subexpressions.hpp"

#include <xxhash.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "../graph/scalar_use.hpp"
#include "../ops/traits.hpp"

namespace sinter::inline v1::jit {

std::size_t ValueNumbers::HashWords::operator()(const Words& words) const noexcept {
  return XXH3_64bits(words.data(), words.size() * sizeof(std::uint64_t));
}

NodeId ValueNumbers::add(const Node& n, std::uint64_t attribute, std::span<const Operand> operands, NodeId id) {
  scratch_.assign({static_cast<std::uint64_t>(n.op) << 32 | static_cast<std::uint64_t>(n.dtype), attribute});
  for (const Operand o : operands)
    scratch_.push_back(static_cast<std::uint64_t>(static_cast<std::uint32_t>(o.node)) << 32 | o.output);
  return known_.try_emplace(scratch_, id).first->second;
}

namespace {

/// For each node, the first one equal to it. `attribute(node)` is the part of its attribute that is compared.
template <class F>
std::vector<NodeId> representatives(const Graph& graph, F attribute) {
  ValueNumbers numbers;
  std::vector<NodeId> first;
  std::vector<Operand> operands;
  first.reserve(graph.nodes().size());
  for (const Node& n : graph.nodes()) {
    operands.clear();
    for (const Operand o : graph.operands(n)) operands.push_back({first[static_cast<std::size_t>(o.node)], o.output});
    first.push_back(numbers.add(n, attribute(n), operands, static_cast<NodeId>(first.size())));
  }
  return first;
}

std::vector<NodeId> representatives(const Graph& graph) {
  return representatives(graph, [](const Node& n) { return n.attribute; });
}

/// Function calls, and nodes that read or combine many elements. A few additions cost less than the loads beside them.
bool is_costly(Op op) noexcept { return is_function(op) || is_reduction(op) || op == Op::matmul || op == Op::load; }

/// The graph with each node for which `is_merged` holds replaced by its representative.
template <class F>
Graph with_representatives(const Graph& graph, std::span<const NodeId> representative, F is_merged) {
  Graph merged;
  merged.reserve(graph.nodes().size(), graph.all_operands().size());
  std::vector<NodeId> remap;
  const auto map = [&](Operand o) { return Operand{remap[static_cast<std::size_t>(o.node)], o.output}; };
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < representative.size(); ++i) {
    const Node& n = graph.nodes()[i];
    if (const auto first = static_cast<std::size_t>(representative[i]); first != i && is_merged(n)) {
      remap.push_back(remap[first]);
      continue;
    }
    operands.clear();
    for (const Operand o : graph.operands(n)) operands.push_back(map(o));
    remap.push_back(merged.node(n.op, n.dtype, operands, n.attribute).node);
  }
  for (const Operand o : graph.outputs()) merged.output(map(o));
  return merged;
}

/// Finds the scalars in corresponding positions by traversing two subgraphs that differ only in scalars in parallel.
class EqualPositions {
 public:
  explicit EqualPositions(const Graph& graph)
      : graph_(graph), same_value_(representatives(graph)), same_structure_(representatives(graph, [](const Node& n) {
          return n.op == Op::scalar ? static_cast<std::uint64_t>(scalar_use(n).arrives_as) : n.attribute;
        })) {
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes().size()); ++id)
      if (is_costly(node(id).op) && at(same_structure_, id) != id) compare(at(same_structure_, id), id);
  }

  /// Indices of scalars by group, each ascending.
  std::vector<std::vector<std::uint32_t>> groups() {
    std::map<std::uint32_t, std::vector<std::uint32_t>> by_first;
    for (const auto& [number, parent] : parents_) by_first[root(number)].push_back(number);
    std::vector<std::vector<std::uint32_t>> found;
    for (auto& [first, numbers] : by_first) found.push_back(std::move(numbers));
    return found;
  }

 private:
  static NodeId at(const std::vector<NodeId>& of, NodeId id) { return of[static_cast<std::size_t>(id)]; }
  const Node& node(NodeId id) const { return graph_.nodes()[static_cast<std::size_t>(id)]; }

  /// Subgraphs are compared with the first of their kind: each pair of nodes once.
  void compare(NodeId a, NodeId b) {
    std::vector<std::pair<NodeId, NodeId>> open{{a, b}};
    while (!open.empty()) {
      const auto [x, y] = open.back();
      open.pop_back();
      if (at(same_value_, x) == at(same_value_, y) || !seen_.emplace(at(same_value_, x), at(same_value_, y)).second)
        continue;
      if (node(x).op == Op::scalar) unite(scalar_use(node(x)).number, scalar_use(node(y)).number);
      const auto left = graph_.operands(node(x)), right = graph_.operands(node(y));
      for (std::size_t i = 0; i < left.size(); ++i) open.emplace_back(left[i].node, right[i].node);
    }
  }

  std::uint32_t root(std::uint32_t number) {
    std::uint32_t& parent = parents_.try_emplace(number, number).first->second;
    return parent == number ? number : parent = root(parent);
  }
  void unite(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t first = root(a), second = root(b);
    parents_[std::max(first, second)] = std::min(first, second);
  }

  const Graph& graph_;
  const std::vector<NodeId> same_value_, same_structure_;
  std::set<std::pair<NodeId, NodeId>> seen_;
  std::map<std::uint32_t, std::uint32_t> parents_;
};

}  // namespace

Graph eliminate_common_subexpressions(const Graph& graph) {
  return with_representatives(graph, representatives(graph), [](const Node&) { return true; });
}

EqualScalars::EqualScalars(const Graph& graph, const std::set<std::uint32_t>& vary) {
  constexpr std::size_t max_comparisons = 120;  // per evaluation
  std::size_t comparisons = 0;
  for (std::vector<std::uint32_t>& group : EqualPositions(graph).groups()) {
    std::erase_if(group, [&](std::uint32_t number) { return vary.contains(number); });
    const std::size_t of_group = group.size() * (group.size() - 1) / 2;
    if (group.size() < 2 || comparisons + of_group > max_comparisons) continue;
    comparisons += of_group;
    const auto begin = static_cast<std::uint8_t>(compared_.size());
    for (const std::uint32_t number : group) compared_.push_back({number, begin});
  }
}

EqualScalars::EqualityClasses EqualScalars::pattern(const Scalar* scalars) const {
  EqualityClasses pattern(compared_.size(), boost::container::default_init);
  for (std::size_t i = 0; i < compared_.size(); ++i) {
    std::size_t equal = compared_[i].first;
    while (scalars[compared_[equal].number].bits != scalars[compared_[i].number].bits) ++equal;
    pattern[i] = static_cast<std::uint8_t>(equal);
  }
  return pattern;
}

bool EqualScalars::all_differ(const EqualityClasses& pattern) noexcept {
  for (std::size_t i = 0; i < pattern.size(); ++i)
    if (pattern[i] != i) return false;
  return true;
}

bool EqualScalars::satisfies(const EqualityClasses& assumed, const EqualityClasses& pattern) noexcept {
  for (std::size_t i = 0; i < pattern.size(); ++i)
    if (pattern[assumed[i]] != pattern[i]) return false;
  return true;
}

std::optional<Graph> EqualScalars::specialize(const Graph& graph, const EqualityClasses& pattern) const {
  std::map<std::uint32_t, std::uint32_t> first;
  for (std::size_t i = 0; i < pattern.size(); ++i) first[compared_[i].number] = compared_[pattern[i]].number;
  const std::vector<NodeId> same = representatives(graph, [&](const Node& n) {
    const auto known = n.op == Op::scalar ? first.find(scalar_use(n).number) : first.end();
    return known == first.end() ? n.attribute : known->second | std::uint64_t{n.attribute >> 32} << 32;
  });
  const auto merges = [](const Node& n) { return is_costly(n.op); };
  Graph merged = with_representatives(graph, same, merges);
  if (merged.nodes().size() == graph.nodes().size()) return std::nullopt;
  std::vector<std::uint32_t> all(merged.outputs().size());
  std::iota(all.begin(), all.end(), 0u);
  return part_of(merged, all);
}

}  // namespace sinter::inline v1::jit

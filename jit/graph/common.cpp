#include "common.hpp"

#include <xxhash.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "../plan/weight.hpp"

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

/// For each node, the first that is equal to it. `attribute(node)` is what of its attribute counts.
template <class F>
std::vector<NodeId> first_equals(const Graph& graph, F attribute) {
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

std::vector<NodeId> first_equals(const Graph& graph) {
  return first_equals(graph, [](const Node& n) { return n.attribute; });
}

/// Calls, and what reads or combines many elements. A few additions cost less than the loads beside them.
bool is_costly(Op op) noexcept { return is_function(op) || is_reduction(op) || op == Op::matmul || op == Op::load; }

std::ptrdiff_t costly_nodes(const Graph& graph) { return std::ranges::count_if(graph.nodes(), is_costly, &Node::op); }

/// Finds which numbers stand at equal places: two parts that are equal but for their numbers are walked side by side.
class EqualPlaces {
 public:
  explicit EqualPlaces(const Graph& graph)
      : graph_(graph), exact_(first_equals(graph)), alike_(first_equals(graph, [](const Node& n) {
          return n.op == Op::scalar ? static_cast<std::uint64_t>(scalar_use(n).arrives_as) : n.attribute;
        })) {
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes().size()); ++id)
      if (is_costly(node(id).op) && at(alike_, id) != id) compare(at(alike_, id), id);
  }

  /// Numbers by group, each ascending; groups of one are left out.
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

  /// Parts that are compared with the first of their kind: each pair of nodes once.
  void compare(NodeId a, NodeId b) {
    std::vector<std::pair<NodeId, NodeId>> open{{a, b}};
    while (!open.empty()) {
      const auto [x, y] = open.back();
      open.pop_back();
      if (at(exact_, x) == at(exact_, y) || !seen_.emplace(at(exact_, x), at(exact_, y)).second) continue;
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
  const std::vector<NodeId> exact_, alike_;
  std::set<std::pair<NodeId, NodeId>> seen_;
  std::map<std::uint32_t, std::uint32_t> parents_;
};

}  // namespace

Graph merge_common(const Graph& graph) {
  const std::vector<NodeId> first = first_equals(graph);
  Graph merged;
  merged.reserve(graph.nodes().size(), graph.all_operands().size());
  std::vector<NodeId> moved;
  const auto map = [&](Operand o) { return Operand{moved[static_cast<std::size_t>(o.node)], o.output}; };
  std::vector<Operand> operands;
  for (NodeId id = 0; id < static_cast<NodeId>(first.size()); ++id) {
    const auto i = static_cast<std::size_t>(id);
    if (first[i] != id) {
      moved.push_back(moved[static_cast<std::size_t>(first[i])]);
      continue;
    }
    const Node& n = graph.nodes()[i];
    operands.clear();
    for (const Operand o : graph.operands(n)) operands.push_back(map(o));
    moved.push_back(merged.node(n.op, n.dtype, operands, n.attribute).node);
  }
  for (const Operand o : graph.outputs()) merged.output(map(o));
  return merged;
}

EqualNumbers::EqualNumbers(const Graph& graph, const std::set<std::uint32_t>& vary) {
  constexpr std::size_t most_compared = 128;  // comparing takes time at every evaluation
  for (std::vector<std::uint32_t>& group : EqualPlaces(graph).groups()) {
    std::erase_if(group, [&](std::uint32_t number) { return vary.contains(number); });
    if (compared_.size() + group.size() > most_compared) continue;
    const auto begin = static_cast<std::uint8_t>(compared_.size());
    for (const std::uint32_t number : group) compared_.push_back({number, begin});
  }
}

EqualNumbers::Pattern EqualNumbers::pattern(const Scalar* scalars) const {
  Pattern pattern(compared_.size(), boost::container::default_init);
  for (std::size_t i = 0; i < compared_.size(); ++i) {
    std::size_t equal = compared_[i].first;
    while (scalars[compared_[equal].number].bits != scalars[compared_[i].number].bits) ++equal;
    pattern[i] = static_cast<std::uint8_t>(equal);
  }
  return pattern;
}

bool EqualNumbers::all_differ(const Pattern& pattern) noexcept {
  for (std::size_t i = 0; i < pattern.size(); ++i)
    if (pattern[i] != i) return false;
  return true;
}

std::optional<Graph> EqualNumbers::merged(const Graph& graph, const Pattern& pattern) const {
  std::map<std::uint32_t, std::uint32_t> first;
  for (std::size_t i = 0; i < pattern.size(); ++i) first[compared_[i].number] = compared_[pattern[i]].number;
  Graph united;
  united.reserve(graph.nodes().size(), graph.all_operands().size());
  for (const Node& n : graph.nodes()) {
    if (n.op != Op::scalar) {
      united.node(n.op, n.dtype, graph.operands(n), n.attribute);
      continue;
    }
    const ScalarUse use = scalar_use(n);
    const auto known = first.find(use.number);
    united.scalar(n.dtype, use.arrives_as, known == first.end() ? use.number : known->second);
  }
  for (const Operand o : graph.outputs()) united.output(o);
  united = merge_common(united);
  if (costly_nodes(united) == costly_nodes(graph)) return std::nullopt;
  return united;
}

}  // namespace sinter::inline v1::jit

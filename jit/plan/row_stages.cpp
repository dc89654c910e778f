#include "row_stages.hpp"

#include <algorithm>

namespace sinter::inline v1::jit {
bool is_element_output(const Kernel& kernel, std::size_t output) noexcept {
  return !kernel.rows || kernel.rows->axis_mapping[output] == AxisMapping::Domain;
}

RowStages::RowStages(const Kernel& kernel, bool finds_online) {
  const Graph& graph = kernel.graph;
  for (const Node& n : graph.nodes()) {
    const auto operands = graph.operands(n);
    int after = 0;
    for (const Operand o : operands) after = std::max(after, stage_of(o) + combines(graph[o]));
    const bool one_for_row =
        is_element_leaf(n.op)
            ? kernel.rows && kernel.rows->axis_mapping[kernel.outputs.size() + n.attribute] != AxisMapping::Domain
            : std::ranges::all_of(operands, [&](Operand o) { return is_per_row(o); });
    per_row.push_back(one_for_row || is_reduction(n.op));
    stage.push_back(n.op == Op::count ? 0 : after);
    if (combines(n)) count = std::max(count, after + 1);
  }
  if (finds_online) join(graph);
  for (std::size_t k = 0; k < kernel.outputs.size(); ++k) writes_elements |= is_element_output(kernel, k);
  has_final_pass = writes_elements && need_final_pass(kernel);
}

/// An online sum reads its elements twice, and the outputs may be in their place.
bool RowStages::need_final_pass(const Kernel& kernel) const {
  const Graph& graph = kernel.graph;
  if (count == 0 || std::ranges::any_of(online, [&](const OnlineSum& s) { return stage_of(s.sum) == count - 1; }))
    return true;
  for (std::size_t k = 0; k < kernel.outputs.size(); ++k)
    if (const Operand o = graph.outputs()[k];
        is_element_output(kernel, k) && stage_of(o) + (combines(graph[o]) ? 1 : 0) == count)
      return true;
  return false;
}

/// Merges a stage into the one before it if all its reductions can be computed in that pass.
void RowStages::join(const Graph& graph) {
  struct Stage {
    std::vector<OnlineSum> sums;
    bool joins = true;
    int now = 0;  // the merged stage's number
  };
  std::vector<Stage> stages(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < stage.size(); ++i) {
    if (!combines(graph.nodes()[i])) continue;
    Stage& of = stages[static_cast<std::size_t>(stage[i])];
    const auto sum = online_sum(graph, {static_cast<NodeId>(i), 0});
    if (sum && stage_of(sum->base) + 1 == stage[i])
      of.sums.push_back(*sum);
    else
      of.joins = false;
  }
  for (std::size_t s = 1; s < stages.size(); ++s) {
    stages[s].joins &= !stages[s - 1].joins;
    stages[s].now = stages[s - 1].now + !stages[s].joins;
    if (stages[s].joins) online.insert(online.end(), stages[s].sums.begin(), stages[s].sums.end());
  }
  for (std::size_t i = 0; i < stage.size(); ++i)
    if (combines(graph.nodes()[i]))
      stage[i] = stages[static_cast<std::size_t>(stage[i])].now;
    else if (stage[i] > 0)
      stage[i] = stages[static_cast<std::size_t>(stage[i] - 1)].now + 1;
  if (count > 0) count = stages.back().now + 1;
}

}  // namespace sinter::inline v1::jit

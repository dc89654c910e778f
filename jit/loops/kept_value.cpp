#include "kept_value.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "../ops/traits.hpp"

namespace sinter::inline v1::jit::loops {
namespace {

/// The values of elements that these depend on, where the search does not continue past `kept`.
std::vector<bool> element_values(const RowPasses& passes, std::span<const Operand> wanted, std::size_t kept) {
  const auto stops = [&](std::size_t i) { return i == kept || passes.stages.per_row[i]; };
  std::vector<bool> found = backward_slice(passes.kernel.graph, wanted, stops);
  for (std::size_t i = 0; i < found.size(); ++i) found[i] = found[i] && !passes.stages.per_row[i];
  return found;
}

/// Whether an op of the marked nodes satisfies a condition.
template <class F>
bool any_op(const Graph& graph, const std::vector<bool>& marked, F condition) {
  for (std::size_t i = 0; i < marked.size(); ++i)
    if (marked[i] && condition(graph.nodes()[i].op)) return true;
  return false;
}

std::optional<std::size_t> output_for(const RowPasses& passes, Operand value) {
  const Graph& graph = passes.kernel.graph;
  const DType dtype = graph[value].dtype;
  if (dtype != DType::Float32 && dtype != DType::Float64) return std::nullopt;
  for (std::size_t k = 0; k < graph.outputs().size(); ++k)
    if (passes.is_element_output(k) && graph[graph.outputs()[k]].dtype == dtype) return k;
  return std::nullopt;
}

}  // namespace

std::optional<KeptValue> value_to_keep(const RowPasses& passes) {
  const Graph& graph = passes.kernel.graph;
  const std::size_t count = graph.nodes().size();
  const auto is_gather = [](const Node& n) { return n.op == Op::load; };
  if (!passes.stages.has_final_pass || passes.passes.size() < 2) return std::nullopt;
  if (std::ranges::any_of(graph.nodes(), is_gather)) return std::nullopt;  // may read other elements of an input
  const RowPass &before = passes.passes[passes.passes.size() - 2], &last = passes.passes.back();
  const std::vector<bool> computed = element_values(passes, before.wanted, count);
  for (std::size_t i = count; i-- > 0;) {
    const Operand value{static_cast<NodeId>(i), 0};
    if (!computed[i] || is_element_leaf(graph[value].op)) continue;
    const auto output = output_for(passes, value);
    const std::vector<bool> read = element_values(passes, last.wanted, i);
    if (!output || !read[i] || any_op(graph, read, is_element_leaf)) continue;
    if (any_op(graph, element_values(passes, std::vector{value}, count), is_function)) return KeptValue{value, *output};
  }
  return std::nullopt;
}

}  // namespace sinter::inline v1::jit::loops

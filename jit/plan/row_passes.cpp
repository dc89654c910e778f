#include "row_passes.hpp"

#include <algorithm>

namespace sinter::inline v1::jit {

RowPasses::RowPasses(const Kernel& k, bool online) : kernel(k), stages(k, online) {
  const Graph& graph = kernel.graph;
  const std::size_t outputs = graph.outputs().size();
  passes.resize(static_cast<std::size_t>(stages.count) + stages.has_final_pass);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& n = graph.nodes()[i];
    const Operand reduction{static_cast<NodeId>(i), 0};
    if (!combines(n) || std::ranges::find(stages.online, reduction, &OnlineSum::sum) != stages.online.end()) continue;
    RowPass& pass = passes[static_cast<std::size_t>(stages.stage[i])];
    pass.reductions.push_back(reduction);
    pass.wanted.push_back(graph.operands(n)[0]);
  }
  for (const OnlineSum& s : stages.online) passes[static_cast<std::size_t>(stages.stage_of(s.sum))].online.push_back(s);
  for (std::size_t i = 0; i < outputs; ++i)
    if (is_element_output(i)) passes.back().wanted.push_back(graph.outputs()[i]);
  for (RowPass& pass : passes) {
    pass.inputs.resize(kernel.inputs.size());
    const auto needed = backward_slice(graph, pass.wanted, [&](std::size_t i) { return stages.per_row[i]; });
    for (std::size_t i = 0; i < needed.size(); ++i) {
      const Node& n = graph.nodes()[i];
      if (needed[i] && is_element_leaf(n.op) && is_element_input(n.attribute)) pass.inputs[n.attribute] = true;
    }
  }
}

int RowPasses::reads(std::size_t input) const noexcept {
  return static_cast<int>(std::ranges::count_if(passes, [&](const RowPass& w) { return w.inputs[input]; }));
}

int partial_size(const RowPasses& passes, int stage, bool wide) noexcept {
  int bytes = 0, widest = 1;
  const auto add = [&](int size) {
    bytes = (bytes + size - 1) / size * size + size;
    widest = std::max(widest, size);
  };
  const Graph& graph = passes.kernel.graph;
  const RowPass& pass = passes.passes[static_cast<std::size_t>(stage)];
  for (const Operand o : pass.reductions) {
    add(static_cast<int>(size_of(graph[graph.operands(graph[o])[0]].dtype)));
    if (traits_of(graph[o].op).gives_position) add(wide ? 8 : 4);
  }
  for (const OnlineSum& s : pass.online)
    for (int i = 0; i < (s.kind == OnlineSum::Kind::Squares ? 4 : 1); ++i)
      add(static_cast<int>(size_of(graph[s.sum].dtype)));
  return (bytes + widest - 1) / widest * widest;
}

}  // namespace sinter::inline v1::jit

#include "row_walks.hpp"

#include <algorithm>

namespace sinter::inline v1::jit {

RowWalks::RowWalks(const Kernel& k, bool online) : kernel(k), stages(k, online) {
  const Graph& graph = kernel.graph;
  const std::size_t outputs = graph.outputs().size();
  for (std::size_t i = 0; i < outputs; ++i) writes_elements |= is_element_output(i);
  walks.resize(static_cast<std::size_t>(stages.count) + writes_elements);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& n = graph.nodes()[i];
    const Operand reduction{static_cast<NodeId>(i), 0};
    if (!combines(n) || std::ranges::find(stages.online, reduction, &OnlineSum::sum) != stages.online.end()) continue;
    RowWalk& walk = walks[static_cast<std::size_t>(stages.stage[i])];
    walk.reductions.push_back(reduction);
    walk.wanted.push_back(graph.operands(n)[0]);
  }
  for (const OnlineSum& s : stages.online) walks[static_cast<std::size_t>(stages.stage_of(s.sum))].online.push_back(s);
  for (std::size_t i = 0; i < outputs; ++i)
    if (is_element_output(i)) walks.back().wanted.push_back(graph.outputs()[i]);
  for (RowWalk& walk : walks) {
    walk.inputs.resize(kernel.inputs.size());
    const auto needed = made_of(graph, walk.wanted, [&](std::size_t i) { return stages.per_row[i]; });
    for (std::size_t i = 0; i < needed.size(); ++i) {
      const Node& n = graph.nodes()[i];
      if (needed[i] && (n.op == Op::leaf || n.op == Op::index) && is_element_input(n.attribute))
        walk.inputs[n.attribute] = true;
    }
  }
}

int RowWalks::reads(std::size_t input) const noexcept {
  return static_cast<int>(std::ranges::count_if(walks, [&](const RowWalk& w) { return w.inputs[input]; }));
}

int part_size(const RowWalks& walks, int stage, bool wide) noexcept {
  int bytes = 0, widest = 1;
  const auto add = [&](int size) {
    bytes = (bytes + size - 1) / size * size + size;
    widest = std::max(widest, size);
  };
  const Graph& graph = walks.kernel.graph;
  const RowWalk& walk = walks.walks[static_cast<std::size_t>(stage)];
  for (const Operand o : walk.reductions) {
    add(static_cast<int>(size_of(graph[graph.operands(graph[o])[0]].dtype)));
    if (gives_position(graph[o].op)) add(wide ? 8 : 4);
  }
  for (const OnlineSum& s : walk.online)
    for (int i = 0; i < (s.kind == OnlineSum::Kind::Squares ? 4 : 1); ++i)
      add(static_cast<int>(size_of(graph[s.sum].dtype)));
  return (bytes + widest - 1) / widest * widest;
}

}  // namespace sinter::inline v1::jit

// The operations that only one value needs, its maximum fanout-free cone: storing the value computes them once.
#pragma once
#include <span>
#include <vector>

#include <sinter/jit/graph.hpp>
#include "cost_model.hpp"

namespace sinter::inline v1::jit {

/// The operands that a value is computed from, without those that only determine its shape.
inline std::span<const Operand> values_of(const Graph& graph, const Node& n) noexcept {
  if (n.op == Op::count) return {};
  return n.op == Op::broadcast_like ? graph.operands(n).first(1) : graph.operands(n);
}

class FanoutFreeCones {
 public:
  explicit FanoutFreeCones(const Graph& graph)
      : graph_(graph), uses_(graph.nodes().size()), uses_in_cone_(graph.nodes().size()) {
    for (const Node& n : graph.nodes())
      for (const Operand o : values_of(graph, n)) ++uses_[index(o.node)];
    for (const Operand o : graph.outputs()) ++uses_[index(o.node)];
  }

  /// The instructions of the value and of all that only it needs, without nodes for which stops(id) holds. Counts up
  /// to `enough`, so that it visits few nodes.
  template <class Stops>
  int instructions(NodeId root, int enough, Stops stops) {
    std::vector<NodeId> cone{root}, seen;
    int found = 0;
    for (std::size_t i = 0; i < cone.size() && found < enough; ++i) {
      const Node& n = graph_.nodes()[index(cone[i])];
      found += jit::instructions(graph_, n);
      for (const Operand o : values_of(graph_, n)) {
        seen.push_back(o.node);
        if (++uses_in_cone_[index(o.node)] == uses_[index(o.node)] && !stops(o.node)) cone.push_back(o.node);
      }
    }
    for (const NodeId id : seen) uses_in_cone_[index(id)] = 0;
    return found;
  }

 private:
  static std::size_t index(NodeId id) { return static_cast<std::size_t>(id); }

  const Graph& graph_;
  std::vector<int> uses_;          // by node: how many operands and outputs it is
  std::vector<int> uses_in_cone_;  // scratch space
};

}  // namespace sinter::inline v1::jit

#include "registers.hpp"

#include <algorithm>

namespace sinter::inline v1::jit::loops {
namespace {

bool is_input(const Node& n) noexcept { return n.op == Op::leaf || n.op == Op::index; }

/// Of registers: what is unpacked for one pass is kept for the next.
int words(DType dtype) noexcept { return std::max(static_cast<int>(size_of(dtype)), 4) / 4; }

bool is_in_registers(const Registers& kept, const Node& n, std::size_t i) noexcept {
  return n.op == Op::leaf ? !kept.inputs.empty() && kept.inputs[n.attribute] != none : kept.has_node(i);
}

}  // namespace

std::vector<bool> element_dependencies(const Frame& frame, const Registers& kept, std::span<const Operand> wanted) {
  return backward_slice(frame.graph, wanted,
                        [&](std::size_t i) { return frame.passes.stages.per_row[i] || kept.has_node(i); });
}

std::vector<NodeId> values_to_keep(const Frame& frame, const Registers& kept, std::size_t pass) {
  const std::span<const Node> nodes = frame.graph.nodes();
  const std::vector<bool> computed = element_dependencies(frame, kept, frame.passes.passes[pass].wanted);
  const auto is_new = [&](std::size_t i) {
    return computed[i] && !frame.passes.stages.per_row[i] && !kept.has_node(i) && !is_input(nodes[i]);
  };
  std::vector<Operand> later;
  for (std::size_t p = pass + 1; p < frame.passes.passes.size(); ++p)
    later.insert(later.end(), frame.passes.passes[p].wanted.begin(), frame.passes.passes[p].wanted.end());
  const std::vector<bool> read = backward_slice(frame.graph, later, [&](std::size_t i) {
    return frame.passes.stages.per_row[i] || kept.has_node(i) || is_new(i);
  });
  std::vector<NodeId> found;
  int needed = 0, freed = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (read[i] && is_new(i)) found.push_back(static_cast<NodeId>(i)), needed += words(nodes[i].dtype);
    if (!read[i] && is_in_registers(kept, nodes[i], i)) freed += words(nodes[i].dtype);
  }
  if (needed > freed) found.clear();
  return found;
}

}  // namespace sinter::inline v1::jit::loops

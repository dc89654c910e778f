#include "registers.hpp"

#include <algorithm>

namespace sinter::inline v1::jit::loops {
namespace {

/// The registers that a value takes: narrow ones stay unpacked between passes.
int registers_of(DType dtype) noexcept { return std::max(static_cast<int>(size_of(dtype)), 4) / 4; }

bool is_in_registers(const Registers& registers, const Node& n, std::size_t i) noexcept {
  return n.op == Op::leaf ? !registers.inputs.empty() && registers.inputs[n.attribute] != none : registers.has_node(i);
}

}  // namespace

std::vector<bool> element_dependencies(const LoweringContext& context, const Registers& registers,
                                       std::span<const Operand> wanted) {
  return backward_slice(context.graph, wanted,
                        [&](std::size_t i) { return context.passes.stages.per_row[i] || registers.has_node(i); });
}

std::vector<NodeId> values_to_keep(const LoweringContext& context, const Registers& registers, std::size_t pass) {
  const std::span<const Node> nodes = context.graph.nodes();
  const std::vector<bool> computed = element_dependencies(context, registers, context.passes.passes[pass].wanted);
  const auto is_new = [&](std::size_t i) {
    return computed[i] && !context.passes.stages.per_row[i] && !registers.has_node(i) && !is_element_leaf(nodes[i].op);
  };
  std::vector<Operand> later;
  for (std::size_t p = pass + 1; p < context.passes.passes.size(); ++p)
    later.insert(later.end(), context.passes.passes[p].wanted.begin(), context.passes.passes[p].wanted.end());
  const std::vector<bool> read = backward_slice(context.graph, later, [&](std::size_t i) {
    return context.passes.stages.per_row[i] || registers.has_node(i) || is_new(i);
  });
  std::vector<NodeId> found;
  int needed = 0, freed = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (read[i] && is_new(i)) found.push_back(static_cast<NodeId>(i)), needed += registers_of(nodes[i].dtype);
    if (!read[i] && is_in_registers(registers, nodes[i], i)) freed += registers_of(nodes[i].dtype);
  }
  if (needed > freed) found.clear();
  return found;
}

}  // namespace sinter::inline v1::jit::loops

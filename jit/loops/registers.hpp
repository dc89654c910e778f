// Values that a thread keeps in registers between passes over a row.
#pragma once
#include "elements.hpp"
#include "lowering_context.hpp"

namespace sinter::inline v1::jit::loops {

/// Register arrays with one entry for each vector of the thread, or for each element of the tail.
struct Registers {
  std::vector<Value> inputs, nodes;  // by index; none if it is not in registers

  bool has_node(std::size_t node) const noexcept { return !nodes.empty() && nodes[node] != none; }
};

/// Values that `pass` computes and that later passes read in place of inputs, so that the inputs' registers are freed:
/// a softmax keeps the exponentials that it has summed. Empty if that would take more registers.
std::vector<NodeId> values_to_keep(const LoweringContext& context, const Registers& registers, std::size_t pass);

/// The nodes that `wanted` depend on, up to per-row values and values in registers.
std::vector<bool> element_dependencies(const LoweringContext& context, const Registers& registers,
                                       std::span<const Operand> wanted);

}  // namespace sinter::inline v1::jit::loops

// What stays in a thread's registers while it passes over a row that is kept.
#pragma once
#include "elements.hpp"

namespace sinter::inline v1::jit::loops {

/// Arrays of a value for each of a thread's vectors: of the row's, or of the elements after them.
struct Registers {
  std::vector<Value> inputs, nodes;  // by number; none where it is not in registers

  bool has_node(std::size_t node) const noexcept { return !nodes.empty() && nodes[node] != none; }
};

/// Values that `pass` computes and that later passes read in place of inputs, so that these need no registers any more:
/// a softmax keeps the exponentials that it has summed. None where that would take more registers.
std::vector<NodeId> values_to_keep(const Frame& frame, const Registers& kept, std::size_t pass);

/// What the nodes are made of, up to what is one for a row or in registers.
std::vector<bool> made_of_elements(const Frame& frame, const Registers& kept, std::span<const Operand> wanted);

}  // namespace sinter::inline v1::jit::loops

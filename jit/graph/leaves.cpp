#include "leaves.hpp"

#include <algorithm>

#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::jit {

void throw_empty_expression() {
  throw Error(
      "this expression holds nothing: it, or a tensor in it, was default-constructed or moved from. Assign to it "
      "before using it, or copy it instead of moving it");
}

LeafSets leaves_of(const Graph& recorded, Operand output) {
  const auto nodes = recorded.nodes();
  std::vector<bool> needed(nodes.size());
  LeafSets sets;
  needed[static_cast<std::size_t>(output.node)] = true;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (Operand o : recorded.operands(nodes[i])) needed[static_cast<std::size_t>(o.node)] = true;
    if (!is_leaf(nodes[i].op)) continue;
    (nodes[i].op == Op::array ? sets.arrays : sets.elementwise)
        .push_back(static_cast<std::uint32_t>(nodes[i].attribute));
  }
  std::ranges::sort(sets.elementwise);
  std::ranges::sort(sets.arrays);
  return sets;
}

}  // namespace sinter::inline v1::jit

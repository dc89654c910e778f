#include <sinter/jit/recorded.hpp>

#include <memory>

#include "leaves.hpp"
#include "same_arrays.hpp"

namespace sinter::inline v1::jit {

Recorded::Recorded(const Bound& tree)
    : leaves(tree.leaves, tree.leaves + tree.program->leaves),
      scalars(tree.scalars, tree.scalars + tree.program->scalars) {
  std::vector<DType> dtypes;
  const std::unique_ptr<bool[]> lacks_memory(new bool[leaves.size() + 1]);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (!leaves[i]) throw_empty_expression();
    dtypes.push_back(leaves[i]->dtype);
    lacks_memory[i] = runtime::lacks_memory(*leaves[i]);
  }
  std::vector<std::uint16_t> same_as(leaves.size());
  same_arrays(leaves, same_as.data());
  graph = record(*tree.program, dtypes, same_as, {lacks_memory.get(), leaves.size()}, scalars);
  if (!leaves.empty()) device = leaves[0]->device;
}

std::vector<std::uint32_t> Recorded::elementwise() const { return leaves_of(graph, graph.outputs()[0]).elementwise; }

}  // namespace sinter::inline v1::jit

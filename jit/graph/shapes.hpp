// Shapes of a graph's values, where reductions make them differ by more than broadcasting.
#pragma once
#include <span>
#include <vector>

#include <sinter/jit/graph.hpp>
#include <sinter/runtime/tensor_impl.hpp>
#include "node_set.hpp"

namespace sinter::inline v1::jit {

/// Whether shapes decide about a graph's kernels: it has reductions or products.
bool reshapes(const Graph& graph) noexcept;
/// Whether a graph has reductions.
bool reduces(const Graph& graph) noexcept;

std::vector<Shape> shapes_of_leaves(std::span<runtime::TensorImpl* const> leaves);

/// The shape of each node, by its number; of an array node that of a number. `leaves` are those of the leaves. Throws
/// ShapeError where operands do not broadcast, IndexError for an axis that is not there.
std::vector<Shape> shapes_of(const Graph& graph, std::span<const Shape> leaves);

/// The nodes that a value's shape comes from: tensors, and those for which stops(id) holds. `seen` is for the
/// search alone.
template <class Stops>
std::vector<NodeId> shape_sources(const Graph& graph, NodeId value, NodeSet& seen, Stops stops) {
  std::vector<NodeId> found, open{value};
  seen.clear();
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (!seen.add(id)) continue;
    const Node& n = graph.nodes()[static_cast<std::size_t>(id)];
    if (n.op == Op::leaf || n.op == Op::index || stops(id))
      found.push_back(id);
    else if (n.op != Op::array)
      for (const Operand o : graph.operands(n)) open.push_back(o.node);
  }
  return found;
}

/// Throws IndexError for a reduction that looks for the largest or smallest of no element. To be asked of what a user
/// wrote: where such a reduction is a part of another one, that has a value.
void check_has_elements(const Graph& recorded, std::span<const Shape> shapes);

}  // namespace sinter::inline v1::jit

// Shapes of the values of graphs.
#pragma once
#include <span>
#include <vector>

#include <sinter/jit/graph.hpp>
#include <sinter/runtime/tensor_impl.hpp>
#include "../graph/node_set.hpp"

namespace sinter::inline v1::jit {

/// Whether a graph's kernels depend on shapes: it has reductions, products, or values broadcast to another's shape.
bool depends_on_shapes(const Graph& graph) noexcept;
/// Whether a graph has reductions.
bool reduces(const Graph& graph) noexcept;

std::vector<Shape> shapes_of_leaves(std::span<runtime::TensorImpl* const> leaves);

/// The shape of each node, by its number; an array node counts as 0-d. `leaves` are the leaves' shapes. Throws
/// ShapeError if operands do not broadcast, IndexError for an axis out of range.
std::vector<Shape> shapes_of(const Graph& graph, std::span<const Shape> leaves);
/// Appends the shapes of the nodes that follow those in `shapes`.
void extend_shapes(std::vector<Shape>& shapes, const Graph& graph, std::span<const Shape> leaves);

/// The nodes that determine a value's shape: tensors, and those for which stops(id) holds. `seen` is scratch space.
template <class Stops>
std::vector<NodeId> shape_sources(const Graph& graph, NodeId value, NodeSet& seen, Stops stops) {
  std::vector<NodeId> found, open{value};
  seen.clear();
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (!seen.add(id)) continue;
    const Node& n = graph.nodes()[static_cast<std::size_t>(id)];
    if (is_element_leaf(n.op) || stops(id))
      found.push_back(id);
    else if (n.op != Op::array)
      for (const Operand o : graph.operands(n)) open.push_back(o.node);
  }
  return found;
}

/// Throws IndexError for an argmax, argmin, amax or amin of no elements. Only for graphs as recorded: a composite
/// reduction that expands to such a reduction has a value.
void check_has_elements(const Graph& recorded, std::span<const Shape> shapes);

}  // namespace sinter::inline v1::jit

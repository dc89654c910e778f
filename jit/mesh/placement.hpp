// The placement of a graph's values on a mesh: which axis of each is sharded.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <sinter/jit/graph.hpp>
#include <sinter/runtime/shards.hpp>

namespace sinter::inline v1::jit {

using runtime::no_axis;
/// The axis of a value that depends on a cut.
inline constexpr int depends_on_cut = -3;

/// The extent of an axis counted from the end; 1 if there is none.
inline std::int64_t extent_from_end(const Shape& shape, int axis) noexcept {
  return axis < shape.ndim() ? shape.end()[-1 - axis] : 1;
}

/// A node that ranks cannot compute from their own shards; the graph is cut there.
struct Cut {
  enum class Kind : std::uint8_t {
    Reduction,  // it reduces along the sharded axis
    Product,    // it contracts the sharded axis
    Value,      // it is replicated, and each rank needs a slice of it
  } kind;
  NodeId node;
  int axis;  // the sharded one of its (first) operand, from the end
};

/// A replicated operand; each rank reads a slice of it.
struct Sliced {
  NodeId node;
  std::uint32_t operand;
  int axis;  // from the end
};

struct Placements {
  std::vector<int> axes;       // by node: the sharded axis, from the end; no_axis if replicated; depends_on_cut
  std::vector<int> leaves;     // by leaf: the axis along which ranks slice it; no_axis if they do not
  std::vector<Sliced> sliced;  // the slices of leaves that operations read
  std::vector<Cut> cuts;       // the cuts that depend on no other cut
  bool leaves_agree = true;    // false: a leaf is used both sliced and as it is, or sliced along two axes
};

/// A leaf's placement.
struct PlacedLeaf {
  int axis = no_axis;                           // sharded along it, from the end
  const runtime::TensorImpl* tensor = nullptr;  // for messages; null for a value that ranks combined
};

/// The sharded axis of a tensor, from the end; no_axis if it is replicated or has no memory.
inline int placed_axis(const runtime::TensorImpl& t) noexcept {
  return t.buffer && t.buffer->shards() ? runtime::sharded_axis_from_end(t) : no_axis;
}

/// `shapes` are those of the nodes. Throws DeviceError, which names the operation, if operands are sharded along
/// different axes or an operand must not be sharded.
Placements place(const Graph& graph, std::span<const Shape> shapes, std::span<const PlacedLeaf> leaves);

/// Makes ranks compute the slice of an output that an array sharded along `axis` needs.
void place_output(Placements& placements, const Graph& graph, std::span<const Shape> shapes, std::uint32_t output,
                  int axis);

}  // namespace sinter::inline v1::jit

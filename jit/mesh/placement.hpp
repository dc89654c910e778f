// Where the values of a graph are when its leaves are on a mesh: which axis of each is in pieces.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <sinter/jit/graph.hpp>
#include <sinter/runtime/pieces.hpp>

namespace sinter::inline v1::jit {

using runtime::whole;
/// Of a value that is made of something that positions must tell one another first.
inline constexpr int later = -2;

/// Of an axis that is numbered from the end; 1 where there is none.
inline std::int64_t extent_from_end(const Shape& shape, int axis) noexcept {
  return axis < shape.rank() ? shape.end()[-1 - axis] : 1;
}

/// A node that no position can compute from what it has.
struct Cut {
  enum class Kind : std::uint8_t {
    Reduction,  // it combines elements along the axis that is in pieces
    Product,    // it multiplies along it
    Value,      // every position has it, and each is to take a part of it
  } kind;
  NodeId node;
  int axis;  // of its (first) operand: the one in pieces, from the end
};

/// An operand that every position has, of which each takes the part that belongs to it.
struct Sliced {
  NodeId node;
  std::uint32_t operand;
  int axis;  // from the end
};

struct Placements {
  std::vector<int> axes;       // by node: the axis in pieces, from the end; whole; later
  std::vector<int> leaves;     // by leaf: the axis along which positions take parts of it; whole: it is taken as it is
  std::vector<Sliced> sliced;  // leaves that are operands
  std::vector<Cut> cuts;       // that depend on no other
  bool leaves_agree = true;    // false: a leaf is taken in parts and as it is, or along two axes
};

/// `shapes` are those of the nodes. Throws DeviceError, which names the operation, where operands are in pieces along
/// different axes, or one is in pieces that must not be.
Placements place(const Graph& graph, std::span<const Shape> shapes, std::span<runtime::TensorImpl* const> leaves);

/// Makes positions take the part of an output that an array in pieces along `axis` asks for.
void place_output(Placements& placements, const Graph& graph, std::span<const Shape> shapes, std::uint32_t output,
                  int axis);

}  // namespace sinter::inline v1::jit

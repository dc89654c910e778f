// What in an expression stands for shapes without being one: elements' own positions (random numbers, the axes that a
// gather does not run along), and the extents and strides that indices are measured by.
#pragma once
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include <sinter/jit/recorded.hpp>

namespace sinter::inline v1::jit::exporting {

/// The product of the extents of a leaf's axes [first, last): the first of them where `last` is one further on, a
/// stride where it begins behind an axis and ends at the last.
struct LeafExtents {
  std::uint32_t leaf;
  int first, last;
};

/// A leaf whose elements are positions. Without an array they are its own; else axis i steps along axis axes[i] of it,
/// or nowhere (-1).
struct PositionLeaf {
  std::uint32_t leaf;
  std::int64_t array = -1;  // number of the leaf
  std::vector<int> axes = {};
};

/// Two axes of one extent, which nothing broadcasts together.
struct EqualAxes {
  std::uint32_t leaf;
  int axis;
  std::uint32_t other;
  int other_axis;
};

struct Places {
  std::vector<PositionLeaf> leaves;
  std::vector<std::uint32_t> arrays;  // leaves that are read at places which indices give
  std::vector<EqualAxes> equal;
  std::map<std::uint32_t, LeafExtents> numbers;  // numbers of the expression that are extents or strides
};

/// Throws Error, which names the kernel, for what is read in another way than exported kernels can.
Places find_places(const Recorded& expression, std::string_view name);

}  // namespace sinter::inline v1::jit::exporting

// Leaves and scalars of an expression whose values depend on shapes: elements' own positions (random numbers, the axes
// that a gather does not run along), and the extents and strides that indices are checked and scaled by.
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

/// A leaf whose elements are positions: its own or, if `array` is set, along axis i those of axis axes[i] of that array
/// (-1: it does not step).
struct IotaLeaf {
  std::uint32_t leaf;
  std::int64_t array = -1;  // index of the leaf
  std::vector<int> axes = {};
};

/// Two axes that must have one extent although no operation broadcasts them together.
struct EqualAxes {
  std::uint32_t leaf;
  int axis;
  std::uint32_t other;
  int other_axis;
};

struct ShapeDependencies {
  std::vector<IotaLeaf> leaves;
  std::vector<std::uint32_t> arrays;  // leaves that are gathered from
  std::vector<EqualAxes> equal;
  std::map<std::uint32_t, LeafExtents> scalars;  // scalars of the expression that are extents or strides
};

/// Throws Error, which names the kernel, for accesses that exported kernels do not support.
ShapeDependencies find_shape_dependencies(const Recorded& expression, std::string_view name);

}  // namespace sinter::inline v1::jit::exporting

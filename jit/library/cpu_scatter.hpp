// Scatter, by one thread in order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include <sinter/jit/scatter.hpp>

namespace sinter::inline v1::jit::cpu {

/// Strides over the iterated dims, in elements; 0 if broadcast.
struct Index {
  const std::int64_t* data;
  Shape strides;
  std::int64_t extent, stride;  // of the axis
};

/// One value for each position of `over`, which has at least one dim.
struct Values {
  const std::byte* data;
  Shape strides;
};

/// Writes each value to the place given by the `own` strides and the indices, in row-major order. Indices are in range,
/// negative ones from the end. Sums of integers wrap, bools become true, 16-bit floats are rounded each time.
void scatter(std::byte* to, DType dtype, const Shape& over, const Shape& own, std::span<const Index> indices,
             const Values& values, Write how);

}  // namespace sinter::inline v1::jit::cpu

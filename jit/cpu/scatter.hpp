// Writes at computed places, by one thread and in order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include <sinter/jit/scatter.hpp>

namespace sinter::inline v1::jit::cpu {

/// Strides over the dims that are walked, in elements; 0 where broadcast.
struct Index {
  const std::int64_t* data;
  Shape strides;
  std::int64_t extent, stride;  // of the axis
};

/// One of the values for each position of `over`, of one dim at least.
struct Values {
  const std::byte* data;
  Shape strides;
};

/// Writes each value to the place that `own` strides and the indices give, in row-major order. Indices are in range,
/// negative ones from the end. Sums of integers wrap, bools become true, 16-bit floats are rounded each time.
void scatter(std::byte* to, DType dtype, const Shape& over, const Shape& own, std::span<const Index> indices,
             const Values& values, Write how);

}  // namespace sinter::inline v1::jit::cpu

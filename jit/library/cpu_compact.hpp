// Stream compaction by a mask, on the CPU's threads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <sinter/runtime/shape.hpp>

namespace sinter::inline v1::jit::cpu {

/// The true elements of a mask: how many there are before each of its equal parts, and in total.
struct MaskCounts {
  std::int64_t length;                // of a part, in elements; the last may have fewer
  std::vector<std::int64_t> offsets;  // one for each part, then the total
};

MaskCounts count_true(const std::byte* mask, std::int64_t n);

/// Copies the selected elements of `size` bytes (1, 2, 4 or 8) to `to`, in order.
void copy_true(std::byte* to, const std::byte* from, std::size_t size, const std::byte* mask, std::int64_t n,
               const MaskCounts& parts);

/// Writes a row of coordinates for each true element of a mask of this shape, with at least one dim.
void write_positions(std::int64_t* to, const Shape& shape, const std::byte* mask, const MaskCounts& parts);

}  // namespace sinter::inline v1::jit::cpu

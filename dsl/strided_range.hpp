// The range of elements that a strided array covers, for untrusted shapes and strides.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include <sinter/runtime/shape.hpp>

namespace sinter::inline v1::detail {

struct StridedRange {
  std::int64_t before = 0;  // elements before the one whose indices are all 0
  std::int64_t span = 0;    // elements from the lowest address to the highest; 0 without elements
};
/// nullopt if they take more than 2^63 - 1 bytes. The shape must have been checked.
std::optional<StridedRange> strided_range(const Shape& shape, const Shape& strides, std::size_t element_size) noexcept;

}  // namespace sinter::inline v1::detail

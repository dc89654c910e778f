#include "strided_range.hpp"

#include <algorithm>

namespace sinter::inline v1::detail {

std::optional<StridedRange> strided_range(const Shape& shape, const Shape& strides, std::size_t element_size) noexcept {
  if (std::ranges::find(shape, 0) != shape.end()) return StridedRange();
  std::int64_t before = 0, after = 0;
  for (int axis = 0; axis < shape.ndim(); ++axis) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(shape[axis] - 1, strides[axis], &reach) ||
        (reach < 0 ? __builtin_sub_overflow(before, reach, &before) : __builtin_add_overflow(after, reach, &after)))
      return {};
  }
  std::int64_t span = 0, bytes = 0;
  if (__builtin_add_overflow(before, after, &span) || __builtin_add_overflow(span, 1, &span) ||
      __builtin_mul_overflow(span, static_cast<std::int64_t>(element_size), &bytes))
    return {};
  return StridedRange{before, span};
}

}  // namespace sinter::inline v1::detail

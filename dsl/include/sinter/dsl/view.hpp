// Views: the same memory under another shape. Compiled code over plain tensors; Tensor's methods forward here.
#pragma once
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1 {

/// Part of an axis, as x(range(0, 2), range()): positions first, first + step, ... before last. Negative positions
/// count from the end, bounds past it are cut and `none` is where the walk starts or ends by itself, as in Python:
/// `range()` is the whole axis, `range(range::none, range::none, -1)` the whole axis backwards.
struct range {
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
  std::int64_t first = none;
  std::int64_t last = none;
  std::int64_t step = 1;

  constexpr range() = default;
  constexpr range(std::int64_t from, std::int64_t to, std::int64_t by = 1) : first(from), last(to), step(by) {}
};

namespace detail {

/// A position or an axis: any integer, but no bool, which C++ would take for one.
struct Index {
  std::int64_t value;

  template <std::convertible_to<std::int64_t> I>
    requires(!std::floating_point<I>)
  constexpr Index(I i) : value(static_cast<std::int64_t>(i)) {
    static_assert(!std::is_same_v<I, bool>, "a position or an axis is an integer, not a bool; masks go to where");
  }
  constexpr operator std::int64_t() const noexcept { return value; }
};

using runtime::TensorImpl;
using runtime::TensorRef;

/// Each throws IndexError for an axis or position outside its range and ShapeError for a shape that does not fit,
/// naming the tensor's shape. Negative axes count from the end.
void check_index_count(const TensorImpl& x, std::size_t indices);
/// The transpose of a matrix; the same array below two dimensions.
TensorRef t(const TensorImpl& x);
TensorRef transpose(const TensorImpl& x, std::int64_t axis0, std::int64_t axis1);
TensorRef permute(const TensorImpl& x, std::span<const std::int64_t> axes);
TensorRef slice(const TensorImpl& x, std::int64_t axis, range r);
/// `length` positions from `start` on: unlike a slice's, its bounds must be there.
TensorRef narrow(const TensorImpl& x, std::int64_t axis, std::int64_t start, std::int64_t length);
TensorRef select(const TensorImpl& x, std::int64_t axis, std::int64_t index);
TensorRef expand(const TensorImpl& x, const Shape& shape);
TensorRef squeeze(const TensorImpl& x);
TensorRef squeeze(const TensorImpl& x, std::int64_t axis);
TensorRef unsqueeze(const TensorImpl& x, std::int64_t axis);
/// The same elements in row-major order under another shape; one extent may be -1. Null where that needs a copy.
TensorRef reshaped_view(const TensorImpl& x, const Shape& shape);
/// reshaped_view, or a reshaped copy.
TensorRef reshape(TensorImpl& x, const Shape& shape);

}  // namespace detail
}  // namespace sinter::inline v1

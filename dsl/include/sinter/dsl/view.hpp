// Views: the same memory under another shape. Compiled code over plain tensors; Tensor's methods forward here.
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

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
/// The same elements in row-major order under another shape; one extent may be -1. Throws ShapeError where that needs a
/// copy.
TensorRef view_as_shape(const TensorImpl& x, const Shape& shape);
/// The same, or a copy.
TensorRef reshape(TensorImpl& x, const Shape& shape);
/// The axes from `first` to `last`, both included, as one; an axis as several, whose extents may hold one -1.
TensorRef flatten(TensorImpl& x, std::int64_t first, std::int64_t last);
TensorRef unflatten(const TensorImpl& x, std::int64_t axis, const Shape& extents);
TensorRef movedim(const TensorImpl& x, std::int64_t from, std::int64_t to);
TensorRef flip(const TensorImpl& x, std::span<const std::int64_t> axes);
TensorRef diagonal(const TensorImpl& x, std::int64_t offset, std::int64_t axis0, std::int64_t axis1);
TensorRef unfold(const TensorImpl& x, std::int64_t axis, std::int64_t size, std::int64_t step);
/// Parts along an axis: of `size` positions each, the last with what is left; or so many, as equal as split allows.
std::vector<TensorRef> split(const TensorImpl& x, std::int64_t size, std::int64_t axis);
std::vector<TensorRef> chunk(const TensorImpl& x, std::int64_t count, std::int64_t axis);
std::vector<TensorRef> unbind(const TensorImpl& x, std::int64_t axis);

/// A tensor's views: other shapes over the same memory. Negative axes count from the end. They throw IndexError for an
/// axis or a position that is not there, and ShapeError for a shape that does not fit.
template <class Self>
class Views {
 public:
  Self transpose(Index axis0, Index axis1) const { return Self(detail::transpose(viewed(), axis0, axis1)); }
  /// The transpose of a matrix. Throws ShapeError past two dimensions.
  Self t() const { return Self(detail::t(viewed())); }
  template <std::convertible_to<Index>... I>
  Self permute(I... axes) const {
    return Self(detail::permute(viewed(), positions(axes...)));
  }
  Self movedim(Index from, Index to) const { return Self(detail::movedim(viewed(), from, to)); }

  Self slice(Index axis, std::int64_t first = range::none, std::int64_t last = range::none,
             std::int64_t step = 1) const {
    return Self(detail::slice(viewed(), axis, range(first, last, step)));
  }
  /// Positions start ... start + length - 1, which must be there.
  Self narrow(Index axis, Index start, Index length) const {
    return Self(detail::narrow(viewed(), axis, start, length));
  }
  Self select(Index axis, Index index) const { return Self(detail::select(viewed(), axis, index)); }
  /// Backwards along these axes: a view, where PyTorch copies.
  template <std::convertible_to<Index>... I>
  Self flip(I... axes) const {
    return Self(detail::flip(viewed(), positions(axes...)));
  }
  /// Elements i, i + offset of two axes, as a last axis.
  Self diagonal(Index offset = 0, Index axis0 = 0, Index axis1 = 1) const {
    return Self(detail::diagonal(viewed(), offset, axis0, axis1));
  }
  /// Windows of `size` positions, `step` apart, along an axis; the positions in a window become a last axis.
  Self unfold(Index axis, Index size, Index step) const { return Self(detail::unfold(viewed(), axis, size, step)); }

  Self expand(const Shape& to) const { return Self(detail::expand(viewed(), to)); }
  Self broadcast_to(const Shape& to) const { return expand(to); }
  /// A view where the layout allows, else a copy.
  Self reshape(const Shape& to) const { return Self(detail::reshape(self().impl(), to)); }
  /// Throws ShapeError where the layout does not allow it.
  Self view(const Shape& to) const { return Self(detail::view_as_shape(viewed(), to)); }
  /// As reshape.
  Self flatten(Index first = 0, Index last = -1) const { return Self(detail::flatten(self().impl(), first, last)); }
  Self unflatten(Index axis, const Shape& extents) const { return Self(detail::unflatten(viewed(), axis, extents)); }
  Self squeeze() const { return Self(detail::squeeze(viewed())); }
  Self squeeze(Index axis) const { return Self(detail::squeeze(viewed(), axis)); }
  Self unsqueeze(Index axis) const { return Self(detail::unsqueeze(viewed(), axis)); }

  std::vector<Self> split(Index size, Index axis = 0) const { return all(detail::split(viewed(), size, axis)); }
  std::vector<Self> chunk(Index count, Index axis = 0) const { return all(detail::chunk(viewed(), count, axis)); }
  std::vector<Self> unbind(Index axis = 0) const { return all(detail::unbind(viewed(), axis)); }

  /// x[i]: position i of the first axis.
  Self operator[](Index index) const { return (*this)(index); }
  /// x(range(0, 2), 1): an integer drops its axis, a range keeps part of it; axes not named are whole.
  template <class... I>
    requires((std::is_same_v<I, range> || std::convertible_to<I, Index>) && ...)
  Self operator()(I... indices) const {
    check_index_count(viewed(), sizeof...(I));
    Self part = self();
    std::int64_t axis = 0;
    ((part = Views::index(part, axis, indices)), ...);
    return part;
  }

 private:
  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
  const TensorImpl& viewed() const { return self().impl(); }
  template <class... I>
  static std::array<std::int64_t, sizeof...(I)> positions(I... i) {
    return {Index(i).value...};
  }
  static std::vector<Self> all(std::vector<TensorRef> parts) {
    std::vector<Self> tensors;
    for (TensorRef& part : parts) tensors.emplace_back(std::move(part));
    return tensors;
  }
  static Self index(const Self& x, std::int64_t& axis, range r) { return x.slice(axis++, r.first, r.last, r.step); }
  static Self index(const Self& x, std::int64_t& axis, Index i) { return x.select(axis, i); }
};

}  // namespace detail
}  // namespace sinter::inline v1

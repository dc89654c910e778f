// Views: the same memory in another shape. Compiled code on untyped tensors; Tensor's methods forward here.
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/dsl/axis.hpp>
#include <sinter/dsl/indexing_methods.hpp>
#include <sinter/runtime/function_ref.hpp>
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1 {

/// Part of an axis, as in x(range(0, 2), range()): positions first, first + step, ... before last. As in Python,
/// negative positions count from the end and bounds beyond the axis are clamped. `none` leaves a bound open: `range()`
/// is the whole axis, `range(range::none, range::none, -1)` the whole axis reversed.
struct range {
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
  std::int64_t first = none;
  std::int64_t last = none;
  std::int64_t step = 1;

  constexpr range() = default;
  constexpr range(std::int64_t from, std::int64_t to, std::int64_t by = 1) : first(from), last(to), step(by) {}
};

namespace detail {

using runtime::TensorImpl;
using runtime::TensorRef;

/// Each throws IndexError for an axis or position out of range and ShapeError for a shape that does not fit, naming the
/// tensor's shape. Negative axes count from the end.
void check_index_count(const TensorImpl& x, std::size_t indices);
/// The transpose of a matrix; below two dimensions the same array.
TensorRef t(const TensorImpl& x);
TensorRef transpose(const TensorImpl& x, std::int64_t axis0, std::int64_t axis1);
TensorRef permute(const TensorImpl& x, std::span<const std::int64_t> axes);
TensorRef slice(const TensorImpl& x, std::int64_t axis, range r);
/// `length` positions beginning at `start`. Unlike a slice's, its bounds are not clamped.
TensorRef narrow(const TensorImpl& x, std::int64_t axis, std::int64_t start, std::int64_t length);
TensorRef select(const TensorImpl& x, std::int64_t axis, std::int64_t index);
TensorRef expand(const TensorImpl& x, const Shape& shape);
TensorRef squeeze(const TensorImpl& x);
TensorRef squeeze(const TensorImpl& x, std::int64_t axis);
TensorRef unsqueeze(const TensorImpl& x, std::int64_t axis);
/// The same elements in row-major order in another shape; one extent may be -1. Throws ShapeError if that needs a copy.
TensorRef view_as_shape(const TensorImpl& x, const Shape& shape);
/// A view as view_as_shape gives it, or a copy if necessary.
TensorRef reshape(TensorImpl& x, const Shape& shape);
/// Merges the axes from `first` to `last`, both included; splits an axis into several, whose extents may hold one -1.
TensorRef flatten(TensorImpl& x, std::int64_t first, std::int64_t last);
TensorRef unflatten(const TensorImpl& x, std::int64_t axis, const Shape& extents);
TensorRef movedim(const TensorImpl& x, std::int64_t from, std::int64_t to);
TensorRef flip(const TensorImpl& x, std::span<const std::int64_t> axes);
TensorRef diagonal(const TensorImpl& x, std::int64_t offset, std::int64_t axis0, std::int64_t axis1);
TensorRef unfold(const TensorImpl& x, std::int64_t axis, std::int64_t size, std::int64_t step);
/// Parts along an axis: of `size` positions each, the last with the rest; or `count` parts, as equal as split allows.
std::vector<TensorRef> split(const TensorImpl& x, std::int64_t size, std::int64_t axis);
std::vector<TensorRef> chunk(const TensorImpl& x, std::int64_t count, std::int64_t axis);
std::vector<TensorRef> unbind(const TensorImpl& x, std::int64_t axis);
/// The real parts (0) or the imaginary ones (1). Throws DTypeError for imaginary parts of real numbers.
TensorRef part_view(const TensorImpl& x, int part);
TensorRef view_as_real(const TensorImpl& x);
TensorRef view_as_complex(const TensorImpl& x);
/// Makes one view of a tensor, or several.
using MakeView = runtime::FunctionRef<TensorRef(TensorImpl&)>;
using MakeViews = runtime::FunctionRef<std::vector<TensorRef>(TensorImpl&)>;

/// Views. Of a tensor: other shapes of the same memory. Of an expression: the same expression over views of its
/// tensors, so nothing is computed; an expression that reduces is evaluated, and the view is a tensor. Negative axes
/// count from the end. They throw IndexError for an axis or a position out of range, and ShapeError for a shape that
/// does not fit.
///
/// `Self` provides view_of(self, f) and parts_of(self, f), for an f that makes one view of a tensor, or several.
template <class Self>
class Views {
 public:
  auto transpose(Index axis0, Index axis1) const {
    return viewed([&](TensorImpl& x) { return detail::transpose(x, axis0, axis1); });
  }
  /// The transpose of a matrix. Throws ShapeError above two dimensions.
  auto t() const {
    return viewed([](TensorImpl& x) { return detail::t(x); });
  }
  template <std::convertible_to<Index>... I>
  auto permute(I... axes) const {
    return viewed([&](TensorImpl& x) { return detail::permute(x, positions(axes...)); });
  }
  auto permute(std::initializer_list<Index> axes) const {
    return viewed([&](TensorImpl& x) { return detail::permute(x, Axes(axes).given()); });
  }
  auto movedim(Index from, Index to) const {
    return viewed([&](TensorImpl& x) { return detail::movedim(x, from, to); });
  }

  auto slice(Index axis, std::int64_t first = range::none, std::int64_t last = range::none,
             std::int64_t step = 1) const {
    return viewed([&](TensorImpl& x) { return detail::slice(x, axis, range(first, last, step)); });
  }
  /// Positions start ... start + length - 1, which must exist.
  auto narrow(Index axis, Index start, Index length) const {
    return viewed([&](TensorImpl& x) { return detail::narrow(x, axis, start, length); });
  }
  auto select(Index axis, Index index) const {
    return viewed([&](TensorImpl& x) { return detail::select(x, axis, index); });
  }
  /// Reversed along these axes: a view, whereas PyTorch copies.
  template <std::convertible_to<Index>... I>
  auto flip(I... axes) const {
    return viewed([&](TensorImpl& x) { return detail::flip(x, positions(axes...)); });
  }
  auto flip(std::initializer_list<Index> axes) const {
    return viewed([&](TensorImpl& x) { return detail::flip(x, Axes(axes).given()); });
  }
  /// The elements (i, i + offset) of two axes, as a last axis.
  auto diagonal(Index offset = 0, Index axis0 = 0, Index axis1 = 1) const {
    return viewed([&](TensorImpl& x) { return detail::diagonal(x, offset, axis0, axis1); });
  }
  /// Windows of `size` positions along an axis, `step` apart; the positions in a window become a last axis.
  auto unfold(Index axis, Index size, Index step) const {
    return viewed([&](TensorImpl& x) { return detail::unfold(x, axis, size, step); });
  }

  auto expand(const Shape& to) const {
    return viewed([&](TensorImpl& x) { return detail::expand(x, to); });
  }
  auto broadcast_to(const Shape& to) const { return expand(to); }
  /// A view if the layout allows it, else over copies of the tensors whose layout does not.
  auto reshape(const Shape& to) const {
    return viewed([&](TensorImpl& x) { return detail::reshape(x, to); });
  }
  /// Throws ShapeError if the layout does not allow it.
  auto view(const Shape& to) const {
    return viewed([&](TensorImpl& x) { return detail::view_as_shape(x, to); });
  }
  /// Like reshape.
  auto flatten(Index first = 0, Index last = -1) const {
    return viewed([&](TensorImpl& x) { return detail::flatten(x, first, last); });
  }
  auto unflatten(Index axis, const Shape& extents) const {
    return viewed([&](TensorImpl& x) { return detail::unflatten(x, axis, extents); });
  }
  auto squeeze() const {
    return viewed([](TensorImpl& x) { return detail::squeeze(x); });
  }
  auto squeeze(Index axis) const {
    return viewed([&](TensorImpl& x) { return detail::squeeze(x, axis); });
  }
  auto unsqueeze(Index axis) const {
    return viewed([&](TensorImpl& x) { return detail::unsqueeze(x, axis); });
  }

  auto split(Index size, Index axis = 0) const {
    return parts([&](TensorImpl& x) { return detail::split(x, size, axis); });
  }
  auto chunk(Index count, Index axis = 0) const {
    return parts([&](TensorImpl& x) { return detail::chunk(x, count, axis); });
  }
  auto unbind(Index axis = 0) const {
    return parts([&](TensorImpl& x) { return detail::unbind(x, axis); });
  }

  /// x[i]: position i of the first axis.
  auto operator[](Index index) const { return (*this)(index); }
  /// x[indices]: those positions of the first axis, as an expression of shape indices.shape() + x.shape()[1:]; see
  /// indexing.hpp.
  template <class I>
    requires(std::is_base_of_v<ExpressionTag, std::remove_cvref_t<I>> &&
             !std::is_same_v<typename std::remove_cvref_t<I>::value_type, bool>)
  auto operator[](I&& indices) const {
    static_assert(GatherCheck<Self, I>::integers, SINTER_NO_INDICES);
    static_assert(GatherCheck<Self, I>::devices, SINTER_DIFFERENT_DEVICES);
    return gather_along(GatherKind::Rows, self(), 0, std::forward<I>(indices));
  }
  /// x[x > 0]: the parts for which a mask over the first axes is true, as a new tensor of shape (count, the other
  /// extents); see mask.hpp. Const, since writing to it would not write to x; use masked_fill_. Throws IndexError if
  /// the mask's shape is not that of the first axes, DeviceError.
  template <class M>
    requires(std::is_base_of_v<ExpressionTag, std::remove_cvref_t<M>> &&
             std::is_same_v<typename std::remove_cvref_t<M>::value_type, bool>)
  decltype(auto) operator[](M&& mask) const {
    return masked_parts(self(), mask);
  }
  /// x(range(0, 2), 1): an integer removes its axis, a range keeps part of it; the remaining axes stay whole.
  template <class... I>
    requires((std::is_same_v<I, range> || std::convertible_to<I, Index>) && ...)
  auto operator()(I... indices) const {
    return indexed(index(indices)...);
  }
  /// A tensor of indices must be the only index.
  template <class... I>
    requires(std::is_base_of_v<ExpressionTag, I> || ...)
  Self operator()(const I&...) const {
    static_assert(sizeof...(I) == 0,
                  "x(i, range()) takes integers and ranges: write x[indices] to read along the first axis, "
                  "index_select(x, axis, indices) along another and masked_select(x, mask)");
    return self();
  }

 private:
  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
  // Found by argument-dependent lookup: each kind of Self has its own.
  template <class F>
  auto viewed(F view) const {
    return view_of(self(), view);
  }
  template <class F>
  auto parts(F view) const {
    return parts_of(self(), view);
  }
  template <class... I>
  static std::array<std::int64_t, sizeof...(I)> positions(I... i) {
    return {Index(i).value...};
  }
  static range index(range r) { return r; }
  static Index index(Index i) { return i; }
  template <class... I>
  auto indexed(I... indices) const {
    return viewed([&](TensorImpl& x) {
      check_index_count(x, sizeof...(I));
      TensorRef part = TensorRef::share(&x);
      std::int64_t axis = 0;
      ((part = taken(*part, axis, indices)), ...);
      return part;
    });
  }
  static TensorRef taken(const TensorImpl& x, std::int64_t& axis, range r) { return detail::slice(x, axis++, r); }
  static TensorRef taken(const TensorImpl& x, std::int64_t& axis, Index i) { return detail::select(x, axis, i); }
};

}  // namespace detail
}  // namespace sinter::inline v1

// Scans along an axis: cumsum, cumprod, logcumsumexp, cummax, cummin. Each has the shape of x. They evaluate.
//
// They throw IndexError for an axis out of range, and what evaluation throws.
#pragma once
#include <type_traits>

#include <sinter/dsl/sort.hpp>

namespace sinter::inline v1 {

namespace detail {

/// The result dtype of sums and products.
template <class T>
struct Accumulated {
  using type = T;
};
template <element T>
  requires(category(dtype_of<T>) <= Category::Int && dtype_of<T> != DType::UInt64)
struct Accumulated<T> {
  using type = std::int64_t;
};

/// The scan of an expression's value, through which gradients flow.
jit::LazyRef scan_of(const jit::LazyRef& x, std::int64_t axis, jit::Scan what);

/// The elements converted to T, unless it is void.
template <class T, class X>
auto scanned(const X& x, std::int64_t axis, jit::Scan what) {
  if constexpr (!std::is_void_v<T>) {
    if constexpr (is_tensor<X>)
      return scanned<void>(tensor_from(apply_cast<T>(x)), axis, what);
    else
      return scanned<void>(apply_cast<T>(x), axis, what);
  } else {
    using Element = typename Accumulated<deduced_element<X>>::type;
    if constexpr (is_error<X>)
      return Tensor<Element, deduced_device<X>>();
    else if constexpr (keeps_history<X>)
      return Lazy<Element, deduced_device<X>>(scan_of(lazy_node(x), axis, what));
    else
      return Tensor<Element, deduced_device<X>>(jit::scan(*array_of(x), axis, what));
  }
}
template <class X>
auto scanned(const X& x, std::int64_t axis, jit::Extreme what) {
  return values_and_indices(x, axis, [=](TensorImpl& array) { return jit::scan(array, axis, what); });
}

}  // namespace detail

/// Cumulative sums: int64, which wraps, for bools and integers, but uint64 for uint64. The elements are first converted
/// to T, if given: cumsum<double>(x, 0). Floats accumulate in double, 16-bit floats in float; each result is rounded
/// once.
template <class T = void, expression X>
auto cumsum(const X& x, detail::Index axis) {
  return detail::scanned<T>(x, axis, jit::Scan::Sum);
}

/// Cumulative products, with the same dtypes.
template <class T = void, expression X>
auto cumprod(const X& x, detail::Index axis) {
  return detail::scanned<T>(x, axis, jit::Scan::Prod);
}

/// log(sum(exp(...))) of the elements up to each one, without overflow. For floats; throws DTypeError.
template <expression X>
auto logcumsumexp(const X& x, detail::Index axis) {
  return detail::scanned<void>(x, axis, jit::Scan::LogSumExp);
}

/// The largest element so far and its position along the axis, the last of equal ones. NaN is above everything.
template <expression X>
auto cummax(const X& x, detail::Index axis) {
  static_assert(detail::has_order<X>, SINTER_NO_ORDER);
  return detail::scanned(x, axis, jit::Extreme::Max);
}

/// The smallest element so far, likewise; NaN is below everything.
template <expression X>
auto cummin(const X& x, detail::Index axis) {
  static_assert(detail::has_order<X>, SINTER_NO_ORDER);
  return detail::scanned(x, axis, jit::Extreme::Min);
}

}  // namespace sinter::inline v1

// Order along an axis: sort, argsort, topk, kthvalue, median, nanmedian. They evaluate.
//
// NaN is above every number, whatever its sign; -0 and 0 are equal. Equal elements keep the order of their positions,
// in descending order too: every sort is stable, and results are the same on every device. Bools can be sorted too.
//
// They throw IndexError for an axis out of range, DTypeError for a complex AnyTensor, and what evaluation throws.
#pragma once
#include <utility>

#include <sinter/dsl/indexing.hpp>
#include <sinter/dsl/values_and_indices.hpp>

namespace sinter::inline v1 {

namespace detail {

template <class X>
using positions_of = Tensor<std::int64_t, deduced_device<X>>;

template <class X, class Values>
using values_and_indices_of = ValuesAndIndices<deduced_element<X>, deduced_device<X>, Values>;

/// Applies `order` to x's array. The values of an expression are gathered from it.
template <class X, class F>
auto values_and_indices(const X& x, std::int64_t axis, F order) {
  if constexpr (is_error<X> || !has_order<X>) {
    return values_and_indices_of<X, Tensor<deduced_element<X>, deduced_device<X>>>();
  } else {
    decltype(auto) source = in_memory(x);
    jit::ValuesAndIndices found = order(source.impl());
    positions_of<X> indices(std::move(found.indices));
    if constexpr (!keeps_history<X>) {
      Tensor<value_type_of<X>, deduced_device<X>> values(std::move(found.values));
      return values_and_indices_of<X, decltype(values)>{std::move(values), std::move(indices)};
    } else {
      auto values = elements_at(source, axis, indices);
      return values_and_indices_of<X, decltype(values)>{std::move(values), std::move(indices)};
    }
  }
}

template <class X>
auto sorted(const X& x, std::int64_t axis, bool descending, bool /*stable*/) {
  return values_and_indices(x, axis, [=](TensorImpl& array) { return jit::sort(array, axis, descending); });
}
template <class X>
auto sorted_indices(const X& x, std::int64_t axis, bool descending, bool /*stable*/) {
  if constexpr (is_error<X> || !has_order<X>)
    return positions_of<X>();
  else
    return positions_of<X>(jit::argsort(*array_of(x), axis, descending));
}
template <class X>
auto first_sorted(const X& x, std::int64_t k, std::int64_t axis, bool largest, bool /*in_order*/) {
  return values_and_indices(x, axis, [=](TensorImpl& array) { return jit::topk(array, k, axis, largest); });
}
template <class X>
auto one_of_sorted(const X& x, std::int64_t k, std::int64_t axis, bool keeps) {
  return values_and_indices(x, axis, [=](TensorImpl& array) { return jit::kthvalue(array, k, axis, keeps); });
}
template <class X>
auto median_along(const X& x, std::int64_t axis, bool keeps, jit::NanPolicy nan) {
  return values_and_indices(x, axis, [=](TensorImpl& array) { return jit::median(array, axis, keeps, nan); });
}
template <class X>
auto median_of_all(const X& x, jit::NanPolicy nan) {
  using T = Tensor<deduced_element<X>, deduced_device<X>>;
  if constexpr (is_error<X> || !has_order<X>) {
    return T();
  } else if constexpr (!keeps_history<X>) {
    return T(jit::median(*array_of(x), nan));
  } else {
    const auto source = in_memory(x);
    if (source.impl().numel == 0) return Lazy(T(jit::median(source.impl(), nan)));
    return median_along(source.reshape(Shape(source.impl().numel)), 0, false, nan).values;
  }
}

}  // namespace detail

/// The elements along an axis in order, and their positions, in x's shape. Always stable.
template <expression X>
auto sort(const X& x, detail::Index axis = -1, bool descending = false, bool stable = false) {
  static_assert(detail::has_order<X>, SINTER_NO_ORDER);
  return detail::sorted(x, axis, descending, stable);
}

/// The indices that sort x along an axis, in x's shape.
template <expression X>
auto argsort(const X& x, detail::Index axis = -1, bool descending = false, bool stable = false) {
  static_assert(detail::has_order<X>, SINTER_NO_ORDER);
  return detail::sorted_indices(x, axis, descending, stable);
}

/// The k largest or smallest elements along an axis: x's shape with extent k along the axis. Always in order; of equal
/// elements the first are taken. Throws IndexError if there are fewer than k.
template <expression X>
auto topk(const X& x, std::int64_t k, detail::Index axis = -1, bool largest = true, bool sorted = true) {
  static_assert(detail::has_order<X>, SINTER_NO_ORDER);
  return detail::first_sorted(x, k, axis, largest, sorted);
}

/// The k-th smallest element along an axis, counted from 1: x's shape without the axis, or with extent 1 there. Of
/// equal elements, the one that a stable sort puts there. Throws IndexError for a k outside the axis.
template <expression X>
auto kthvalue(const X& x, std::int64_t k, detail::Index axis = -1, detail::KeepDim keep = false) {
  static_assert(detail::has_order<X>, SINTER_NO_ORDER);
  return detail::one_of_sorted(x, k, axis, keep.keeps);
}

/// The median of all elements: 0-d, the lower of two middle elements, NaN if any element is NaN or x is empty. Throws
/// Error for an empty x of a dtype without NaN.
template <expression X>
auto median(const X& x) {
  static_assert(detail::has_order<X>, SINTER_NO_ORDER);
  return detail::median_of_all(x, jit::NanPolicy::Propagates);
}
/// The median along an axis, or the first NaN if there is one: x's shape without the axis, or with extent 1 there.
/// Throws IndexError along an axis without elements.
template <expression X>
auto median(const X& x, detail::Index axis, detail::KeepDim keep = false) {
  static_assert(detail::has_order<X>, SINTER_NO_ORDER);
  return detail::median_along(x, axis, keep.keeps, jit::NanPolicy::Propagates);
}

/// The median of the elements that are not NaN; NaN if there are none.
template <expression X>
auto nanmedian(const X& x) {
  static_assert(detail::has_order<X>, SINTER_NO_ORDER);
  return detail::median_of_all(x, jit::NanPolicy::Ignored);
}
template <expression X>
auto nanmedian(const X& x, detail::Index axis, detail::KeepDim keep = false) {
  static_assert(detail::has_order<X>, SINTER_NO_ORDER);
  return detail::median_along(x, axis, keep.keeps, jit::NanPolicy::Ignored);
}

}  // namespace sinter::inline v1

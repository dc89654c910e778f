// Selection by masks: nonzero, masked_select, x[mask]. The size of the result depends on the data, so these evaluate
// and, on a GPU, wait for it.
#pragma once
#include <sinter/dsl/evaluate.hpp>
#include <sinter/jit/select.hpp>

namespace sinter::inline v1 {

namespace detail {

template <class E>
inline constexpr bool is_tensor = requires(const std::remove_cvref_t<E>& e) { e.impl(); };

/// A tensor's own array, or a new one holding an expression's value.
template <class E>
TensorRef array_of(const E& e) {
  if constexpr (is_tensor<E>)
    return TensorRef::share(&e.impl());
  else
    return evaluate_one(lift(e));
}

template <class M>
inline constexpr bool is_mask = same_dtype<bool, value_type_of<M>> || std::is_same_v<value_type_of<M>, Unknown>;

template <class X>
auto true_positions(const X& x) {
  using Result = Tensor<std::int64_t, deduced_device<X>>;
  if constexpr (is_error<X>)
    return Result();
  else if constexpr (std::is_same_v<value_type_of<X>, bool>)
    return Result(jit::nonzero(*array_of(x)));
  else
    return Result(jit::nonzero(*evaluate_one(lift(x != 0))));
}

template <class X, class M>
auto selected(const X& x, const M& mask) {
  static_assert(same_device<device_of<X>, device_of<M>>, SINTER_DIFFERENT_DEVICES);
  static_assert(is_mask<M>, SINTER_NO_MASK);
  if constexpr (!same_device<device_of<X>, device_of<M>> || is_error<X> || is_error<M> || !is_mask<M>) {
    return Tensor<deduced_element<X>>();
  } else {
    TensorRef arrays[2];
    if constexpr (is_tensor<X> || is_tensor<M>)
      arrays[0] = array_of(x), arrays[1] = array_of(mask);
    else
      evaluate_all(arrays, jit::Mode::Fused, lift(x), lift(mask));
    return Tensor<deduced_element<X>, common_device<device_of<X>, device_of<M>>>(
        jit::masked_select(*arrays[0], *arrays[1]));
  }
}

template <class X, class M>
auto masked_parts(const X& x, const M& mask) -> const Tensor<deduced_element<X>, deduced_device<X>> {
  static_assert(same_device<device_of<X>, device_of<M>>, SINTER_DIFFERENT_DEVICES);
  if constexpr (!same_device<device_of<X>, device_of<M>> || is_error<X>)
    return {};
  else
    return Tensor<deduced_element<X>, deduced_device<X>>(jit::masked_parts(*array_of(x), *array_of(mask)));
}

}  // namespace detail

/// The coordinates of x's nonzero elements, one element per row, in row-major order: int64, shape (count, ndim of x).
/// For a 0-d tensor the shape is (1, 0) or (0, 0).
template <expression X>
auto nonzero(const X& x) {
  return detail::true_positions(x);
}

/// The elements of x where the mask, of bools, is true, in row-major order of the shape that both broadcast to. Shape:
/// (count,). Throws ShapeError, DeviceError, and DTypeError for a mask of another dtype.
template <expression X, expression M>
auto masked_select(const X& x, const M& mask) {
  return detail::selected(x, mask);
}

}  // namespace sinter::inline v1

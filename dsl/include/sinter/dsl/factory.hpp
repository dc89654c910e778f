// Factories such as zeros, ones and arange. Each takes a device and computes the elements there.
#pragma once
#include <sinter/dsl/literal.hpp>

namespace sinter::inline v1 {

namespace detail {

TensorRef full(const Shape& shape, DType dtype, Device device, Number value);
TensorRef arange(std::int64_t start, std::int64_t end, std::int64_t step, DType dtype, Device device);
TensorRef arange(double start, double end, double step, DType dtype, Device device);
TensorRef linspace(double start, double end, std::int64_t steps, DType dtype, Device device);
TensorRef eye(std::int64_t rows, std::int64_t columns, DType dtype, Device device);

template <class T>
DType dtype_like(const TensorImpl& x) {
  if constexpr (std::is_void_v<T>)
    return x.dtype;
  else
    return dtype_of<T>;
}
inline Device device_like(const TensorImpl& x) { return x.device; }
template <class D>
Device device_like(const TensorImpl&, const D& device) {
  return Device(device);
}
template <class Dx, class... D>
struct DeviceLike {
  using type = Dx;
};
template <class Dx, class D>
struct DeviceLike<Dx, D> {
  using type = device_type_of<D>;
};
template <class T, class X, class Dx, class Y, class... D>
using tensor_like = Tensor<std::conditional_t<std::is_void_v<T>, X, T>, typename DeviceLike<Dx, D...>::type, Y>;

/// arange's arithmetic: in integers if all three arguments are integers.
template <class... S>
using arange_number = std::conditional_t<(std::is_integral_v<S> && ...), std::int64_t, double>;

}  // namespace detail

/// Uninitialized memory. Throws ShapeError, DeviceError, OutOfMemory, as all of these do.
template <element T = float, device_argument D = Cpu>
Tensor<T, device_type_of<D>> empty(const Shape& shape, const D& device = {}) {
  return Tensor<T, device_type_of<D>>(runtime::empty(shape, dtype_of<T>, detail::made_on(device)));
}
template <element T = float, device_argument D = Cpu>
Tensor<T, device_type_of<D>> zeros(const Shape& shape, const D& device = {}) {
  return Tensor<T, device_type_of<D>>(detail::full(shape, dtype_of<T>, detail::made_on(device), false));
}
template <element T = float, device_argument D = Cpu>
Tensor<T, device_type_of<D>> ones(const Shape& shape, const D& device = {}) {
  return Tensor<T, device_type_of<D>>(detail::full(shape, dtype_of<T>, detail::made_on(device), true));
}
/// Every element is `value`, whose type gives the dtype as a literal's does: full({2}, 7) is int64. Throws Error if the
/// dtype cannot hold the value.
template <class T = void, detail::number S, device_argument D = Cpu>
Tensor<detail::literal_type<T, S>, device_type_of<D>> full(const Shape& shape, S value, const D& device = {}) {
  using U = detail::literal_type<T, S>;
  return Tensor<U, device_type_of<D>>(detail::full(shape, dtype_of<U>, detail::made_on(device), value));
}

/// start, start + step, ... before end. int64 if all arguments are integers, else float. Throws ShapeError if step is 0
/// or has the wrong sign.
template <class T = void, detail::real_scalar A, detail::real_scalar B, detail::real_scalar C = int,
          device_argument D = Cpu>
auto arange(A start, B end, C step, const D& device = {}) {
  using N = detail::arange_number<A, B, C>;
  using U = detail::literal_type<T, N>;
  return Tensor<U, device_type_of<D>>(detail::arange(detail::element_of<N>(start), detail::element_of<N>(end),
                                                     detail::element_of<N>(step), dtype_of<U>, Device(device)));
}
template <class T = void, detail::real_scalar A, detail::real_scalar B>
auto arange(A start, B end) {
  return arange<T>(start, end, 1);
}
template <class T = void, detail::real_scalar A, detail::real_scalar B, device_argument D>
  requires(!detail::cpp_scalar<D>)
auto arange(A start, B end, const D& device) {
  return arange<T>(start, end, 1, device);
}
/// 0, 1, ... before end.
template <class T = void, detail::real_scalar B>
auto arange(B end) {
  return arange<T>(B(0), end, 1);
}
template <class T = void, detail::real_scalar B, device_argument D>
  requires(!detail::cpp_scalar<D>)
auto arange(B end, const D& device) {
  return arange<T>(B(0), end, 1, device);
}

/// `steps` values from start to end, both included, evenly spaced.
template <floating_element T = float, device_argument D = Cpu>
Tensor<T, device_type_of<D>> linspace(double start, double end, std::int64_t steps, const D& device = {}) {
  return Tensor<T, device_type_of<D>>(detail::linspace(start, end, steps, dtype_of<T>, Device(device)));
}
/// Ones on the diagonal, zeros elsewhere, (rows, columns).
template <element T = float, device_argument D = Cpu>
Tensor<T, device_type_of<D>> eye(std::int64_t rows, std::int64_t columns, const D& device = {}) {
  return Tensor<T, device_type_of<D>>(detail::eye(rows, columns, dtype_of<T>, Device(device)));
}
template <element T = float>
Tensor<T, Cpu> eye(std::int64_t rows) {
  return eye<T>(rows, rows);
}
template <element T = float, device_argument D>
  requires(!detail::cpp_scalar<D>)
Tensor<T, device_type_of<D>> eye(std::int64_t rows, const D& device) {
  return eye<T>(rows, rows, device);
}

// With the shape of another tensor, its dtype unless T is given, and its device unless one is given.
template <class T = void, class X, class Dx, class Y, device_argument... D>
auto empty_like(const Tensor<X, Dx, Y>& x, const D&... device) {
  return detail::tensor_like<T, X, Dx, Y, D...>(
      runtime::empty(x.shape(), detail::dtype_like<T>(x.impl()), detail::device_like(x.impl(), device...)));
}
template <class T = void, class X, class Dx, class Y, detail::number S, device_argument... D>
auto full_like(const Tensor<X, Dx, Y>& x, S value, const D&... device) {
  return detail::tensor_like<T, X, Dx, Y, D...>(
      detail::full(x.shape(), detail::dtype_like<T>(x.impl()), detail::device_like(x.impl(), device...), value));
}
template <class T = void, class X, class Dx, class Y, device_argument... D>
auto zeros_like(const Tensor<X, Dx, Y>& x, const D&... device) {
  return full_like<T>(x, false, device...);
}
template <class T = void, class X, class Dx, class Y, device_argument... D>
auto ones_like(const Tensor<X, Dx, Y>& x, const D&... device) {
  return full_like<T>(x, true, device...);
}

}  // namespace sinter::inline v1

// Random tensors. Element i of the n-th number drawn since manual_seed is the same on every device.
#pragma once
#include <sinter/dsl/factory.hpp>

namespace sinter::inline v1 {

namespace detail {

enum class Distribution : std::uint8_t { Uniform, Normal };
/// Draws shape.numel() numbers from the process's generator.
TensorRef random(Distribution distribution, const Shape& shape, DType dtype, Device device);
TensorRef random_integers(std::int64_t low, std::int64_t high, const Shape& shape, DType dtype, Device device);

}  // namespace detail

/// Restarts the process's generator. Without it the seed is different in every run.
void manual_seed(std::uint64_t seed) noexcept;

/// Uniform in [0, 1).
template <floating_element T = float, device_argument D = Cpu>
Tensor<T, device_type_of<D>> rand(const Shape& shape, const D& device = {}) {
  return Tensor<T, device_type_of<D>>(
      detail::random(detail::Distribution::Uniform, shape, dtype_of<T>, detail::made_on(device)));
}
/// Normal with mean 0 and variance 1.
template <floating_element T = float, device_argument D = Cpu>
Tensor<T, device_type_of<D>> randn(const Shape& shape, const D& device = {}) {
  return Tensor<T, device_type_of<D>>(
      detail::random(detail::Distribution::Normal, shape, dtype_of<T>, detail::made_on(device)));
}
/// Integers in [low, high). Throws Error when there are none.
template <element T = std::int64_t, device_argument D = Cpu>
Tensor<T, device_type_of<D>> randint(std::int64_t low, std::int64_t high, const Shape& shape, const D& device = {}) {
  return Tensor<T, device_type_of<D>>(detail::random_integers(low, high, shape, dtype_of<T>, detail::made_on(device)));
}

// Like another: its shape, its dtype unless T says otherwise, its device unless one is given.
template <class T = void, class X, class Dx, device_argument... D>
auto rand_like(const Tensor<X, Dx>& x, const D&... device) {
  return detail::tensor_like<T, X, Dx, D...>(detail::random(detail::Distribution::Uniform, x.shape(),
                                                            detail::dtype_like<T>(x.impl()),
                                                            detail::device_like(x.impl(), device...)));
}
template <class T = void, class X, class Dx, device_argument... D>
auto randn_like(const Tensor<X, Dx>& x, const D&... device) {
  return detail::tensor_like<T, X, Dx, D...>(detail::random(detail::Distribution::Normal, x.shape(),
                                                            detail::dtype_like<T>(x.impl()),
                                                            detail::device_like(x.impl(), device...)));
}
template <class T = void, class X, class Dx, device_argument... D>
auto randint_like(const Tensor<X, Dx>& x, std::int64_t low, std::int64_t high, const D&... device) {
  return detail::tensor_like<T, X, Dx, D...>(detail::random_integers(
      low, high, x.shape(), detail::dtype_like<T>(x.impl()), detail::device_like(x.impl(), device...)));
}

}  // namespace sinter::inline v1

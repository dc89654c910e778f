// LayerNorm and RMSNorm: the last axes normalized, times a weight.
#pragma once
#include <optional>

#include <sinter/dsl/normalize.hpp>
#include <sinter/nn/parameter.hpp>

namespace sinter::inline v1 {

namespace detail {

/// Of this shape, where there is one, else a number. Throws ShapeError for a shape without axes.
TensorRef norm_parameter(const Shape& shape, bool exists, DType dtype, Device device, double value);
/// All axes of the shape, as the last ones.
jit::Along last_axes(const Shape& shape) noexcept;
/// "(10,), eps=1e-05, elementwise_affine=True"
std::string norm_text(const Shape& shape, std::optional<double> eps, bool affine);

}  // namespace detail

namespace nn {

struct LayerNormOptions {
  double eps = 1e-5;
  bool elementwise_affine = true;  // whether there are a weight and a bias
  bool bias = true;
  Device device = {};
};

/// (x - mean) / sqrt(variance + eps) * weight + bias over the last axes, whose shape is given. The weight begins as 1,
/// the bias as 0.
template <floating_element T = float, class D = AnyDevice>
class LayerNormOf : public Module<LayerNormOf<T, D>> {
 public:
  using device_type = D;
  template <class To>
  using on_device = LayerNormOf<T, To>;
  static constexpr const char* module_name = "LayerNorm";

  Tensor<T, D> weight, bias;  // of the normalized shape; without them, numbers 1 and 0 that are no parameters

  /// Throws ShapeError for a shape without axes, DeviceError, OutOfMemory.
  explicit LayerNormOf(const Shape& normalized_shape, const LayerNormOptions& o = {})
    requires std::is_same_v<D, AnyDevice>
      : weight(detail::norm_parameter(normalized_shape, o.elementwise_affine, dtype_of<T>, o.device, 1)),
        bias(detail::norm_parameter(normalized_shape, o.elementwise_affine && o.bias, dtype_of<T>, o.device, 0)),
        shape_(normalized_shape),
        eps_(o.eps) {}
  explicit LayerNormOf(std::initializer_list<std::int64_t> normalized_shape, const LayerNormOptions& o = {})
    requires std::is_same_v<D, AnyDevice>
      : LayerNormOf(Shape(std::span(normalized_shape.begin(), normalized_shape.size())), o) {}
  template <class From>
  explicit(!detail::widens<From, D>) LayerNormOf(const LayerNormOf<T, From>& other)
      : Module<LayerNormOf>(other),
        weight(other.weight),
        bias(other.bias),
        shape_(other.normalized_shape()),
        eps_(other.eps()) {}

  const Shape& normalized_shape() const noexcept { return shape_; }
  double eps() const noexcept { return eps_; }

  /// Throws ShapeError, DtypeError and DeviceError that name the layer, its weight and the input.
  template <expression X>
  auto operator()(const X& x) const {
    static_assert(detail::same_device<detail::device_of<X>, D>, SINTER_DIFFERENT_DEVICES);
    static_assert(detail::dtype_may_fit<X, T>, SINTER_MODULE_DTYPE);
    if constexpr (detail::may_enter<X, T, D>) {
      detail::check_input(*this, x, weight.impl(), shape_);
      return detail::standardized(detail::last_axes(shape_), x, eps_) * weight + bias;
    } else {
      return detail::Reported();
    }
  }

  Members members() {
    Members list;
    list.add("weight", weight, detail::role_of(weight.impl()));
    list.add("bias", bias, detail::role_of(bias.impl()));
    return list;
  }
  std::string extra_repr() const { return detail::norm_text(shape_, eps_, weight.dim() != 0); }

 private:
  Shape shape_;
  double eps_;
};

struct RMSNormOptions {
  std::optional<double> eps = {};  // that of the input's dtype
  bool elementwise_affine = true;  // whether there is a weight
  Device device = {};
};

/// x / sqrt(mean(x^2) + eps) * weight over the last axes, whose shape is given. The weight begins as 1.
template <floating_element T = float, class D = AnyDevice>
class RMSNormOf : public Module<RMSNormOf<T, D>> {
 public:
  using device_type = D;
  template <class To>
  using on_device = RMSNormOf<T, To>;
  static constexpr const char* module_name = "RMSNorm";

  Tensor<T, D> weight;  // of the normalized shape; without one, a number 1 that is no parameter

  /// Throws ShapeError for a shape without axes, DeviceError, OutOfMemory.
  explicit RMSNormOf(const Shape& normalized_shape, const RMSNormOptions& o = {})
    requires std::is_same_v<D, AnyDevice>
      : weight(detail::norm_parameter(normalized_shape, o.elementwise_affine, dtype_of<T>, o.device, 1)),
        shape_(normalized_shape),
        eps_(o.eps) {}
  explicit RMSNormOf(std::initializer_list<std::int64_t> normalized_shape, const RMSNormOptions& o = {})
    requires std::is_same_v<D, AnyDevice>
      : RMSNormOf(Shape(std::span(normalized_shape.begin(), normalized_shape.size())), o) {}
  template <class From>
  explicit(!detail::widens<From, D>) RMSNormOf(const RMSNormOf<T, From>& other)
      : Module<RMSNormOf>(other), weight(other.weight), shape_(other.normalized_shape()), eps_(other.eps()) {}

  const Shape& normalized_shape() const noexcept { return shape_; }
  std::optional<double> eps() const noexcept { return eps_; }

  /// Throws ShapeError, DtypeError and DeviceError that name the layer, its weight and the input.
  template <expression X>
  auto operator()(const X& x) const {
    static_assert(detail::same_device<detail::device_of<X>, D>, SINTER_DIFFERENT_DEVICES);
    static_assert(detail::dtype_may_fit<X, T>, SINTER_MODULE_DTYPE);
    if constexpr (detail::may_enter<X, T, D>) {
      detail::check_input(*this, x, weight.impl(), shape_);
      return detail::with_rms_of_one(detail::last_axes(shape_), x, eps_.value_or(detail::epsilon_of(dtype_of<T>))) *
             weight;
    } else {
      return detail::Reported();
    }
  }

  Members members() {
    Members list;
    list.add("weight", weight, detail::role_of(weight.impl()));
    return list;
  }
  std::string extra_repr() const { return detail::norm_text(shape_, eps_, weight.dim() != 0); }

 private:
  Shape shape_;
  std::optional<double> eps_;
};

using LayerNorm = LayerNormOf<>;
using RMSNorm = RMSNormOf<>;

}  // namespace nn
}  // namespace sinter::inline v1

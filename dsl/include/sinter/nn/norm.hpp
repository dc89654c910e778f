// LayerNorm and RMSNorm: normalize the last axes and multiply by a weight.
#pragma once
#include <optional>

#include <sinter/dsl/normalize.hpp>
#include <sinter/nn/parameter.hpp>

namespace sinter::inline v1 {

namespace detail {

/// A parameter of this shape, or a number if it does not exist. Throws ShapeError for a shape without axes.
TensorRef norm_parameter(const Shape& shape, bool exists, DType dtype, Device device, double value);
/// All axes of the shape, as the last ones of an input.
jit::ReduceAxes last_axes(const Shape& shape) noexcept;
/// "(10,), eps=1e-05, elementwise_affine=True"
std::string norm_text(const Shape& shape, std::optional<double> eps, bool affine);

}  // namespace detail

namespace nn {

struct LayerNormOptions {
  double eps = 1e-5;
  bool elementwise_affine = true;  // whether there is a weight and a bias
  bool bias = true;
  Device device = {};
};

struct RMSNormOptions {
  std::optional<double> eps = {};  // defaults to the epsilon of the input's dtype
  bool elementwise_affine = true;  // whether there is a weight
  Device device = {};
};

}  // namespace nn

namespace detail {

/// What both layers share: the shape of the last axes, eps, a weight initialized to 1, and the checks of an input.
template <class Layer, class T, class D, class Eps>
class NormLayer : public nn::Module<Layer> {
 public:
  using device_type = D;

  Tensor<T, D> weight;  // of the normalized shape; if absent, a number 1 that is not a parameter

  const Shape& normalized_shape() const noexcept { return shape_; }
  Eps eps() const noexcept { return eps_; }
  std::string extra_repr() const { return norm_text(shape_, eps_, is_parameter(weight.ref())); }

 protected:
  template <class Options>
  NormLayer(const Shape& shape, const Options& o)
      : weight(norm_parameter(shape, o.elementwise_affine, dtype_of<T>, o.device, 1)), shape_(shape), eps_(o.eps) {}
  template <class Other, class From>
  explicit NormLayer(const NormLayer<Other, T, From, Eps>& other)
      : nn::Module<Layer>(other),
        weight(member_from<D>(other.weight)),
        shape_(other.normalized_shape()),
        eps_(other.eps()) {}

  /// Checks the input, then f(x) times the weight. Throws ShapeError, DTypeError and DeviceError naming the layer.
  template <class X, class F>
  auto weighted(const X& x, F f) const {
    static_assert(same_device<device_of<X>, D>, SINTER_DIFFERENT_DEVICES);
    static_assert(dtype_may_fit<X, T>, SINTER_MODULE_DTYPE);
    if constexpr (may_enter<X, T, D>) {
      check_input(this->self(), x, weight.impl(), shape_);
      return f(last_axes(shape_), x) * weight;
    } else {
      return ErrorExpression();
    }
  }

 private:
  Shape shape_;
  Eps eps_;
};

}  // namespace detail

namespace nn {

/// (x - mean) / sqrt(variance + eps) * weight + bias over the last axes, of the given shape. The weight is initialized
/// to 1, the bias to 0.
template <floating_element T = float, class D = AnyDevice>
class LayerNormOf : public detail::NormLayer<LayerNormOf<T, D>, T, D, double> {
  using Base = detail::NormLayer<LayerNormOf, T, D, double>;

 public:
  template <class To>
  using on_device = LayerNormOf<T, To>;
  static constexpr const char* module_name = "LayerNorm";

  using Base::weight;
  Tensor<T, D> bias;  // of the normalized shape; if absent, a number 0 that is not a parameter

  /// Throws ShapeError for a shape without axes, DeviceError, OutOfMemory.
  explicit LayerNormOf(const Shape& normalized_shape, const LayerNormOptions& o = {})
    requires std::is_same_v<D, AnyDevice>
      : Base(normalized_shape, o),
        bias(detail::norm_parameter(normalized_shape, o.elementwise_affine && o.bias, dtype_of<T>, o.device, 0)) {}
  explicit LayerNormOf(std::initializer_list<std::int64_t> normalized_shape, const LayerNormOptions& o = {})
    requires std::is_same_v<D, AnyDevice>
      : LayerNormOf(Shape(std::span(normalized_shape.begin(), normalized_shape.size())), o) {}
  template <class From>
  explicit(!detail::widens<From, D>) LayerNormOf(const LayerNormOf<T, From>& other)
      : Base(other), bias(detail::member_from<D>(other.bias)) {}

  /// Throws ShapeError, DTypeError and DeviceError naming the layer, its weight and the input.
  template <expression X>
  auto operator()(const X& x) const {
    const auto scaled = this->weighted(
        x, [&](jit::ReduceAxes axes, const X& input) { return detail::standardized(axes, input, this->eps()); });
    if constexpr (detail::is_error<decltype(scaled)>)
      return detail::ErrorExpression();
    else
      return scaled + bias;
  }

  Members members() {
    Members list;
    list.add("weight", weight, detail::role_of(weight.ref()));
    list.add("bias", bias, detail::role_of(bias.ref()));
    return list;
  }
};

/// x / sqrt(mean(x^2) + eps) * weight over the last axes, of the given shape. The weight is initialized to 1.
template <floating_element T = float, class D = AnyDevice>
class RMSNormOf : public detail::NormLayer<RMSNormOf<T, D>, T, D, std::optional<double>> {
  using Base = detail::NormLayer<RMSNormOf, T, D, std::optional<double>>;

 public:
  template <class To>
  using on_device = RMSNormOf<T, To>;
  static constexpr const char* module_name = "RMSNorm";

  using Base::weight;

  /// Throws ShapeError for a shape without axes, DeviceError, OutOfMemory.
  explicit RMSNormOf(const Shape& normalized_shape, const RMSNormOptions& o = {})
    requires std::is_same_v<D, AnyDevice>
      : Base(normalized_shape, o) {}
  explicit RMSNormOf(std::initializer_list<std::int64_t> normalized_shape, const RMSNormOptions& o = {})
    requires std::is_same_v<D, AnyDevice>
      : RMSNormOf(Shape(std::span(normalized_shape.begin(), normalized_shape.size())), o) {}
  template <class From>
  explicit(!detail::widens<From, D>) RMSNormOf(const RMSNormOf<T, From>& other) : Base(other) {}

  /// Throws ShapeError, DTypeError and DeviceError naming the layer, its weight and the input.
  template <expression X>
  auto operator()(const X& x) const {
    return this->weighted(x, [&](jit::ReduceAxes axes, const X& input) {
      return detail::with_rms_of_one(axes, input, this->eps().value_or(detail::epsilon_of(dtype_of<T>)));
    });
  }

  Members members() {
    Members list;
    list.add("weight", weight, detail::role_of(weight.ref()));
    return list;
  }
};

using LayerNorm = LayerNormOf<>;
using RMSNorm = RMSNormOf<>;

}  // namespace nn
}  // namespace sinter::inline v1

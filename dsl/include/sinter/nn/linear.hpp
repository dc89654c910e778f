// Linear: x times the transpose of a weight, plus a bias.
#pragma once
#include <sinter/nn/functional.hpp>
#include <sinter/nn/parameter.hpp>

namespace sinter::inline v1 {

namespace detail {

/// "in_features=3, out_features=1, bias=True"
std::string linear_text(std::int64_t in_features, std::int64_t out_features, bool bias);

}  // namespace detail

namespace nn {

struct LinearOptions {
  bool bias = true;
  Device device = {};
};

/// x * weight^T + bias over the last axis of x: (in,) gives (out,), (2, in) gives (2, out), (b, s, in) gives (b, s,
/// out). Both are initialized uniformly in [-1 / sqrt(in), 1 / sqrt(in)).
template <floating_element T = float, class D = AnyDevice>
class LinearOf : public Module<LinearOf<T, D>> {
 public:
  using device_type = D;
  template <class To>
  using on_device = LinearOf<T, To>;
  static constexpr const char* module_name = "Linear";

  Tensor<T, D> weight;  // (out, in)
  Tensor<T, D> bias;    // (out,); without an array if there is no bias

  /// Throws ShapeError for a negative extent, DeviceError, OutOfMemory.
  LinearOf(detail::Index in_features, detail::Index out_features, const LinearOptions& options = {})
    requires std::is_same_v<D, AnyDevice>
  {
    const double bound = detail::bound_for(in_features);
    weight = Tensor<T, D>(
        detail::uniform_parameter({out_features.value, in_features.value}, dtype_of<T>, options.device, bound));
    if (options.bias)
      bias = Tensor<T, D>(detail::uniform_parameter(Shape(out_features.value), dtype_of<T>, options.device, bound));
  }
  template <class From>
  explicit(!detail::widens<From, D>) LinearOf(const LinearOf<T, From>& other)
      : Module<LinearOf<T, D>>(other),
        weight(detail::member_from<D>(other.weight)),
        bias(detail::member_from<D>(other.bias)) {}

  std::int64_t in_features() const { return weight.size(1); }
  std::int64_t out_features() const { return weight.size(0); }
  bool has_bias() const noexcept { return bias.defined(); }

  /// Throws ShapeError, DTypeError and DeviceError naming the layer, its weight and the input.
  template <expression X>
  auto operator()(const X& x) const {
    static_assert(detail::same_device<detail::device_of<X>, D>, SINTER_DIFFERENT_DEVICES);
    static_assert(detail::dtype_may_fit<X, T>, SINTER_MODULE_DTYPE);
    if constexpr (detail::may_enter<X, T, D>) {
      detail::check_input(*this, x, weight.impl(), Shape(in_features()));
      auto product = functional::linear(x, weight);
      if constexpr (detail::is_lazy<decltype(product)>)
        return has_bias() ? product + bias : product;
      else
        return product + detail::addend_of(bias, weight.impl());
    } else {
      return detail::ErrorExpression();
    }
  }

  Members members() { return nn::members("weight", weight, "bias", bias); }
  std::string extra_repr() const {
    return weight.defined() ? detail::linear_text(in_features(), out_features(), has_bias()) : detail::holds_nothing;
  }
};

/// A float32 layer whose device is known at run time: the usual type of a class member.
using Linear = LinearOf<>;

}  // namespace nn
}  // namespace sinter::inline v1

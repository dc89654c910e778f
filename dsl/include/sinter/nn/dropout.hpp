// Dropout: sets random elements to 0 in training.
#pragma once
#include <sinter/dsl/random.hpp>
#include <sinter/nn/parameter.hpp>

namespace sinter::inline v1 {

namespace detail {

/// For evaluation, which draws no numbers: one index serves all elements.
Draw no_draw(Device device);

/// The device of a lifted expression.
template <class E>
Device device_of_operand(const E& e) {
  if constexpr (is_lazy<E>)
    return e.device();
  else
    return e.value.leaves[0] ? e.value.leaves[0]->device : Device();
}

}  // namespace detail

namespace nn {

/// In training, 0 with probability p and x / (1 - p) otherwise; after eval(), x itself. Both have the same expression
/// type, since the mode is known only at run time: in evaluation it draws nothing, keeps every element and multiplies
/// by 1.
class Dropout : public Module<Dropout> {
 public:
  /// Throws Error for a p outside [0, 1].
  explicit Dropout(double p = 0.5) : p_(p) { detail::check_probability(p); }

  template <expression X>
  auto operator()(const X& x) const {
    if constexpr (detail::is_error<X>) {
      return detail::ErrorExpression();
    } else {
      using T = value_type_of<X>;
      static_assert(floating_element<T>, "Dropout takes floats: convert with cast<float>(x)");
      const bool drops = this->is_training() && p_ > 0;
      const double p = drops ? p_ : 0;
      auto&& operand = detail::lift(x);
      auto uniform = detail::uniform_at<T, detail::device_of<X>>(
          drops ? detail::draw_like("Dropout", operand) : detail::no_draw(detail::device_of_operand(operand)));
      return where(uniform >= p, operand * (1 / (1 - p)), 0);
    }
  }

  double p() const noexcept { return p_; }
  Members members() { return {}; }
  std::string extra_repr() const { return "p=" + detail::python_text(p_) + ", inplace=False"; }

 private:
  double p_;
};

}  // namespace nn
}  // namespace sinter::inline v1

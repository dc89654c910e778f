// Dropout: some elements become 0 in training.
#pragma once
#include <sinter/dsl/lazy.hpp>
#include <sinter/dsl/random.hpp>
#include <sinter/nn/parameter.hpp>

namespace sinter::inline v1::nn {

/// In training 0 with the probability p and x / (1 - p) otherwise; x itself after eval(). Which of them only run time
/// knows, so the result is Lazy: the numbers are drawn in the kernel that uses them, and eval() costs no operation.
class Dropout : public Module<Dropout> {
 public:
  /// Throws Error for a p outside [0, 1].
  explicit Dropout(double p = 0.5) : p_(p) { detail::check_probability(p); }

  template <expression X>
  auto operator()(const X& x) const {
    if constexpr (detail::is_reported<X>)
      return detail::Reported();
    else
      return this->is_training() && p_ > 0 ? Lazy(sinter::dropout(x, p_)) : Lazy(x);
  }

  double p() const noexcept { return p_; }
  Members members() { return {}; }
  std::string extra_repr() const { return "p=" + detail::python_text(p_) + ", inplace=False"; }

 private:
  double p_;
};

}  // namespace sinter::inline v1::nn

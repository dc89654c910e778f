#include <sinter/optim/adam.hpp>

#include <cmath>

#include <sinter/sinter.hpp>
#include "checks.hpp"

namespace sinter::inline v1::optim {

Adam::Adam(std::vector<AnyTensor> parameters, const AdamOptions& options)
    : Adam(std::move(parameters), options, false) {}

Adam::Adam(std::vector<AnyTensor> parameters, const AdamOptions& options, bool decoupled_decay)
    : Optimizer(std::move(parameters), options.lr, {"mean", "square"}),
      options_(options),
      decoupled_decay_(decoupled_decay) {
  checked("Adam", "beta1", options.beta1, 0, 1);
  checked("Adam", "beta2", options.beta2, 0, 1);
  checked("Adam", "eps", options.eps, 0);
  checked("Adam", "weight_decay", options.weight_decay, 0);
}

Optimizer::Value Adam::update(Update& to, const Slot& slot, const Value& parameter, const Value& gradient) const {
  const auto& [rate, beta1, beta2, eps, weight_decay] = options_;
  const auto t = static_cast<double>(steps());
  const AnyTensor &mean = slot.states[0], &square = slot.states[1];
  Value p = parameter, g = gradient;
  if (weight_decay != 0) {
    if (decoupled_decay_)
      p = p * (1 - lr() * weight_decay);
    else
      g = g + weight_decay * p;
  }
  const Value m = beta1 * mean + (1 - beta1) * g, v = beta2 * square + (1 - beta2) * g * g;
  to.set(mean, m);
  to.set(square, v);
  const double step_size = lr() / (1 - std::pow(beta1, t)), correction = 1 / std::sqrt(1 - std::pow(beta2, t));
  return p - step_size * m / (sqrt(v) * correction + eps);
}

}  // namespace sinter::inline v1::optim

#include <sinter/optim/rmsprop.hpp>

#include <sinter/sinter.hpp>
#include "checks.hpp"

namespace sinter::inline v1::optim {

RMSprop::RMSprop(std::vector<AnyTensor> parameters, const RMSpropOptions& options)
    : Optimizer(
          std::move(parameters), options.lr,
          options.momentum != 0 ? std::vector<std::string>{"square", "momentum"} : std::vector<std::string>{"square"}),
      options_(options) {
  checked("RMSprop", "alpha", options.alpha, 0, 1);
  checked("RMSprop", "eps", options.eps, 0);
  checked("RMSprop", "weight_decay", options.weight_decay, 0);
  checked("RMSprop", "momentum", options.momentum, 0);
}

Optimizer::Value RMSprop::update(Update& to, const Slot& slot, const Value& parameter, const Value& gradient) const {
  const AnyTensor& square = slot.states[0];
  Value g = gradient;
  if (options_.weight_decay != 0) g = g + options_.weight_decay * parameter;
  const Value v = options_.alpha * square + (1 - options_.alpha) * g * g;
  to.set(square, v);
  Value direction = g / (sqrt(v) + options_.eps);
  if (options_.momentum != 0) {
    const AnyTensor& momentum = slot.states[1];
    direction = options_.momentum * momentum + direction;
    to.set(momentum, direction);
  }
  return parameter - lr() * direction;
}

}  // namespace sinter::inline v1::optim

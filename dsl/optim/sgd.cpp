#include <sinter/optim/sgd.hpp>

#include <sinter/runtime/error.hpp>
#include <sinter/sinter.hpp>
#include "checks.hpp"

namespace sinter::inline v1::optim {

SGD::SGD(std::vector<AnyTensor> parameters, const SGDOptions& options)
    : Optimizer(std::move(parameters), options.lr,
                options.momentum != 0 ? std::vector<std::string>{"momentum"} : std::vector<std::string>{}),
      options_(options) {
  checked("SGD", "momentum", options.momentum, 0);
  checked("SGD", "weight_decay", options.weight_decay, 0);
  if (options.nesterov && (options.momentum == 0 || options.dampening != 0))
    throw Error("SGD: Nesterov's momentum needs a momentum and no dampening");
}

Optimizer::Value SGD::update(Update& to, const Slot& slot, const Value& parameter, const Value& gradient) const {
  Value g = gradient;
  if (options_.weight_decay != 0) g = g + options_.weight_decay * parameter;
  if (options_.momentum != 0) {
    const AnyTensor& momentum = slot.states[0];
    // The state starts at 0, and the first gradient is taken whole.
    const double share = steps() == 1 ? 1 : 1 - options_.dampening;
    const Value b = options_.momentum * momentum + share * g;
    to.set(momentum, b);
    g = options_.nesterov ? Value(g + options_.momentum * b) : b;
  }
  return parameter - lr() * g;
}

}  // namespace sinter::inline v1::optim

// Stochastic gradient descent.
#pragma once
#include <sinter/optim/optimizer.hpp>

namespace sinter::inline v1::optim {

struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;  // times the parameter is added to the gradient
  bool nesterov = false;
};

/// p -= lr * b, where b = momentum * b + (1 - dampening) * g, and g at the first step; with Nesterov's momentum
/// p -= lr * (g + momentum * b). As torch.optim.SGD.
class SGD : public Optimizer {
 public:
  /// Throws Error for options out of range.
  explicit SGD(std::vector<AnyTensor> parameters, const SGDOptions& options = {});

 protected:
  Value update(Update& to, const Slot& slot, const Value& parameter, const Value& gradient) const override;

 private:
  SGDOptions options_;
};

}  // namespace sinter::inline v1::optim

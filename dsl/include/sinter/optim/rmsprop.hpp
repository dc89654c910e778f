// RMSprop.
#pragma once
#include <sinter/optim/optimizer.hpp>

namespace sinter::inline v1::optim {

struct RMSpropOptions {
  double lr = 1e-2;
  double alpha = 0.99;
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum = 0;
};

/// p -= lr * b, where b = momentum * b + g / (sqrt(v) + eps), and v is the moving average of the gradient's square. As
/// torch.optim.RMSprop.
class RMSprop : public Optimizer {
 public:
  /// Throws Error for options out of range.
  explicit RMSprop(std::vector<AnyTensor> parameters, const RMSpropOptions& options = {});

 protected:
  Value update(Update& to, const Slot& slot, const Value& parameter, const Value& gradient) const override;

 private:
  RMSpropOptions options_;
};

}  // namespace sinter::inline v1::optim

// Adam and AdamW.
#pragma once
#include <sinter/optim/optimizer.hpp>

namespace sinter::inline v1::optim {

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
};

/// Adam (Kingma and Ba, 2015): p -= lr * m' / (sqrt(v') + eps), where m and v are the moving averages of the gradient
/// and of its square, and m' and v' are corrected for their start at 0. The weight decay times the parameter is added
/// to the gradient. As torch.optim.Adam.
class Adam : public Optimizer {
 public:
  /// Throws Error for options out of range.
  explicit Adam(std::vector<AnyTensor> parameters, const AdamOptions& options = {});

 protected:
  Adam(std::vector<AnyTensor> parameters, const AdamOptions& options, bool decoupled_decay);
  Value update(Update& to, const Slot& slot, const Value& parameter, const Value& gradient) const override;

 private:
  AdamOptions options_;
  bool decoupled_decay_ = false;
};

/// Adam with decoupled weight decay (Loshchilov and Hutter, 2019): p *= 1 - lr * weight_decay before each step. As
/// torch.optim.AdamW.
class AdamW : public Adam {
 public:
  explicit AdamW(std::vector<AnyTensor> parameters, const AdamOptions& options = {.weight_decay = 1e-2})
      : Adam(std::move(parameters), options, true) {}
};

}  // namespace sinter::inline v1::optim

// Moving averages of parameters.
#pragma once
#include <vector>

#include <sinter/dsl/array.hpp>
#include <sinter/dsl/state_dict.hpp>

namespace sinter::inline v1::optim {

/// Exponential moving averages of parameters, which often generalize better than the parameters themselves: after each
/// step, average = decay * average + (1 - decay) * parameter. They start as copies of the parameters.
class EMA {
 public:
  /// Throws Error for a decay outside [0, 1), DTypeError for a parameter that is not of floats.
  explicit EMA(std::vector<AnyTensor> parameters, double decay = 0.999);

  /// Moves the averages towards the parameters.
  void update();
  /// Exchanges parameters and averages: call it before evaluating with the averages, and again before going on.
  void swap();

  const std::vector<AnyTensor>& averages() const noexcept { return averages_; }
  /// "average.0" for the first parameter's. They share the storage.
  StateDict state_dict() const;
  /// Throws Error, naming what does not fit; nothing is written then.
  void load_state_dict(const StateDict& state);

 private:
  std::vector<AnyTensor> parameters_, averages_;
  double decay_;
};

}  // namespace sinter::inline v1::optim

// What optimizers have in common.
#pragma once
#include <string>
#include <vector>

#include <sinter/dsl/evaluate.hpp>
#include <sinter/dsl/grad.hpp>
#include <sinter/dsl/state_dict.hpp>

namespace sinter::inline v1 {

namespace optim {

/// A parameter's gradient, or none if the loss does not depend on it: the parameter then stays as it is.
using Gradients = std::vector<Lazy<AnyType>>;

/// Base of the optimizers. It keeps handles of the parameters and writes into them. Parameters are floats, each with
/// its own dtype and device; state has the same.
class Optimizer {
 public:
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  /// Evaluates the loss, a float of one element, and its gradients, and updates the parameters. Returns the loss before
  /// the update. Nothing is written if it throws: what grad() and evaluate() throw.
  template <expression E>
  detail::tensor_of<E> step(const E& loss) {
    return detail::tensor_of<E>(step_along(detail::lazy_node(loss)));
  }

  /// Rescales the gradients of each step so that the norm of all of them together is at most this; 0 for no limit.
  void set_max_norm(double norm);
  double lr() const noexcept { return lr_; }
  /// Throws Error for a negative or infinite rate.
  void set_lr(double lr);

  const std::vector<AnyTensor>& parameters() const noexcept { return parameters_; }
  /// The number of steps so far.
  std::int64_t steps() const noexcept { return steps_; }

  /// State tensors by name, "momentum.0" for the first parameter's, and "steps". They share the optimizer's storage.
  StateDict state_dict() const;
  /// Restores what state_dict() gave, so that training goes on with the same bits. Throws Error, naming what does not
  /// fit; nothing is written then.
  void load_state_dict(const StateDict& state);

 protected:
  using Value = Lazy<AnyType>;
  /// One tensor of state for each parameter, zeros at first.
  struct State {
    std::string name;
    std::vector<AnyTensor> of_parameter;
  };
  /// Collects what a step writes.
  class Update {
   public:
    void set(const AnyTensor& target, const Value& value) {
      targets_.push_back(runtime::TensorRef::share(&target.impl()));
      values_.push_back(value.node());
    }

   private:
    friend class Optimizer;
    std::vector<runtime::TensorRef> targets_;
    std::vector<jit::LazyRef> values_;
  };

  /// `states`: the names of the optimizer's state. Throws DtypeError for a parameter that is not of floats, Error if
  /// one is given twice.
  Optimizer(std::vector<AnyTensor> parameters, double lr, std::vector<std::string> states);

  /// Adds the new values of parameter i and its state. `steps()` counts this step already.
  virtual void update(Update& to, std::size_t i, const Value& gradient) const = 0;

  const AnyTensor& state(std::size_t which, std::size_t i) const { return states_[which].of_parameter[i]; }

 private:
  runtime::TensorRef step_along(const jit::LazyRef& loss);
  void add_updates(Update& to, const std::vector<jit::LazyRef>& gradients) const;

  std::vector<AnyTensor> parameters_;
  std::vector<State> states_;
  double lr_, max_norm_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace optim
}  // namespace sinter::inline v1

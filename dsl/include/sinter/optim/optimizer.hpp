// What optimizers have in common.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <sinter/dsl/evaluate.hpp>
#include <sinter/dsl/grad.hpp>
#include <sinter/dsl/state_dict.hpp>

namespace sinter::inline v1 {

namespace optim {

struct LossScale {
  double scale = 65536;  // the factor at first
  double growth = 2;     // the change after `interval` finite steps in a row
  double backoff = 0.5;  // the change after a step with an infinity or NaN
  std::int64_t interval = 2000;
};

/// Base of the optimizers. It keeps handles of the parameters and writes into them. Parameters are floats, each with
/// its own dtype and device; state has the same, or float32 with master weights.
///
/// Parameters of one dtype and device are moved into one array when the optimizer is made, where handles, modules and
/// expressions find them as before, so that a step updates all of them by one kernel. Those that are views or have
/// views, lie in foreign memory, or whose address was taken by data(), stay where they are and take a kernel each.
class Optimizer {
 public:
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer();

  /// Adds the gradients of the loss, a float of one element, to those since the last step. Returns the loss. Throws
  /// what grad() and evaluate() throw; the gradients since the last step are dropped then.
  template <expression E>
  detail::tensor_of<E> backward(const E& loss) {
    return detail::tensor_of<E>(add_gradients(detail::lazy_node(loss)));
  }
  /// Updates every parameter that has a gradient, then clears the gradients. Throws Error if there are none; nothing is
  /// written if it throws. With a loss scale it returns false, and writes nothing, if a gradient is infinite or NaN.
  bool step();
  /// backward(loss), then step().
  template <expression E>
  detail::tensor_of<E> step(const E& loss) {
    detail::tensor_of<E> value = backward(loss);
    step();
    return value;
  }
  /// Drops the gradients since the last step.
  void zero_grad() noexcept;
  /// The gradient of parameter i since the last step, times the loss scale, as a view that the next backward() writes
  /// to; undefined if there is none. Throws IndexError.
  AnyTensor gradient(std::size_t i) const;

  /// Rescales the gradients of each step so that the norm of all of them together is at most this; 0 for no limit.
  void set_max_norm(double norm);
  double lr() const noexcept { return lr_; }
  /// Throws Error for a negative or infinite rate.
  void set_lr(double lr);

  /// For 16-bit parameters: keeps them in float32, too, with the optimizer's state, and rounds after each step. What is
  /// written to a parameter between steps counts. Throws Error after the first step.
  void use_master_weights();
  /// Multiplies losses by a factor against underflow in 16-bit gradients, and divides the gradients by it. A step whose
  /// gradients are not finite is skipped and lowers the factor. step() then waits for the device. Throws Error while
  /// there are gradients.
  void set_loss_scale(const LossScale& scale = {});
  /// The factor at present; 1 without set_loss_scale().
  double loss_scale() const noexcept { return scale_.scale; }

  const std::vector<AnyTensor>& parameters() const noexcept { return parameters_; }
  /// The number of steps so far, without those skipped.
  std::int64_t steps() const noexcept { return steps_; }

  /// State tensors by name, "momentum.0" for the first parameter's, and "steps". They share the optimizer's storage.
  StateDict state_dict() const;
  /// Restores what state_dict() gave, so that training goes on with the same bits. Throws Error, naming what does not
  /// fit, or while there are gradients if losses are scaled; nothing is written then.
  void load_state_dict(const StateDict& state);

 protected:
  using Value = Lazy<AnyType>;
  /// What one update reads and writes: a parameter or several as one flat tensor, and the state of the same shape.
  struct Slot {
    AnyTensor parameter;  // the master weights, if there are any
    AnyTensor rounded;    // then the parameter; otherwise undefined
    AnyTensor gradient;
    std::vector<AnyTensor> states;  // in the order of their names
  };
  /// Collects what a step writes.
  class Update {
   public:
    void set(const AnyTensor& target, const Value& value) {
      targets_.push_back(target.ref());
      values_.push_back(value.node());
    }

   private:
    friend class Optimizer;
    std::vector<runtime::TensorRef> targets_;
    std::vector<jit::LazyRef> values_;
  };

  /// `states`: the names of the optimizer's state. Throws DTypeError for a parameter that is not of floats, Error for
  /// an undefined one, an expanded one, and one that shares another one's memory.
  Optimizer(std::vector<AnyTensor> parameters, double lr, std::vector<std::string> states);

  /// Adds the new values of the state, and returns that of the parameter, which is `parameter` now. `steps()` counts
  /// this step already.
  virtual Value update(Update& to, const Slot& slot, const Value& parameter, const Value& gradient) const = 0;

 private:
  struct Group;

  runtime::TensorRef add_gradients(const jit::LazyRef& loss);
  bool updates_all_of(const Group& group) const;
  std::vector<Slot> slots_to_update() const;
  static bool are_finite(const std::vector<Slot>& slots);
  static Value current(const Slot& slot);
  void refuse_gradients(const char* what) const;
  void apply(const std::vector<Slot>& slots);
  void evaluate_updates(const std::vector<Slot>& slots) const;
  void adapt_scale(bool were_finite) noexcept;
  template <class F>
  void for_each_state(const F& f) const;

  std::vector<AnyTensor> parameters_;
  std::vector<std::string> states_;
  std::vector<Group> groups_;
  std::vector<bool> has_gradient_;
  double lr_, max_norm_ = 0;
  LossScale scale_{.scale = 1};
  bool scales_loss_ = false;
  std::int64_t steps_ = 0, finite_steps_ = 0;
};

}  // namespace optim
}  // namespace sinter::inline v1

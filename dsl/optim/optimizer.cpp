#include <sinter/optim/optimizer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <jit/plan/overlap.hpp>
#include <sinter/sinter.hpp>
#include "checks.hpp"
#include "flat_parameters.hpp"

namespace sinter::inline v1::optim {

using Value = Lazy<AnyType>;

/// Parameters that are updated together, and what belongs to them.
struct Optimizer::Group {
  FlatParameters members;
  std::vector<std::size_t> numbers;  // of the members among the parameters
  std::vector<AnyTensor> states;
  AnyTensor gradients = {}, master = {};  // made when they are needed

  AnyTensor zeros(DType dtype) const {
    const AnyTensor& flat = members.flat();
    return AnyTensor(detail::full(flat.shape(), dtype, flat.device(), 0));
  }
  Slot whole() const {
    return {master.defined() ? master : members.flat(), rounded(members.flat()), gradients, states};
  }
  Slot of_member(std::size_t k) const {
    const auto part = [&](const AnyTensor& t) { return members.part(t, k); };
    Slot slot{master.defined() ? part(master) : members.member(k), rounded(members.member(k)), part(gradients), {}};
    std::ranges::transform(states, std::back_inserter(slot.states), part);
    return slot;
  }

 private:
  AnyTensor rounded(const AnyTensor& parameter) const { return master.defined() ? parameter : AnyTensor(); }
};

namespace {

void check_parameters(const std::vector<AnyTensor>& parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const AnyTensor& p = parameters[i];
    if (!p.defined()) throw Error(fmt::format("parameter {} is undefined, as the bias of a layer without one", i));
    if (jit::overlaps_itself(p.impl()))
      throw Error(fmt::format("parameter {}, {}, is an expanded view, whose elements share memory: give a copy of it",
                              i, runtime::describe(p.impl())));
    if (category(p.dtype()) != Category::Float)
      throw DTypeError(fmt::format("parameter {} is {}: only floats can be optimized", i, runtime::describe(p.impl())));
    for (std::size_t k = 0; k < i; ++k)
      if (jit::overlap_as_targets(parameters[k].impl(), p.impl()))
        throw Error(fmt::format("parameter {}, {}, shares memory with parameter {}, {}: give one of them", i,
                                runtime::describe(p.impl()), k, runtime::describe(parameters[k].impl())));
  }
}

/// The numbers of the parameters that are updated together.
std::vector<std::vector<std::size_t>> grouped(const std::vector<AnyTensor>& parameters) {
  std::vector<std::vector<std::size_t>> groups;
  std::map<std::pair<DType, std::string>, std::size_t> group_of;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const AnyTensor& p = parameters[i];
    if (!FlatParameters::is_relocatable(p)) {
      groups.push_back({i});
      continue;
    }
    const auto [found, is_new] = group_of.try_emplace({p.dtype(), to_string(p.device())}, groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(i);
  }
  return groups;
}

FlatParameters flattened(const std::vector<AnyTensor>& parameters, const std::vector<std::size_t>& numbers) {
  if (numbers.size() == 1) return FlatParameters(parameters[numbers[0]]);
  std::vector<AnyTensor> members;
  for (const std::size_t i : numbers) members.push_back(parameters[i]);
  return FlatParameters(std::move(members));
}

std::string name_of(const std::string& state, std::size_t parameter) { return fmt::format("{}.{}", state, parameter); }

Value cast_to(const Value& value, DType dtype) { return Value(jit::lazy_cast(value.node(), dtype)); }

/// min(1, max / norm), where the norm is that of all gradients together, in float64 if one is.
Value clipping(const std::vector<Value>& gradients, double max) {
  const bool is_double =
      std::ranges::any_of(gradients, [](const Value& g) { return g.node()->dtype() == DType::Float64; });
  const auto square = [&](const Value& g) -> Value {
    const Value sum = cast_to(g, is_double ? DType::Float64 : DType::Float32).square().sum();
    if (g.device() == gradients[0].device()) return sum;
    return AnyTensor(sum).to(gradients[0].device());
  };
  Value total = square(gradients[0]);
  for (std::size_t i = 1; i < gradients.size(); ++i) total = total + square(gradients[i]);
  return minimum(max / (sqrt(total) + 1e-6), 1.0);
}

/// The factor for gradients on a device.
Value on_device(const Value& factor, Device device) {
  return factor.device() == device ? factor : Value(AnyTensor(factor).to(device));
}

/// Evaluates together what is on one device.
void evaluate_by_device(const std::vector<jit::LazyRef>& values, std::vector<runtime::TensorRef>& targets) {
  std::vector<bool> done(values.size());
  for (std::size_t first = 0; first < values.size(); ++first) {
    if (done[first]) continue;
    std::vector<jit::LazyRef> nodes;
    std::vector<std::size_t> numbers;
    std::vector<runtime::TensorRef> outputs;
    for (std::size_t i = first; i < values.size(); ++i) {
      if (done[i] || values[i]->device() != values[first]->device()) continue;
      done[i] = true;
      numbers.push_back(i);
      nodes.push_back(values[i]);
      outputs.push_back(targets[i]);
    }
    jit::evaluate(nodes, outputs.data());
    for (std::size_t k = 0; k < numbers.size(); ++k) targets[numbers[k]] = outputs[k];
  }
}

}  // namespace

double checked(const char* optimizer, const char* option, double value, double low, double high) {
  if (value >= low && value < high) return value;
  throw Error(fmt::format("{}: {} is {}, but must be in [{}, {})", optimizer, option, value, low, high));
}

Optimizer::Optimizer(std::vector<AnyTensor> parameters, double lr, std::vector<std::string> states)
    : parameters_(std::move(parameters)), states_(std::move(states)), has_gradient_(parameters_.size()) {
  check_parameters(parameters_);
  set_lr(lr);
  for (std::vector<std::size_t>& numbers : grouped(parameters_)) {
    Group& group = groups_.emplace_back(Group{flattened(parameters_, numbers), std::move(numbers), {}});
    for (std::size_t s = 0; s < states_.size(); ++s) group.states.push_back(group.zeros(group.members.flat().dtype()));
  }
}

Optimizer::~Optimizer() = default;

void Optimizer::set_lr(double lr) { lr_ = checked("optimizer", "lr", lr, 0); }
void Optimizer::set_max_norm(double norm) { max_norm_ = checked("optimizer", "max_norm", norm, 0); }

void Optimizer::use_master_weights() {
  if (steps_ > 0) throw Error(fmt::format("use_master_weights: call it before the first step, not after {}", steps_));
  for (Group& group : groups_) {
    if (size_of(group.members.flat().dtype()) != sizeof(half) || group.master.defined()) continue;
    group.master = AnyTensor(cast_to(group.members.flat(), DType::Float32));
    for (AnyTensor& state : group.states) state = group.zeros(DType::Float32);
  }
}

/// Before the scale of losses changes.
void Optimizer::refuse_gradients(const char* what) const {
  if (std::ranges::find(has_gradient_, true) == has_gradient_.end()) return;
  throw Error(
      fmt::format("{}: there are gradients of losses with another scale: call it before backward, or after step "
                  "or zero_grad",
                  what));
}

void Optimizer::set_loss_scale(const LossScale& scale) {
  constexpr double least = std::numeric_limits<double>::min();
  checked("loss scale", "scale", scale.scale, least);
  checked("loss scale", "growth", scale.growth, 1);
  checked("loss scale", "backoff", scale.backoff, least, 1);
  checked("loss scale", "interval", static_cast<double>(scale.interval), 1);
  refuse_gradients("set_loss_scale");
  scale_ = scale;
  scales_loss_ = true;
  finite_steps_ = 0;
}

runtime::TensorRef Optimizer::add_gradients(const jit::LazyRef& loss) {
  std::vector<runtime::TensorImpl*> wrt;
  for (const AnyTensor& p : parameters_) wrt.push_back(&p.impl());
  const jit::LazyRef of = scales_loss_ ? (Value(loss) * scale_.scale).node() : loss;
  const std::vector<jit::LazyRef> gradients = jit::gradients(of, wrt, {}, jit::UnusedInput::Null);
  std::vector<jit::LazyRef> values{loss};
  std::vector<runtime::TensorRef> targets(1);
  for (Group& group : groups_) {
    if (!group.gradients.defined()) group.gradients = group.zeros(group.members.flat().dtype());
    for (std::size_t k = 0; k < group.numbers.size(); ++k) {
      const std::size_t i = group.numbers[k];
      if (!gradients[i]) continue;
      const AnyTensor sum = group.members.part(group.gradients, k);
      values.push_back(has_gradient_[i] ? (sum + Value(gradients[i])).node() : gradients[i]);
      targets.push_back(sum.ref());
    }
  }
  try {
    evaluate_by_device(values, targets);
  } catch (...) {
    zero_grad();
    throw;
  }
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i]) has_gradient_[i] = true;
  return targets[0];
}

void Optimizer::zero_grad() noexcept { has_gradient_.assign(has_gradient_.size(), false); }

AnyTensor Optimizer::gradient(std::size_t i) const {
  if (i >= parameters_.size())
    throw IndexError(fmt::format("gradient {}: the optimizer has {} parameters", i, parameters_.size()));
  if (!has_gradient_[i]) return {};
  for (const Group& group : groups_)
    if (const auto found = std::ranges::find(group.numbers, i); found != group.numbers.end())
      return group.members.part(group.gradients, static_cast<std::size_t>(found - group.numbers.begin()));
  return {};
}

bool Optimizer::are_finite(const std::vector<Slot>& slots) {
  return std::ranges::all_of(slots, [](const Slot& slot) {
    return Tensor<bool, AnyDevice>(AnyTensor(Value(isfinite(slot.gradient).all()))).item();
  });
}

/// Whether a step writes to the group's parameters as one tensor.
bool Optimizer::updates_all_of(const Group& group) const {
  return group.members.is_intact() &&
         std::ranges::all_of(group.numbers, [&](std::size_t i) { return has_gradient_[i]; });
}

std::vector<Optimizer::Slot> Optimizer::slots_to_update() const {
  std::vector<Slot> slots;
  for (const Group& group : groups_) {
    if (updates_all_of(group)) {
      slots.push_back(group.whole());
      continue;
    }
    for (std::size_t k = 0; k < group.numbers.size(); ++k)
      if (has_gradient_[group.numbers[k]]) slots.push_back(group.of_member(k));
  }
  return slots;
}

bool Optimizer::step() {
  const std::vector<Slot> slots = slots_to_update();
  if (slots.empty())
    throw Error(
        "step: no parameter has a gradient\n  Call backward(loss) first, or step(loss), with a loss that is an "
        "expression "
        "of the parameters: what was evaluated is a constant. net.to_(device) gives the net new parameters: make the "
        "optimizer after it");
  const bool moves = !scales_loss_ || are_finite(slots);
  if (moves) apply(slots);
  if (scales_loss_) adapt_scale(moves);
  zero_grad();
  return moves;
}

void Optimizer::adapt_scale(bool were_finite) noexcept {
  finite_steps_ = were_finite ? finite_steps_ + 1 : 0;
  if (!were_finite) scale_.scale *= scale_.backoff;
  if (finite_steps_ < scale_.interval) return;
  scale_.scale *= scale_.growth;
  finite_steps_ = 0;
}

void Optimizer::apply(const std::vector<Slot>& slots) {
  ++steps_;
  try {
    evaluate_updates(slots);
  } catch (...) {
    --steps_;
    throw;
  }
  for (const Group& group : groups_)
    if (updates_all_of(group)) group.members.touch_members();
}

/// The master weights, but for elements of the parameter that were written to since they were rounded from them.
Value Optimizer::current(const Slot& slot) {
  if (!slot.rounded.defined()) return slot.parameter;
  const Value master = slot.parameter, own = slot.rounded;
  return where(cast_to(master, slot.rounded.dtype()) == own, master, cast_to(own, DType::Float32));
}

void Optimizer::evaluate_updates(const std::vector<Slot>& slots) const {
  std::vector<Value> gradients;
  for (const Slot& slot : slots) {
    const Value g = cast_to(slot.gradient, slot.parameter.dtype());
    gradients.push_back(scales_loss_ ? Value(g * (1 / scale_.scale)) : g);
  }
  if (max_norm_ > 0) {
    const Value factor = clipping(gradients, max_norm_);
    for (Value& g : gradients) g = cast_to(g * on_device(factor, g.device()), g.node()->dtype());
  }
  Update to;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    const Value value = update(to, slots[k], current(slots[k]), gradients[k]);
    to.set(slots[k].parameter, value);
    if (slots[k].rounded.defined()) to.set(slots[k].rounded, cast_to(value, slots[k].rounded.dtype()));
  }
  evaluate_by_device(to.values_, to.targets_);
}

/// Calls f(name, tensor) for each tensor of state.
template <class F>
void Optimizer::for_each_state(const F& f) const {
  const auto each = [&](const std::string& name, const auto& of_slot) {
    for (const Group& group : groups_)
      for (std::size_t k = 0; k < group.numbers.size(); ++k) {
        const AnyTensor state = of_slot(group);
        if (state.defined()) f(name_of(name, group.numbers[k]), group.members.part(state, k));
      }
  };
  for (std::size_t s = 0; s < states_.size(); ++s)
    each(states_[s], [&](const Group& group) { return group.states[s]; });
  each("master", [](const Group& group) { return group.master; });
}

StateDict Optimizer::state_dict() const {
  std::vector<StateDict::Entry> entries{{"steps", AnyTensor(tensor(steps_))}};
  if (scales_loss_) {
    entries.push_back({"loss_scale", AnyTensor(detail::full({}, DType::Float64, Device(), scale_.scale))});
    entries.push_back({"finite_steps", AnyTensor(tensor(finite_steps_))});
  }
  for_each_state([&](std::string name, AnyTensor state) { entries.push_back({std::move(name), std::move(state)}); });
  return StateDict(std::move(entries));
}

void Optimizer::load_state_dict(const StateDict& state) {
  std::string problems;
  std::vector<std::string> known;
  const auto check = [&](const std::string& name, const Shape& shape) {
    known.push_back(name);
    if (!state.contains(name))
      problems += fmt::format("\n  {} is missing", name);
    else if (state.at(name).shape() != shape)
      problems += fmt::format("\n  {} has shape {}, not {}", name, to_string(state.at(name).shape()), to_string(shape));
  };
  check("steps", Shape());
  if (scales_loss_) check("loss_scale", Shape()), check("finite_steps", Shape());
  for_each_state([&](const std::string& name, const AnyTensor& tensor) { check(name, tensor.shape()); });
  for (const StateDict::Entry& entry : state)
    if (std::ranges::find(known, entry.name) == known.end()) problems += fmt::format("\n  {} is extra", entry.name);
  if (!problems.empty())
    throw Error(
        "load_state_dict: the state does not fit the optimizer: it is one's of another kind, of other parameters, or "
        "with "
        "other options (master weights, loss scale)" +
        problems);
  const auto number = [&]<class T>(const char* name, T low) {
    const T value = Tensor<T>(state.at(name).to(cpu).template to<T>()).item();
    checked("load_state_dict", name, static_cast<double>(value), static_cast<double>(low));
    return value;
  };
  const auto steps = number("steps", std::int64_t{0});
  if (scales_loss_) {
    refuse_gradients("load_state_dict");
    const double scale = number("loss_scale", std::numeric_limits<double>::min());
    finite_steps_ = number("finite_steps", std::int64_t{0});
    scale_.scale = scale;
  }
  steps_ = steps;
  for_each_state([&](const std::string& name, AnyTensor tensor) { tensor.assign(state.at(name).to(tensor.device())); });
}

}  // namespace sinter::inline v1::optim

#include <sinter/optim/optimizer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <sinter/sinter.hpp>
#include "checks.hpp"

namespace sinter::inline v1::optim {

namespace {

using Value = Lazy<AnyType>;

void check_parameters(const std::vector<AnyTensor>& parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const AnyTensor& p = parameters[i];
    if (category(p.dtype()) != Category::Float)
      throw DtypeError(fmt::format("parameter {} is {}: optimizers move floats", i, runtime::describe(p.impl())));
    const auto is_same = [&](const AnyTensor& other) { return other.impl().data == p.impl().data; };
    if (p.numel() > 0 && std::any_of(parameters.begin(), parameters.begin() + static_cast<std::ptrdiff_t>(i), is_same))
      throw Error(fmt::format("parameter {}, {}, is given twice", i, runtime::describe(p.impl())));
  }
}

std::string name_of(const std::string& state, std::size_t parameter) { return fmt::format("{}.{}", state, parameter); }

/// The gradients times min(1, max / norm), where the norm is that of all of them together, in float64 if one is.
std::vector<Value> clipped(const std::vector<Value>& gradients, double max) {
  const bool is_double =
      std::ranges::any_of(gradients, [](const Value& g) { return g.node()->dtype() == DType::Float64; });
  const auto square = [&](const Value& g) {
    return Value(jit::lazy_cast(g.node(), is_double ? DType::Float64 : DType::Float32)).square().sum();
  };
  Value total = square(gradients[0]);
  for (std::size_t i = 1; i < gradients.size(); ++i) total = total + square(gradients[i]);
  const Value scale = minimum(max / (sqrt(total) + 1e-6), 1.0);
  std::vector<Value> scaled;
  for (const Value& g : gradients) scaled.push_back(Value(jit::lazy_cast((g * scale).node(), g.node()->dtype())));
  return scaled;
}

}  // namespace

double checked(const char* optimizer, const char* option, double value, double low, double high) {
  if (value >= low && value < high) return value;
  throw Error(fmt::format("{}: {} is {}, but must be in [{}, {})", optimizer, option, value, low, high));
}

Optimizer::Optimizer(std::vector<AnyTensor> parameters, double lr, std::vector<std::string> states)
    : parameters_(std::move(parameters)) {
  check_parameters(parameters_);
  set_lr(lr);
  for (std::string& name : states) {
    State state{std::move(name), {}};
    for (const AnyTensor& p : parameters_) state.of_parameter.push_back(zeros_like(p));
    states_.push_back(std::move(state));
  }
}

void Optimizer::set_lr(double lr) { lr_ = checked("optimizer", "lr", lr, 0); }
void Optimizer::set_max_norm(double norm) { max_norm_ = checked("optimizer", "max_norm", norm, 0); }

runtime::TensorRef Optimizer::step_along(const jit::LazyRef& loss) {
  std::vector<runtime::TensorImpl*> by;
  for (const AnyTensor& p : parameters_) by.push_back(&p.impl());
  const std::vector<jit::LazyRef> gradients = jit::gradients(loss, by, {}, jit::Unused::Null);
  Update update;
  update.values_.push_back(loss);
  update.targets_.emplace_back();
  ++steps_;
  try {
    add_updates(update, gradients);
    jit::evaluate(update.values_, update.targets_.data());
  } catch (...) {
    --steps_;
    throw;
  }
  return update.targets_[0];
}

void Optimizer::add_updates(Update& to, const std::vector<jit::LazyRef>& gradients) const {
  std::vector<std::size_t> moved;
  std::vector<Value> values;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i]) continue;
    moved.push_back(i);
    values.emplace_back(gradients[i]);
  }
  if (max_norm_ > 0 && !values.empty()) values = clipped(values, max_norm_);
  for (std::size_t k = 0; k < moved.size(); ++k) update(to, moved[k], values[k]);
}

StateDict Optimizer::state_dict() const {
  std::vector<StateDict::Entry> entries{{"steps", AnyTensor(tensor(steps_))}};
  for (const State& state : states_)
    for (std::size_t i = 0; i < state.of_parameter.size(); ++i)
      entries.push_back({name_of(state.name, i), state.of_parameter[i]});
  return StateDict(std::move(entries));
}

void Optimizer::load_state_dict(const StateDict& state) {
  std::string problems;
  const auto check = [&](const std::string& name, const Shape& shape) {
    if (!state.contains(name))
      problems += fmt::format("\n  {} is missing", name);
    else if (state.at(name).shape() != shape)
      problems += fmt::format("\n  {} has shape {}, not {}", name, to_string(state.at(name).shape()), to_string(shape));
  };
  check("steps", Shape());
  std::size_t known = 1;
  for (const State& s : states_)
    for (std::size_t i = 0; i < s.of_parameter.size(); ++i, ++known) check(name_of(s.name, i), parameters_[i].shape());
  if (problems.empty() && state.size() > known) problems = "\n  it has tensors of another kind of optimizer";
  if (!problems.empty()) throw Error("load_state_dict: the state does not fit the optimizer" + problems);
  for (State& s : states_)
    for (std::size_t i = 0; i < s.of_parameter.size(); ++i)
      s.of_parameter[i].assign(state.at(name_of(s.name, i)).to(s.of_parameter[i].device()));
  steps_ = Tensor<std::int64_t>(state.at("steps").to(cpu).to<std::int64_t>()).item();
}

}  // namespace sinter::inline v1::optim

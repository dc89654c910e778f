#include <sinter/optim/ema.hpp>

#include <fmt/format.h>

#include <utility>

#include <sinter/sinter.hpp>
#include "checks.hpp"

namespace sinter::inline v1::optim {

namespace {

/// Writes each value to its target, together.
void write_all(const std::vector<Lazy<AnyType>>& values, const std::vector<AnyTensor>& targets) {
  std::vector<jit::LazyRef> nodes;
  std::vector<runtime::TensorRef> outputs;
  for (const auto& value : values) nodes.push_back(value.node());
  for (const AnyTensor& target : targets) outputs.push_back(target.ref());
  if (!nodes.empty()) jit::evaluate(nodes, outputs.data());
}

std::string name_of(std::size_t i) { return fmt::format("average.{}", i); }

}  // namespace

EMA::EMA(std::vector<AnyTensor> parameters, double decay)
    : parameters_(std::move(parameters)), decay_(checked("EMA", "decay", decay, 0, 1)) {
  for (const AnyTensor& p : parameters_) {
    if (category(p.dtype()) != Category::Float)
      throw DTypeError(fmt::format("EMA of {}: averages are of floats", runtime::describe(p.impl())));
    averages_.push_back(p.clone());
  }
}

void EMA::update() {
  std::vector<Lazy<AnyType>> values;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    values.emplace_back(averages_[i] + (1 - decay_) * (parameters_[i] - averages_[i]));
  write_all(values, averages_);
}

void EMA::swap() {
  std::vector<AnyTensor> old;
  for (const AnyTensor& p : parameters_) old.push_back(p.clone());
  write_all({averages_.begin(), averages_.end()}, parameters_);
  write_all({old.begin(), old.end()}, averages_);
}

StateDict EMA::state_dict() const {
  std::vector<StateDict::Entry> entries;
  for (std::size_t i = 0; i < averages_.size(); ++i) entries.push_back({name_of(i), averages_[i]});
  return StateDict(std::move(entries));
}

void EMA::load_state_dict(const StateDict& state) {
  for (std::size_t i = 0; i < averages_.size(); ++i)
    if (!state.contains(name_of(i)) || state.at(name_of(i)).shape() != averages_[i].shape())
      throw Error(
          fmt::format("load_state_dict: {} of shape {} is missing", name_of(i), to_string(averages_[i].shape())));
  for (std::size_t i = 0; i < averages_.size(); ++i) {
    AnyTensor average = averages_[i];
    average.assign(state.at(name_of(i)).to(average.device()));
  }
}

}  // namespace sinter::inline v1::optim

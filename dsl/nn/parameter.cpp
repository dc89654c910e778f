#include <sinter/nn/parameter.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <runtime/text.hpp>
#include <sinter/dsl/factory.hpp>
#include <sinter/dsl/random.hpp>

namespace sinter::inline v1::detail {

TensorRef uniform_parameter(const Shape& shape, DType dtype, Device device, double bound) {
  const AnyTensor uniform(random(Distribution::Uniform, shape, dtype, device));
  return evaluate_one(uniform * (2 * bound) - bound);
}

TensorRef normal_parameter(const Shape& shape, DType dtype, Device device) {
  return random(Distribution::Normal, shape, dtype, device);
}

TensorRef constant_parameter(const Shape& shape, DType dtype, Device device, double value) {
  return full(shape, dtype, device, value);
}

double bound_for(std::int64_t inputs) { return inputs > 0 ? 1 / std::sqrt(static_cast<double>(inputs)) : 0; }

const char* python_text(bool value) noexcept { return value ? "True" : "False"; }

std::string python_text(double value) { return runtime::floating(value); }

bool fits_module(const OperandInfo& input, const TensorImpl& weight, const Shape& last) noexcept {
  return input.device == weight.device && input.dtype == weight.dtype && input.shape.ndim() >= last.ndim() &&
         std::equal(last.begin(), last.end(), input.shape.end() - last.ndim());
}

namespace {

/// "Linear(in_features=3, out_features=1, bias=True)", without a net's submodules.
std::string called(const ModuleNode& module) { return fmt::format("{}({})", module.kind, module.arguments); }

std::string both(const OperandInfo& input, const TensorImpl& weight) {
  return fmt::format("\n    input: {}\n    weight: {}\n  ", describe(input),
                     describe(OperandInfo{weight.shape, weight.dtype, weight.device}));
}

}  // namespace

void throw_device_of_input(const ModuleNode& module, const OperandInfo& input, const TensorImpl& weight) {
  throw DeviceError(
      fmt::format("Expected all tensors to be on the same device, but found at least two devices, {0} and {1}!\n  in "
                  "{2}, where{3}Move the input with .to(\"{1}\"), or the net with net.to_(\"{0}\")",
                  to_string(input.device), to_string(weight.device), called(module), both(input, weight)));
}

void throw_input(const ModuleNode& module, const OperandInfo& input, const TensorImpl& weight, const Shape& last) {
  if (input.device != weight.device) throw_device_of_input(module, input, weight);
  if (input.dtype != weight.dtype)
    throw DTypeError(fmt::format(
        "{0}: the input must have the dtype of the weight, {1}, where{2}Convert it with cast<T>(x), or make "
        "the module of its dtype",
        called(module), name(weight.dtype), both(input, weight)));
  throw ShapeError(
      fmt::format("{}: the last axes of the input must be {}, where{}Reshape the input, or make the module "
                  "for the extents that it has",
                  called(module), to_string(last), both(input, weight)));
}

}  // namespace sinter::inline v1::detail

#include <sinter/dsl/normalize.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sinter::inline v1::detail {

void check_floats(std::string_view operation, const OperandInfo& x) {
  if (category(x.dtype) < Category::Float)
    throw DTypeError(fmt::format("{}: takes floats, not {}: convert with cast<float>(x)", operation, describe(x)));
}

void check_real_floats(std::string_view operation, const OperandInfo& x) {
  check_floats(operation, x);
  if (is_complex(x.dtype))
    throw DTypeError(
        fmt::format("{}: takes floats, not {}: take real(z), imag(z) or abs(z) first", operation, describe(x)));
}

void check_parameter(std::string_view operation, std::string_view called, const OperandInfo& parameter,
                     const Shape& shape) {
  if (parameter.shape == shape) return;
  throw ShapeError(fmt::format("{}: the {} must have the shape to normalize over, {}, where\n    {}: {}", operation,
                               called, to_string(shape), called, describe(parameter)));
}

double epsilon_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::Float64: return 0x1p-52;
    case DType::Float16: return 0x1p-10;
    case DType::BFloat16: return 0x1p-7;
    default: return 0x1p-23;
  }
}

double checked_order(double p) {
  if (std::isfinite(p) && p != 0) return p;
  throw Error(fmt::format("norm: the order {} has its own formula, which is chosen at compile time: write norm(x, {})",
                          p,
                          std::isnan(p) ? "2"
                          : p == 0      ? "0_c"
                          : p > 0       ? "inf"
                                        : "-inf"));
}

jit::ReduceAxes normalized_axes(std::string_view operation, const OperandInfo& x, const Shape& shape) {
  const int first = x.shape.ndim() - shape.ndim();
  if (shape.ndim() > 0 && first >= 0 && std::equal(shape.begin(), shape.end(), x.shape.begin() + first))
    return {static_cast<std::uint8_t>((1u << shape.ndim()) - 1), true};
  throw ShapeError(fmt::format("{}: the last axes of x must be {}, the shape to normalize over, where\n    x: {}",
                               operation, to_string(shape), describe(x)));
}

Groups groups_of(const OperandInfo& x, std::int64_t groups) {
  const int ndim = x.shape.ndim();
  if (ndim < 2 || ndim == max_ndim)
    throw ShapeError(fmt::format(
        "group_norm: x must have a batch and channels, so at least two axes and at most {}, where\n    x: {}",
        max_ndim - 1, describe(x)));
  const std::int64_t channels = x.shape[1];
  if (groups < 1 || channels % groups != 0)
    throw ShapeError(
        fmt::format("group_norm: the number of channels, {}, must be divisible by the {} groups, where\n"
                    "    x: {}",
                    channels, groups, describe(x)));
  Groups g{Shape(groups, channels / groups),
           Shape(groups, channels / groups),
           {static_cast<std::uint8_t>((1u << (ndim - 1)) - 1), true}};
  for (int axis = 2; axis < ndim; ++axis) g.of_channels.push_back(1);
  return g;
}

}  // namespace sinter::inline v1::detail

#include <sinter/nn/norm.hpp>

#include <fmt/format.h>

namespace sinter::inline v1::detail {

TensorRef norm_parameter(const Shape& shape, bool exists, DType dtype, Device device, double value) {
  if (shape.empty()) throw ShapeError("a normalization layer takes the shape of the last axes, at least one: {10}");
  return constant_parameter(exists ? shape : Shape(), dtype, device, value);
}

jit::ReduceAxes last_axes(const Shape& shape) noexcept {
  return {static_cast<std::uint8_t>((1u << shape.ndim()) - 1), true};
}

std::string norm_text(const Shape& shape, std::optional<double> eps, bool affine) {
  return fmt::format("{}, eps={}, elementwise_affine={}", to_string(shape), eps ? python_text(*eps) : "None",
                     python_text(affine));
}

}  // namespace sinter::inline v1::detail

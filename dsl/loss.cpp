#include <sinter/dsl/loss.hpp>

#include <fmt/format.h>

#include <runtime/different_devices.hpp>

namespace sinter::inline v1::detail {

namespace {

std::string both(const OperandInfo& scores, const OperandInfo& target) {
  return fmt::format("\n    x: {}\n    target: {}", describe(scores), describe(target));
}

Shape without_axis(const Shape& shape, int axis) {
  Shape rest;
  for (int i = 0; i < shape.ndim(); ++i)
    if (i != axis) rest.push_back(shape[i]);
  return rest;
}

void check_target(const char* what, const OperandInfo& scores, const OperandInfo& target, int axis, bool is_class) {
  if (scores.device != target.device)
    runtime::throw_different_devices(scores.device, target.device,
                                     fmt::format("in {}, where{}", what, both(scores, target)));
  if (is_class && !can_index(target.dtype))
    throw DTypeError(fmt::format("{}: a target of classes holds integers, not {}, where{}", what, name(target.dtype),
                                 both(scores, target)));
  const Shape expected = is_class ? without_axis(scores.shape, axis) : scores.shape;
  if (!(target.shape == expected))
    throw ShapeError(
        fmt::format("{}: the target must have the shape {}, where{}", what, to_string(expected), both(scores, target)));
}

}  // namespace

Classes classes_among(const char* what, const OperandInfo& scores, const OperandInfo& target, bool is_class) {
  const int ndim = scores.shape.ndim();
  if (ndim == 0)
    throw ShapeError(fmt::format("{}: x must have an axis of classes, where{}", what, both(scores, target)));
  const int axis = ndim == 1 ? 0 : 1;
  check_target(what, scores, target, axis, is_class);
  const std::int64_t count = scores.shape[axis];
  if (count == 0) throw ShapeError(fmt::format("{}: there are no classes, where{}", what, both(scores, target)));
  if (count > max_classes)
    throw ShapeError(fmt::format("{}: there are {} classes, but must be at most {}, where{}", what, count, max_classes,
                                 both(scores, target)));
  Shape each(count);
  for (int i = axis + 1; i < ndim; ++i) each.push_back(1);
  return {axis,
          {static_cast<std::uint8_t>(1 << (ndim - 1 - axis)), false},
          count,
          each,
          runtime::iota_tensor(each, scores.device)};
}

void check_class_weight(const char* what, const OperandInfo& scores, const OperandInfo& weight, std::int64_t classes) {
  if (weight.shape == Shape(classes)) return;
  throw ShapeError(
      fmt::format("{}: the weight must have the shape {}, one number for each class, where\n    x: {}\n    weight: {}",
                  what, to_string(Shape(classes)), describe(scores), describe(weight)));
}

double checked_smoothing(double smoothing) {
  if (!(smoothing >= 0 && smoothing <= 1))
    throw Error(fmt::format("cross_entropy: the label smoothing is {}, but must be in [0, 1]", smoothing));
  return smoothing;
}

void check_positive(const char* what, const char* argument, double value) {
  if (!(value > 0)) throw Error(fmt::format("{}: {} is {}, but must be positive", what, argument, value));
}

void check_not_negative(const char* what, const char* argument, double value) {
  if (!(value >= 0)) throw Error(fmt::format("{}: {} is {}, but must not be negative", what, argument, value));
}

}  // namespace sinter::inline v1::detail

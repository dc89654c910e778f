#include "step.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sinter/dsl/parse.hpp>

namespace sinter::fuzz {

Step text_step(std::string text, std::vector<std::size_t> operands, Kind kind) {
  Step step{text, operands, kind};
  step.run = [text, operands](std::span<const Any> values) {
    std::vector<NamedOperand> named;
    for (std::size_t i = 0; i < operands.size(); ++i) named.emplace_back(name_of(operands[i]), values[i]);
    return parse(text, named);
  };
  return step;
}

std::string name_of(std::size_t value) { return fmt::format("v{}", value); }

std::size_t any_value(Choices& choices, std::size_t count) {
  const int n = static_cast<int>(count);
  return static_cast<std::size_t>(choices.often(60) ? n - 1 - choices.below(std::min(n, 3)) : choices.below(n));
}

int any_axis(Choices& choices, const Shape& shape) {
  const int ndim = shape.ndim();
  if (ndim == 0 || choices.often(2)) return choices.between(-2, 3);
  return choices.between(-ndim, ndim - 1);
}

int positive_axis(int axis, int ndim) {
  const int from_start = axis < 0 ? axis + ndim : axis;
  return from_start < 0 || from_start >= ndim ? -1 : from_start;
}

std::string tuple(const Shape& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.ndim() == 1 ? "," : "");
}

Step random_step(Choices& choices, std::span<const Known> known) {
  const int what = choices.below(100);
  if (what < 36) return elementwise_step(choices, known);
  if (what < 38) return function_step(choices, known);
  if (what < 43) return cast_step(choices, known);
  if (what < 63) return reduction_step(choices, known);
  if (what < 67) return product_step(choices, known);
  if (what < 83) return view_step(choices, known);
  if (what < 89) return gathering_step(choices, known);
  if (what < 91) return ordering_step(choices, known);
  if (what < 94) return selection_step(choices, known);
  if (what < 97) return joining_step(choices, known);
  return writing_step(choices, known);
}

}  // namespace sinter::fuzz

// Views, and elements at computed places.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "step.hpp"

namespace sinter::fuzz {
namespace {

/// A view whose element at a position is that of x at from(position).
Step viewing(std::string text, std::size_t value, const Shape& shape, std::function<Position(const Position&)> from) {
  Step step = text_step(std::move(text), {value}, Kind::Moves);
  step.reference = [shape, from = std::move(from)](std::span<const Plain> values) {
    return Reference(moved(values[0], shape, from));
  };
  return step;
}

Shape without(Shape shape, int axis) {
  Shape rest;
  for (int i = 0; i < shape.ndim(); ++i)
    if (i != axis) rest.push_back(shape[i]);
  return rest;
}
Shape with(const Shape& shape, int axis, std::int64_t extent) {
  Shape more;
  for (int i = 0; i <= shape.ndim(); ++i) {
    if (i == axis) more.push_back(extent);
    if (i < shape.ndim()) more.push_back(shape[i]);
  }
  return more;
}
Position with(Position at, int axis, std::int64_t i) { return at.insert(at.begin() + axis, i), at; }
Position without(Position at, int axis) { return at.erase(at.begin() + axis), at; }

Step transposing(Choices& choices, std::size_t v, const Shape& shape) {
  const int a = any_axis(choices, shape), b = any_axis(choices, shape);
  const int i = positive_axis(a, shape.ndim()), j = positive_axis(b, shape.ndim());
  Shape to = shape;
  if (i >= 0 && j >= 0) std::swap(to[i], to[j]);
  return viewing(fmt::format("{}.transpose({}, {})", name_of(v), a, b), v, to, [=](Position at) {
    if (i < 0 || j < 0) return at;  // of one element
    std::swap(at[static_cast<std::size_t>(i)], at[static_cast<std::size_t>(j)]);
    return at;
  });
}

Step slicing(Choices& choices, std::size_t v, const Shape& shape) {
  const int axis = std::max(0, positive_axis(any_axis(choices, shape), shape.ndim()));
  const std::int64_t extent = shape.empty() ? 0 : shape[axis];
  const int first = choices.between(0, static_cast<int>(std::min<std::int64_t>(extent, 3)));
  const int last = choices.often(50) ? static_cast<int>(std::min<std::int64_t>(extent, 200))
                                     : choices.between(first, static_cast<int>(std::min<std::int64_t>(extent, 200)));
  const int step = choices.pick({1, 1, 2, 3});
  std::string index;
  for (int i = 0; i < axis; ++i) index += ":, ";
  Shape to = shape;
  if (!shape.empty()) to[axis] = std::max(0, (last - first + step - 1) / step);
  return viewing(fmt::format("{}[{}{}:{}:{}]", name_of(v), index, first, last, step), v, to, [=](Position at) {
    std::int64_t& i = at[static_cast<std::size_t>(axis)];
    i = first + i * step;
    return at;
  });
}

Step flipping(Choices& choices, std::size_t v, const Shape& shape) {
  const int axis = any_axis(choices, shape), at_axis = positive_axis(axis, shape.ndim());
  return viewing(fmt::format("{}.flip({})", name_of(v), axis), v, shape, [=](Position at) {
    if (at_axis < 0) return at;
    std::int64_t& i = at[static_cast<std::size_t>(at_axis)];
    i = shape[at_axis] - 1 - i;
    return at;
  });
}

Step selecting(Choices& choices, std::size_t v, const Shape& shape) {
  const int axis = any_axis(choices, shape), at_axis = positive_axis(axis, shape.ndim());
  const int extent = at_axis < 0 ? 1 : static_cast<int>(shape[at_axis]);
  const int index = choices.often(3) ? extent : choices.below(std::max(extent, 1));
  return viewing(fmt::format("{}.select({}, {})", name_of(v), axis, index), v, without(shape, at_axis),
                 [=](const Position& at) { return with(at, at_axis, index); });
}

Step unsqueezing(Choices& choices, std::size_t v, const Shape& shape) {
  const int axis = choices.between(0, shape.ndim());
  const std::string text = fmt::format("{}.unsqueeze({})", name_of(v), axis);
  if (shape.ndim() == max_ndim) return text_step(text, {v}, Kind::Moves);  // refused
  return viewing(text, v, with(shape, axis, 1), [=](const Position& at) { return without(at, axis); });
}

Step reshaping(Choices& choices, std::size_t v, const Shape& shape) {
  const std::int64_t n = shape.numel();
  Shape to;
  const int factor = choices.pick({1, 2, 3, 4, 8, 5});
  if (choices.often(3))
    to = Shape(n + 1);  // refused
  else if (n % factor == 0 && choices.often(70))
    to = choices.often(50) ? Shape(factor, n / factor) : Shape(n / factor, factor);
  else
    to = Shape(n);
  Step step = text_step(fmt::format("{}.reshape({})", name_of(v), tuple(to)), {v}, Kind::Moves);
  step.reference = [to](std::span<const Plain> values) {
    return Reference(Plain{values[0].dtype, to, values[0].cells});
  };
  return step;
}

Step expanding(Choices& choices, std::size_t v, const Shape& shape) {
  Shape to = shape;
  for (int i = 0; i < to.ndim(); ++i)
    if (to[i] == 1) to[i] = choices.pick({1, 2, 3, 0, 5, 17});
  if (choices.often(40)) to = with(to, 0, choices.pick({2, 1, 0, 3}));
  if (to.numel() > 20'000 || to.ndim() > max_ndim) to = shape;
  const int skipped = to.ndim() - shape.ndim();
  return viewing(fmt::format("{}.expand({})", name_of(v), tuple(to)), v, to,
                 [=](const Position& at) { return Position(at.begin() + skipped, at.end()); });
}

Step diagonal(std::size_t v, const Shape& shape) {
  Shape to;
  for (int i = 2; i < shape.ndim(); ++i) to.push_back(shape[i]);
  if (shape.ndim() >= 2) to.push_back(std::min(shape[0], shape[1]));
  return viewing(fmt::format("{}.diagonal()", name_of(v)), v, to, [](const Position& at) {
    Position from{at.back(), at.back()};
    from.insert(from.end(), at.begin(), at.end() - 1);
    return from;
  });
}

Step unfolding(Choices& choices, std::size_t v, const Shape& shape) {
  const int axis = any_axis(choices, shape), at_axis = positive_axis(axis, shape.ndim());
  const int size = choices.between(1, 3), by = choices.between(1, 2);
  Shape to = shape;
  if (at_axis >= 0) to[at_axis] = (shape[at_axis] - size) / by + 1;
  if (to.ndim() < max_ndim) to.push_back(size);
  Step step = viewing(fmt::format("{}.unfold({}, {}, {})", name_of(v), axis, size, by), v, to, [=](Position at) {
    if (at_axis < 0) return Position();
    at[static_cast<std::size_t>(at_axis)] = at[static_cast<std::size_t>(at_axis)] * by + at.back();
    at.pop_back();
    return at;
  });
  step.run = [=](std::span<const Any> values) { return Any(values[0].unfold(axis, size, by)); };
  return step;
}

}  // namespace

Step view_step(Choices& choices, std::span<const Known> known) {
  const std::size_t v = any_value(choices, known.size());
  const Shape& shape = known[v].shape;
  switch (choices.below(10)) {
    case 0: return transposing(choices, v, shape);
    case 1: return slicing(choices, v, shape);
    case 2: return flipping(choices, v, shape);
    case 3: return selecting(choices, v, shape);
    case 4: return unsqueezing(choices, v, shape);
    case 5: return reshaping(choices, v, shape);
    case 6: return expanding(choices, v, shape);
    case 7: return diagonal(v, shape);
    case 8: return unfolding(choices, v, shape);
    default: return transposing(choices, v, shape);
  }
}

Step gathering_step(Choices& choices, std::span<const Known> known) {
  const std::size_t v = any_value(choices, known.size());
  const Shape shape = known[v].shape;
  const int axis = any_axis(choices, shape), at_axis = positive_axis(axis, shape.ndim());
  const std::int64_t extent = at_axis < 0 ? 1 : shape[at_axis];
  // gather takes an index of the tensor's own ndim, index_select one of ndim 1.
  const bool along = choices.often(50);
  const int ndim = along ? shape.ndim() : 1;
  std::size_t by = any_value(choices, known.size());
  const auto suits = [&](const Known& k) { return k.shape.ndim() == ndim && !is_complex(k.dtype); };
  for (std::size_t tried = 0; tried < known.size() && !suits(known[by]); ++tried) by = (by + 1) % known.size();
  if (!suits(known[by]) || at_axis < 0) return view_step(choices, known);
  // Where the other value is NaN it is another position than elsewhere.
  const std::int64_t first =
      choices.often(3) ? extent : choices.below(static_cast<int>(std::clamp<std::int64_t>(extent, 1, 100)));
  std::vector<std::size_t> operands{v};
  if (by != v) operands.push_back(by);
  Step step = text_step(fmt::format("{}({}, {}, isnan({}).to(int64) + {})", along ? "gather" : "index_select",
                                    name_of(v), axis, name_of(by), first),
                        operands, Kind::Moves);
  step.reference = [=](std::span<const Plain> values) -> Reference {
    const Plain &x = values[0], &other = values.back();
    const auto position = [&](const Position& at) {
      return first + std::isnan(numbers(other.dtype, other.cells[number_of(other.shape, at)])[0]);
    };
    Shape to = along ? other.shape : x.shape;
    if (!along) to[at_axis] = other.shape[0];
    return moved(x, to, [&](Position at) {
      std::int64_t& i = at[static_cast<std::size_t>(at_axis)];
      return i = along ? position(at) : position({i}), at;
    });
  };
  return step;
}

}  // namespace sinter::fuzz

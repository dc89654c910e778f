// Operations that evaluate: sorts, scans, parts joined, writes.
#include <fmt/format.h>

#include <algorithm>

#include "step.hpp"

namespace sinter::fuzz {
namespace {

AnyTensor tensor(const Any& value) { return AnyTensor(value); }

const char* boolean(bool b) { return b ? "true" : "false"; }

/// A value that is exact, if there is one.
std::size_t exact_value(Choices& choices, std::span<const Known> known) {
  std::size_t v = any_value(choices, known.size());
  for (std::size_t tried = 0; tried < known.size() && !known[v].exact; ++tried) v = (v + 1) % known.size();
  return v;
}

/// x with the elements of `part` at the positions of the axis from `first` on.
Plain written(Plain x, const Plain& part, int axis, std::int64_t first) {
  for_each_position(part.shape, [&](const Position& at) {
    Position to = at;
    to[static_cast<std::size_t>(axis)] += first;
    x.cells[number_of(x.shape, to)] = part.cells[number_of(part.shape, at)];
  });
  return x;
}

Plain part_of(const Plain& x, int axis, std::int64_t first, std::int64_t length) {
  Shape shape = x.shape;
  shape[axis] = length;
  return moved(x, shape, [&](Position at) { return at[static_cast<std::size_t>(axis)] += first, at; });
}

/// w = x.clone(); w[first:] op= w[:-first], where elements are read that are written as well.
Step shifted_write(Choices& choices, std::size_t v, const Known& known) {
  const int axis = choices.below(known.shape.ndim());
  const std::int64_t extent = known.shape[axis];
  const std::int64_t by = choices.below(static_cast<int>(std::min<std::int64_t>(extent, 3)) + 1), length = extent - by;
  const bool down = choices.often(50);
  const std::int64_t to = down ? by : 0, from = down ? 0 : by;
  Step step{fmt::format("w = {0}.clone(); w.narrow({1}, {2}, {4}) = w.narrow({1}, {3}, {4}) + w.narrow({1}, {2}, {4})",
                        name_of(v), axis, to, from, length),
            {v},
            Kind::Adds,
            2};
  step.run = [=](std::span<const Any> values) {
    const AnyTensor w = tensor(values[0]).clone();
    w.narrow(axis, to, length) = w.narrow(axis, from, length) + w.narrow(axis, to, length);
    return Any(w);
  };
  step.reference = [=](std::span<const Plain> values) -> Reference {
    const Plain a = part_of(values[0], axis, from, length), b = part_of(values[0], axis, to, length);
    const ReferenceOperand operands[] = {{&a}, {&b}};
    const Reference sum = elementwise(Op::add, operands);
    if (!sum) return {};
    return written(values[0], *sum, axis, to);
  };
  return step;
}

/// w = x.clone(); w op= y, converted to w's dtype.
Step compound_write(std::size_t a, std::size_t b, std::span<const Known> known) {
  Step step{fmt::format("w = {}.clone(); w += {}", name_of(a), name_of(b)), {a, b}, Kind::Adds, 2};
  const DType to = known[a].dtype;
  step.run = [](std::span<const Any> values) {
    AnyTensor w = tensor(values[0]).clone();
    w += values[1];
    return Any(w);
  };
  step.reference = [to](std::span<const Plain> values) -> Reference {
    const ReferenceOperand operands[] = {{&values[0]}, {&values[1]}};
    const Reference sum = elementwise(Op::add, operands);
    if (!sum || sum->shape != values[0].shape) return {};
    return converted(*sum, to);
  };
  return step;
}

/// w = x.clone(); w.scatter_(axis, positions in another order, y).
Step scattering(Choices& choices, std::size_t v, const Known& known) {
  const int axis = choices.below(known.shape.ndim());
  const std::int64_t extent = known.shape[axis];
  const bool adds = choices.often(50) && known.exact;
  const std::int64_t turn = choices.below(static_cast<int>(std::clamp<std::int64_t>(extent, 1, 100)));
  Shape along;
  for (int i = 0; i < known.shape.ndim(); ++i) along.push_back(i == axis ? extent : 1);
  // Each position once, or, where sums are of whole numbers, all at one place.
  const auto position = [=](std::int64_t i) { return adds ? turn : (i + turn) % std::max<std::int64_t>(extent, 1); };
  Step step{fmt::format("w = {0}.clone(); w.{1}({2}, ((arange({3}) + {4}) % {3} or {4}).expand({5}), {0})", name_of(v),
                        adds ? "scatter_add_" : "scatter_", axis, extent, turn, tuple(known.shape)),
            {v},
            adds ? Kind::Adds : Kind::Moves,
            adds ? static_cast<double>(extent + 1) : 1};
  step.run = [=, shape = known.shape](std::span<const Any> values) {
    const AnyTensor x = tensor(values[0]);
    Plain places{DType::Int64, along, {}};
    for (std::int64_t i = 0; i < extent; ++i) places.cells.push_back({static_cast<Bits>(position(i)), 0});
    const AnyTensor index = tensor_of(places).to(x.device()).expand(shape);
    AnyTensor w = x.clone();
    if (adds)
      w.scatter_add_(axis, index, x);
    else
      w.scatter_(axis, index, x);
    return Any(w);
  };
  step.reference = [=](std::span<const Plain> values) -> Reference {
    const Plain& x = values[0];
    if (is_complex(x.dtype) && adds) return {};
    Plain w = x;
    for_each_position(x.shape, [&](const Position& at) {
      Position to = at;
      to[static_cast<std::size_t>(axis)] = position(at[static_cast<std::size_t>(axis)]);
      const std::size_t from_number = number_of(x.shape, at), to_number = number_of(x.shape, to);
      if (!adds) {
        w.cells[to_number] = x.cells[from_number];
        return;
      }
      const Plain a{x.dtype, Shape(), {w.cells[to_number]}}, b{x.dtype, Shape(), {x.cells[from_number]}};
      const ReferenceOperand operands[] = {{&a}, {&b}};
      w.cells[to_number] = elementwise(Op::add, operands)->cells[0];
    });
    return w;
  };
  return step;
}

/// w = x.clone(); w.index_put_({positions}, x, accumulate), along the first axis.
Step putting(Choices& choices, std::size_t v, const Known& known) {
  const std::int64_t extent = known.shape[0];
  const bool adds = choices.often(50) && known.exact && !is_complex(known.dtype);
  const std::int64_t turn = choices.below(static_cast<int>(std::clamp<std::int64_t>(extent, 1, 100)));
  // Of several writes to one place only sums are defined.
  const auto place = [=](std::int64_t i) {
    return (i + turn) % std::max<std::int64_t>(extent, 1) - (adds ? 0 : extent);
  };
  Step step{fmt::format("w = {0}.clone(); w.index_put_({{(arange({1}) + {2}) % {1}{4}}}, {0}, {3})", name_of(v), extent,
                        turn, boolean(adds), adds ? "" : fmt::format(" - {}", extent)),
            {v},
            adds ? Kind::Adds : Kind::Moves,
            adds ? 2. : 1.};
  step.run = [=](std::span<const Any> values) {
    const AnyTensor x = tensor(values[0]);
    Plain places{DType::Int64, Shape(extent), {}};
    for (std::int64_t i = 0; i < extent; ++i) places.cells.push_back({static_cast<Bits>(place(i)), 0});
    AnyTensor w = x.clone();
    w.index_put_({tensor_of(places).to(x.device())}, x, adds);
    return Any(w);
  };
  step.reference = [=](std::span<const Plain> values) -> Reference {
    const Plain& x = values[0];
    const Plain turned = moved(x, x.shape, [&](Position at) { return at[0] = (at[0] + extent - turn) % extent, at; });
    if (!adds) return turned;
    const ReferenceOperand operands[] = {{&x}, {&turned}};
    return elementwise(Op::add, operands);
  };
  return step;
}

Step stacking(Choices& choices, std::size_t a, std::span<const Known> known) {
  const Shape shape = known[a].shape;
  std::size_t b = any_value(choices, known.size());
  for (std::size_t tried = 0; tried < known.size() && known[b].shape != shape; ++tried) b = (b + 1) % known.size();
  const int axis = choices.between(-shape.ndim() - 1, shape.ndim());
  const int at_axis = axis < 0 ? axis + shape.ndim() + 1 : axis;
  Step step{fmt::format("stack({}, {}, {})", axis, name_of(a), name_of(b)), {a, b}, Kind::Moves};
  step.run = [=](std::span<const Any> values) { return Any(stack(axis, values[0], values[1])); };
  step.reference = [=](std::span<const Plain> values) -> Reference {
    if (values[0].shape != values[1].shape || values[0].shape.ndim() == max_ndim) return {};
    const DType dtype = promote(values[0].dtype, values[1].dtype);
    const Plain parts[] = {converted(values[0], dtype), converted(values[1], dtype)};
    Plain whole{dtype, {}, {}};
    for (int i = 0; i <= shape.ndim(); ++i) {
      if (i == at_axis) whole.shape.push_back(2);
      if (i < shape.ndim()) whole.shape.push_back(shape[i]);
    }
    for_each_position(whole.shape, [&](Position at) {
      const auto part = static_cast<std::size_t>(at[static_cast<std::size_t>(at_axis)]);
      at.erase(at.begin() + at_axis);
      whole.cells.push_back(parts[part].cells[number_of(shape, at)]);
    });
    return whole;
  };
  return step;
}

}  // namespace

Step ordering_step(Choices& choices, std::span<const Known> known) {
  const int what = choices.below(5);
  const bool scans = what >= 3;
  const std::size_t v = what == 0 || what == 3 ? any_value(choices, known.size()) : exact_value(choices, known);
  const Shape& shape = known[v].shape;
  const int axis = any_axis(choices, shape), at_axis = positive_axis(axis, shape.ndim());
  const bool descending = choices.often(50), products = what == 4;
  const std::string arguments = scans ? fmt::format("({}, {})", name_of(v), axis)
                                      : fmt::format("({}, {}, {})", name_of(v), axis, boolean(descending));
  Step step{{}, {v}, Kind::Moves};
  if (scans) {
    step.text = (products ? "cumprod" : "cumsum") + arguments;
    step.kind = products ? Kind::Other : Kind::Adds;
    if (at_axis >= 0) step.terms = static_cast<double>(shape[at_axis]);
    step.run = [=](std::span<const Any> values) {
      return products ? Any(cumprod(values[0], axis)) : Any(cumsum(values[0], axis));
    };
    if (at_axis >= 0)
      step.reference = [=](std::span<const Plain> values) { return scanned(values[0], at_axis, products); };
    return step;
  }
  const bool gives_values = what == 0;
  step.text = gives_values ? "sort" + arguments + ".values" : "argsort" + arguments;
  if (!gives_values) step.kind = Kind::Decides;
  step.run = [=](std::span<const Any> values) {
    if (gives_values) return Any(sort(values[0], axis, descending).values);
    return Any(AnyTensor(argsort(values[0], axis, descending)));
  };
  if (at_axis >= 0)
    step.reference = [=](std::span<const Plain> values) -> Reference {
      if (gives_values) return sorted(values[0], at_axis, descending);
      return sorted_positions(values[0], at_axis, descending);
    };
  return step;
}

Step joining_step(Choices& choices, std::span<const Known> known) {
  const std::size_t a = any_value(choices, known.size());
  if (choices.often(30)) return stacking(choices, a, known);
  const Shape& shape = known[a].shape;
  const int axis = any_axis(choices, shape), at_axis = positive_axis(axis, shape.ndim());
  if (choices.often(40)) {
    const int shift = choices.between(-2, 4);
    Step step{fmt::format("roll({}, {}, {})", name_of(a), shift, axis), {a}, Kind::Moves};
    step.run = [=](std::span<const Any> values) { return Any(roll(values[0], Shape(shift), Shape(axis))); };
    step.reference = [=](std::span<const Plain> values) {
      if (at_axis < 0) return Reference(values[0]);
      return Reference(moved(values[0], values[0].shape, [=](Position at) {
        const std::int64_t extent = shape[at_axis];
        std::int64_t& i = at[static_cast<std::size_t>(at_axis)];
        return i = ((i - shift) % extent + extent) % extent, at;
      }));
    };
    return step;
  }
  std::size_t b = any_value(choices, known.size());
  const auto joins = [&](const Shape& other) {
    if (other.ndim() != shape.ndim() || at_axis < 0) return false;
    for (int i = 0; i < shape.ndim(); ++i)
      if (i != at_axis && other[i] != shape[i]) return false;
    return true;
  };
  for (std::size_t tried = 0; tried < known.size() && !joins(known[b].shape); ++tried) b = (b + 1) % known.size();
  Step step{fmt::format("cat({}, {}, {})", axis, name_of(a), name_of(b)), {a, b}, Kind::Moves};
  step.run = [=](std::span<const Any> values) { return Any(cat(axis, values[0], values[1])); };
  step.reference = [=](std::span<const Plain> values) -> Reference {
    const DType dtype = promote(values[0].dtype, values[1].dtype);
    Plain whole{dtype, values[0].shape, {}};
    whole.shape[at_axis] += values[1].shape[at_axis];
    whole.cells.resize(static_cast<std::size_t>(whole.shape.numel()));
    whole = written(std::move(whole), converted(values[0], dtype), at_axis, 0);
    return written(std::move(whole), converted(values[1], dtype), at_axis, values[0].shape[at_axis]);
  };
  return step;
}

Step writing_step(Choices& choices, std::span<const Known> known) {
  const std::size_t v = exact_value(choices, known);
  if (known[v].shape.empty()) return joining_step(choices, known);
  switch (choices.below(4)) {
    case 0: return shifted_write(choices, v, known[v]);
    case 1: return scattering(choices, v, known[v]);
    case 2: return putting(choices, v, known[v]);
    default: return compound_write(v, exact_value(choices, known), known);
  }
}

}  // namespace sinter::fuzz

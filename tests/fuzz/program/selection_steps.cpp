// Operations that evaluate and choose elements: the first of an order, the middle one, the largest so far, a mask's.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "step.hpp"

namespace sinter::fuzz {
namespace {

constexpr std::array names = {"topk", "kthvalue", "median", "nanmedian", "cummax", "cummin"};

/// A choice among the elements along an axis: values, or where they were.
struct Selection {
  int what;  // of `names`
  int axis;
  std::int64_t k;
  bool flag;  // topk: the largest; kthvalue, median: keeps the axis
  bool indices;

  auto evaluated(const Any& x) const {
    switch (what) {
      case 0: return topk(x, k, axis, flag);
      case 1: return kthvalue(x, k, axis, flag);
      case 2: return median(x, axis, flag);
      case 3: return nanmedian(x, axis, flag);
      case 4: return cummax(x, axis);
      default: return cummin(x, axis);
    }
  }

  std::string text(std::size_t v) const {
    std::string arguments = fmt::format("{}", name_of(v));
    if (what <= 1) arguments += fmt::format(", {}", k);
    arguments += fmt::format(", {}", axis);
    if (what <= 3) arguments += flag ? ", true" : ", false";
    return fmt::format("{}({}).{}", names[static_cast<std::size_t>(what)], arguments, indices ? "indices" : "values");
  }
};

bool is_nan(const Plain& x, std::size_t i) { return std::isnan(numbers(x.dtype, x.cells[i])[0]); }

/// Of the positions that sort a line, the number of the one in the middle.
std::int64_t middle(const Plain& sorted_line, bool ignores_nan) {
  const auto n = static_cast<std::int64_t>(sorted_line.size());
  std::int64_t nans = 0;
  for (std::size_t i = 0; i < sorted_line.size(); ++i) nans += is_nan(sorted_line, i);
  if (nans == n || (nans > 0 && !ignores_nan)) return n - nans;  // the first NaN
  return (n - nans - 1) / 2;
}

/// The elements along the axis at a position of the other axes.
Plain line_at(const Plain& x, int axis, Position at) {
  Plain line{x.dtype, Shape(x.shape[axis]), {}};
  for (std::int64_t& i = at[static_cast<std::size_t>(axis)] = 0; i < x.shape[axis]; ++i)
    line.cells.push_back(x.cells[number_of(x.shape, at)]);
  return line;
}

/// For each element of a line the position of the largest, or smallest, up to it: the last of equal ones, and of NaN.
std::vector<std::int64_t> running_extremes(const Plain& line, bool largest) {
  std::vector<std::int64_t> found;
  std::size_t best = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const long double a = numbers(line.dtype, line.cells[i])[0], b = numbers(line.dtype, line.cells[best])[0];
    if (std::isnan(a) || (largest ? a >= b : a <= b)) best = i;
    found.push_back(static_cast<std::int64_t>(best));
  }
  return found;
}

/// Where in its line each result is taken from.
std::vector<std::int64_t> chosen(const Selection& s, const Plain& line) {
  if (s.what >= 4) return running_extremes(line, s.what == 4);
  const bool descending = s.what == 0 && s.flag;
  const Plain order = sorted_positions(line, 0, descending);
  const auto position = [&](std::int64_t i) {
    return static_cast<std::int64_t>(order.cells[static_cast<std::size_t>(i)][0]);
  };
  std::vector<std::int64_t> found;
  if (s.what == 0)
    for (std::int64_t i = 0; i < s.k; ++i) found.push_back(position(i));
  else
    found.push_back(position(s.what == 1 ? s.k - 1 : middle(sorted(line, 0, false), s.what == 3)));
  return found;
}

Plain reference_of(const Selection& s, const Plain& x, int axis) {
  Shape kept = x.shape;
  if (s.what < 4) kept[axis] = s.what == 0 ? s.k : 1;
  Plain out{s.indices ? DType::Int64 : x.dtype, kept, std::vector<Cell>(static_cast<std::size_t>(kept.numel()))};
  Shape others = x.shape;
  others[axis] = 1;
  for_each_position(others, [&](const Position& at) {
    const Plain line = line_at(x, axis, at);
    const std::vector<std::int64_t> from = chosen(s, line);
    Position to = at;
    for (std::size_t i = 0; i < from.size(); ++i) {
      to[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(i);
      const Cell index{static_cast<Bits>(from[i]), 0};
      out.cells[number_of(kept, to)] = s.indices ? index : line.cells[static_cast<std::size_t>(from[i])];
    }
  });
  if (s.what >= 1 && s.what <= 3 && !s.flag) {
    out.shape = Shape();
    for (int i = 0; i < kept.ndim(); ++i)
      if (i != axis) out.shape.push_back(kept[i]);
  }
  return out;
}

std::size_t exact_value(Choices& choices, std::span<const Known> known, auto suits) {
  std::size_t v = any_value(choices, known.size());
  for (std::size_t tried = 0; tried < known.size() && !(known[v].exact && suits(known[v])); ++tried)
    v = (v + 1) % known.size();
  return v;
}

/// masked_select(x, m != 0), of shapes that broadcast.
Step masking(std::size_t v, std::size_t m) {
  Step step{fmt::format("masked_select({}, {} != 0)", name_of(v), name_of(m)), {v}, Kind::Moves};
  if (m != v) step.operands.push_back(m);
  step.run = [](std::span<const Any> values) { return Any(masked_select(values[0], values.back() != 0)); };
  step.reference = [](std::span<const Plain> values) -> Reference {
    const Plain &x = values[0], &mask = values.back();
    Shape shape = x.shape;
    if (!broadcast(shape, mask.shape)) return {};
    Plain out{x.dtype, Shape(0), {}};
    for_each_position(shape, [&](const Position& at) {
      const auto cell = [&](const Plain& of) {
        return of.cells[number_of(of.shape, Position(at.begin() + (shape.ndim() - of.shape.ndim()), at.end()))];
      };
      const auto parts = numbers(mask.dtype, cell(mask));
      if (parts[0] != 0 || (is_complex(mask.dtype) && parts[1] != 0)) out.cells.push_back(cell(x));
    });
    out.shape = Shape(static_cast<std::int64_t>(out.size()));
    return out;
  };
  return step;
}

}  // namespace

Step selection_step(Choices& choices, std::span<const Known> known) {
  if (choices.often(25)) {
    const std::size_t v = any_value(choices, known.size());
    const auto fits = [&](const Known& k) {
      Shape shape = known[v].shape;
      return broadcast(shape, k.shape) && shape.numel() <= 20'000;
    };
    return masking(v, exact_value(choices, known, fits));
  }
  Selection s{choices.below(names.size()), 0, 1, choices.often(50), choices.often(40)};
  const std::size_t v = s.indices ? exact_value(choices, known, [](const Known& k) { return !k.shape.empty(); })
                                  : any_value(choices, known.size());
  const Shape& shape = known[v].shape;
  s.axis = any_axis(choices, shape);
  const int axis = positive_axis(s.axis, shape.ndim());
  const auto extent = static_cast<int>(axis < 0 ? 1 : std::min<std::int64_t>(shape[axis], 200));
  s.k = choices.often(3) ? extent + 1 : choices.between(1, std::max(extent, 1));
  Step step{s.text(v), {v}, s.indices ? Kind::Decides : Kind::Moves};
  step.run = [s](std::span<const Any> values) {
    const auto found = s.evaluated(values[0]);
    return s.indices ? Any(AnyTensor(found.indices)) : Any(AnyTensor(found.values));
  };
  if (axis >= 0)
    step.reference = [s, axis](std::span<const Plain> values) -> Reference { return reference_of(s, values[0], axis); };
  return step;
}

}  // namespace sinter::fuzz

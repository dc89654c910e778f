#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../../jit/reference.hpp"

namespace sinter::fuzz {
namespace {

using Exact = long double;

Shape shape_of(std::span<const ReferenceOperand> operands) {
  Shape shape;
  for (const ReferenceOperand& o : operands)
    if (o.array) static_cast<void>(broadcast(shape, o.array->shape));
  return shape;
}

OperandType type_of(const ReferenceOperand& o) {
  if (o.array) return {o.array->dtype};
  return {default_dtype(o.number.category), true};
}

/// In the dtype that holds those of `to`.
Bits operand_bits(const ReferenceOperand& o, const Position& at, DType to) {
  if (!o.array) {
    const DType rounded = category(to) == Category::Float ? to : DType::Float64;
    const Bits bits = test::convert_bits(test::to_bits(o.number.value), DType::Float64, rounded);
    return test::convert_bits(bits, rounded, test::held(to));
  }
  const Bits bits = o.array->cells[number_of(o.array->shape, at)][0];
  return test::convert_bits(test::convert_bits(bits, o.array->dtype, to), to, test::held(to));
}

/// Sums and products of integers wrap; of floats they are exact until they are rounded.
Cell accumulated(const std::vector<Cell>& cells, DType from, DType result, bool products) {
  if (category(result) == Category::Int) {
    std::uint64_t all = products;
    for (const Cell& c : cells) {
      const Bits bits = test::convert_bits(c[0], from, result);
      all = products ? all * bits : all + bits;
    }
    return {all, 0};
  }
  Exact all = products;
  for (const Cell& c : cells) {
    const Exact x = numbers(from, c)[0];
    all = products ? all * x : all + x;
  }
  return cell_of(result, all);
}

Exact mean_of(const std::vector<Exact>& x) {
  return std::accumulate(x.begin(), x.end(), Exact(0)) / static_cast<Exact>(x.size());
}

Exact variance_of(const std::vector<Exact>& x, double correction) {
  const Exact mean = mean_of(x);
  Exact squares = 0;
  for (const Exact v : x) squares += (v - mean) * (v - mean);
  const Exact left = static_cast<Exact>(x.size()) - static_cast<Exact>(correction);
  return squares / std::max(left, Exact(0));
}

/// The position of the largest or smallest element, of the first NaN where there is one.
std::size_t extreme(const std::vector<Exact>& x, bool largest) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < x.size() && !std::isnan(x[best]); ++i)
    if (std::isnan(x[i]) || (largest ? x[i] > x[best] : x[i] < x[best])) best = i;
  return best;
}

Exact log_of_sum(const std::vector<Exact>& x) {
  Exact most = -INFINITY, sum = 0;
  for (const Exact v : x) most = std::isnan(v) || v > most ? v : most;
  if (std::isinf(most) || std::isnan(most)) {
    for (const Exact v : x)
      if (std::isnan(v)) return v;
    return most;
  }
  for (const Exact v : x) sum += std::exp(v - most);
  return most + std::log(sum);
}

std::vector<Exact> without_nan(const std::vector<Exact>& x) {
  std::vector<Exact> numbers;
  std::ranges::copy_if(x, std::back_inserter(numbers), [](Exact v) { return !std::isnan(v); });
  return numbers;
}

/// Whether a part of the product may: infinity * 0 is then NaN in one order and 0 in another.
bool overflows(const std::vector<Exact>& x) {
  Exact large = 0, small = 0;
  for (const Exact v : x)
    if (v != 0 && std::isfinite(v)) (std::abs(v) > 1 ? large : small) += std::abs(std::log2(std::abs(v)));
  return large > 100 || small > 100;
}

/// The value of the elements that are combined. Nothing for a reduction that is not known.
std::optional<Cell> combined(Op op, DType from, DType result, const std::vector<Cell>& cells, double correction) {
  std::vector<Exact> x;
  for (const Cell& c : cells) x.push_back(numbers(from, c)[0]);
  const auto nonzero = [](Exact v) { return v != 0; };
  switch (op) {
    case Op::sum: return accumulated(cells, from, result, false);
    case Op::prod:
      return category(result) == Category::Float && overflows(x) ? std::optional<Cell>()
                                                                 : accumulated(cells, from, result, true);
    case Op::nansum: {
      std::vector<Cell> kept;
      std::ranges::copy_if(cells, std::back_inserter(kept),
                           [&](const Cell& c) { return !std::isnan(numbers(from, c)[0]); });
      return accumulated(kept, from, result, false);
    }
    case Op::amax: return cells[extreme(x, true)];
    case Op::amin: return cells[extreme(x, false)];
    case Op::argmax: return Cell{extreme(x, true), 0};
    case Op::argmin: return Cell{extreme(x, false), 0};
    case Op::any: return Cell{std::ranges::any_of(x, nonzero), 0};
    case Op::all: return Cell{std::ranges::all_of(x, nonzero), 0};
    case Op::count: return Cell{x.size(), 0};
    case Op::count_nonzero: return Cell{static_cast<Bits>(std::ranges::count_if(x, nonzero)), 0};
    case Op::mean: return cell_of(result, mean_of(x));
    case Op::nanmean: return cell_of(result, mean_of(without_nan(x)));
    case Op::var: return cell_of(result, variance_of(x, correction));
    case Op::std: return cell_of(result, std::sqrt(variance_of(x, correction)));
    case Op::logsumexp: return cell_of(result, log_of_sum(x));
    default: return {};
  }
}

/// softmax, softmin and log_softmax: one value for each element.
Reference spread(Op op, const Plain& x, const std::vector<std::vector<std::size_t>>& groups, DType result) {
  Plain out{result, x.shape, std::vector<Cell>(x.size())};
  for (const std::vector<std::size_t>& group : groups) {
    std::vector<Exact> values;
    for (const std::size_t i : group) values.push_back((op == Op::softmin ? -1 : 1) * numbers(x.dtype, x.cells[i])[0]);
    // inf - inf is NaN: so is a row with an infinity, and one of which all is -inf.
    const Exact most = values.empty() ? 0 : values[extreme(values, true)];
    Exact sum = 0;
    for (const Exact v : values) sum += std::exp(v - most);
    for (std::size_t i = 0; i < group.size(); ++i) {
      const Exact log = values[i] - most - std::log(sum);
      out.cells[group[i]] = cell_of(result, op == Op::log_softmax ? log : std::exp(values[i] - most) / sum);
    }
  }
  return out;
}

std::vector<Position> lines(const Shape& shape, int axis) {
  Shape one = shape;
  one[axis] = std::min<std::int64_t>(shape[axis], 1);
  std::vector<Position> first;
  for_each_position(one, [&](const Position& at) { first.push_back(at); });
  return first;
}

/// Calls f with the elements' numbers of each line.
template <class F>
void for_each_line(const Shape& shape, int axis, F f) {
  for (Position at : lines(shape, axis)) {
    std::vector<std::size_t> line;
    for (std::int64_t i = 0; i < shape[axis]; ++i) {
      at[static_cast<std::size_t>(axis)] = i;
      line.push_back(number_of(shape, at));
    }
    f(line);
  }
}

}  // namespace

Reference elementwise(Op op, std::span<const ReferenceOperand> operands) {
  std::vector<OperandType> types;
  for (const ReferenceOperand& o : operands) {
    types.push_back(type_of(o));
    if (is_complex(types.back().dtype)) return {};
  }
  const OpTypes t = op_types(op, types);
  if (!t.ok || is_complex(t.result)) return {};
  if (op == Op::real) return operands[0].array ? Reference(*operands[0].array) : Reference();
  Plain out{t.result, shape_of(operands), {}};
  try {
    for_each_position(out.shape, [&](const Position& at) {
      std::vector<Bits> values;
      for (std::size_t i = 0; i < operands.size(); ++i)
        values.push_back(operand_bits(operands[i], at, op == Op::where && i == 0 ? DType::Bool : t.compute));
      const DType held = category(t.result) == Category::Bool ? DType::Bool : test::held(t.result);
      out.cells.push_back({test::convert_bits(test::apply(op, t.compute, values), held, t.result), 0});
    });
  } catch (const std::logic_error&) {  // the reference does not know it
    return {};
  }
  return out;
}

Reference reduced(Op op, const Plain& x, const std::vector<bool>& axes, bool keeps, double correction) {
  if (is_complex(x.dtype)) return {};
  std::vector<OperandType> types{{x.dtype}};
  if (info(op).arity == 2) types.push_back({DType::Int64, true});
  const OpTypes t = op_types(op, types);
  if (!t.ok) return {};
  Shape kept = x.shape, shape;
  for (int axis = 0; axis < kept.ndim(); ++axis) {
    if (axes[static_cast<std::size_t>(axis)]) kept[axis] = 1;
    if (keeps || !axes[static_cast<std::size_t>(axis)]) shape.push_back(kept[axis]);
  }
  std::vector<std::vector<std::size_t>> groups(static_cast<std::size_t>(kept.numel()));
  std::size_t number = 0;
  for_each_position(x.shape, [&](const Position& at) { groups[number_of(kept, at)].push_back(number++); });
  if (info(op).reduction == Reduction::ShapePreserving) return spread(op, x, groups, t.result);
  Plain out{t.result, shape, {}};
  for (const std::vector<std::size_t>& group : groups) {
    std::vector<Cell> cells;
    for (const std::size_t i : group) cells.push_back(x.cells[i]);
    const std::optional<Cell> value = combined(op, x.dtype, t.result, cells, correction);
    if (!value) return {};
    out.cells.push_back(*value);
  }
  return out;
}

Reference product(const Plain& a, const Plain& b) {
  if (is_complex(a.dtype)) return {};
  const bool row = a.shape.ndim() == 1, column = b.shape.ndim() == 1;
  const auto batch = [](const Shape& s) {
    Shape outer;
    for (int i = 0; i + 2 < s.ndim(); ++i) outer.push_back(s[i]);
    return outer;
  };
  const Shape outer_a = batch(a.shape), outer_b = batch(b.shape);
  Shape outer = outer_a;
  static_cast<void>(broadcast(outer, outer_b));
  const std::int64_t m = row ? 1 : a.shape[-2], k = a.shape[-1], n = column ? 1 : b.shape[-1];
  Plain out{a.dtype, outer, {}};
  if (!row) out.shape.push_back(m);
  if (!column) out.shape.push_back(n);
  for_each_position(outer, [&](const Position& at) {
    const std::size_t from_a = number_of(outer_a, at) * static_cast<std::size_t>(m * k),
                      from_b = number_of(outer_b, at) * static_cast<std::size_t>(k * n);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        Exact sum = 0;
        for (std::int64_t l = 0; l < k; ++l)
          sum += numbers(a.dtype, a.cells[from_a + static_cast<std::size_t>(i * k + l)])[0] *
                 numbers(b.dtype, b.cells[from_b + static_cast<std::size_t>(l * n + j)])[0];
        out.cells.push_back(cell_of(out.dtype, sum));
      }
  });
  return out;
}

Plain sorted_positions(const Plain& x, int axis, bool descending) {
  Plain out{DType::Int64, x.shape, std::vector<Cell>(x.size())};
  for_each_line(x.shape, axis, [&](const std::vector<std::size_t>& line) {
    std::vector<std::size_t> order(line.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto below = [&](std::size_t i, std::size_t j) {
      const Exact a = numbers(x.dtype, x.cells[line[i]])[0], b = numbers(x.dtype, x.cells[line[j]])[0];
      return std::isnan(b) ? !std::isnan(a) : a < b;
    };
    std::ranges::sort(order, [&](std::size_t i, std::size_t j) {  // equal ones stay in their order
      const bool first = descending ? below(j, i) : below(i, j), second = descending ? below(i, j) : below(j, i);
      return first || (!second && i < j);
    });
    for (std::size_t i = 0; i < line.size(); ++i) out.cells[line[i]] = {order[i], 0};
  });
  return out;
}

Plain sorted(const Plain& x, int axis, bool descending) {
  const Plain order = sorted_positions(x, axis, descending);
  Plain out = x;
  for_each_line(x.shape, axis, [&](const std::vector<std::size_t>& line) {
    for (const std::size_t i : line) out.cells[i] = x.cells[line[order.cells[i][0]]];
  });
  return out;
}

Reference scanned(const Plain& x, int axis, bool products) {
  if (is_complex(x.dtype)) return {};
  const bool widens = category(x.dtype) <= Category::Int && x.dtype != DType::UInt64;
  const DType result = widens ? DType::Int64 : x.dtype;
  std::vector<Exact> all;
  for (const Cell& c : x.cells) all.push_back(numbers(x.dtype, c)[0]);
  if (products && category(result) == Category::Float && overflows(all)) return {};
  Plain out{result, x.shape, std::vector<Cell>(x.size())};
  for_each_line(x.shape, axis, [&](const std::vector<std::size_t>& line) {
    std::vector<Cell> until;
    for (const std::size_t i : line) {
      until.push_back(x.cells[i]);
      out.cells[i] = accumulated(until, x.dtype, result, products);
    }
  });
  return out;
}

}  // namespace sinter::fuzz

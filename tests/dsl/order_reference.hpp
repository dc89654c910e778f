// The reference for sorts: a stable sort of positions.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "devices.hpp"
#include "lines.hpp"

namespace sinter_tests {

using Positions = std::vector<std::int64_t>;
using AnyResult = sinter::ValuesAndIndices<sinter::AnyType>;

/// The positions of a line's elements in order: NaN is the largest.
inline Positions in_order(const Numbers& x, const Line& line, bool descending) {
  Positions positions(line.length);
  std::iota(positions.begin(), positions.end(), 0);
  const auto below = [&](std::int64_t i, std::int64_t j) {
    const Number a = x[line.at(static_cast<std::size_t>(i))], b = x[line.at(static_cast<std::size_t>(j))];
    return std::isnan(b) ? !std::isnan(a) : a < b;
  };
  std::sort(positions.begin(), positions.end(), [&](std::int64_t i, std::int64_t j) {
    const bool first = descending ? below(j, i) : below(i, j), second = descending ? below(i, j) : below(j, i);
    return first || (!second && i < j);
  });
  return positions;
}

/// Checks that a result holds, for each line of x, the elements at the first of some positions.
inline void expect_found(const AnyResult& found, const Numbers& x, const std::vector<Line>& lines,
                         const std::vector<Line>& of_result, const std::vector<Positions>& expected) {
  const Numbers values = numbers_of(found.values), indices = numbers_of(found.indices);
  ASSERT_EQ(values.size(), indices.size());
  ASSERT_EQ(lines.size(), of_result.size());
  int wrong = 0;
  for (std::size_t l = 0; l < lines.size() && wrong < 3; ++l)
    for (std::size_t i = 0; i < of_result[l].length && wrong < 3; ++i) {
      const std::int64_t position = expected[l][i];
      const std::size_t at = of_result[l].at(i);
      const Number value = x[lines[l].at(static_cast<std::size_t>(position))];
      const bool right = indices[at] == Number(position) && same(values[at], value) &&
                         (std::isnan(value) || std::signbit(values[at]) == std::signbit(value));
      wrong += !right;
      EXPECT_TRUE(right) << "line " << l << ", " << i << ": " << values[at] << " from " << indices[at] << ", not "
                         << value << " from " << position;
    }
}

inline Positions positions_of_one(std::int64_t position) { return {position}; }

/// The position of each line's median.
inline std::vector<Positions> medians(const Numbers& x, const std::vector<Line>& lines,
                                      const std::vector<Positions>& order, bool nan_wins) {
  std::vector<Positions> found;
  for (std::size_t l = 0; l < lines.size(); ++l) {
    std::int64_t numbers = 0;
    const auto length = static_cast<std::int64_t>(lines[l].length);
    for (std::size_t i = 0; i < lines[l].length; ++i) numbers += !std::isnan(x[lines[l].at(i)]);
    const std::int64_t middle = numbers == 0 ? 0 : (numbers - 1) / 2;
    found.push_back(
        positions_of_one(order[l][static_cast<std::size_t>(nan_wins && numbers < length ? numbers : middle)]));
  }
  return found;
}

/// Checks all functions along one axis. `x` holds these numbers, in any layout.
inline void expect_order(const sinter::AnyTensor& x, const Numbers& numbers, int axis, std::int64_t k) {
  SCOPED_TRACE(fmt::format("{} {} on {}, axis {}", name(x.dtype()), to_string(x.shape()), to_string(x.device()), axis));
  const std::vector<Line> lines = lines_along(x.shape(), axis);
  const std::int64_t length = x.dim() > 0 ? x.shape()[axis] : 1;
  sinter::Shape first = x.shape(), one = x.shape();
  if (x.dim() > 0) first[axis] = k, one[axis] = 1;
  const std::vector<Line> first_lines = lines_along(first, axis), one_lines = lines_along(one, axis);
  for (const bool descending : {false, true}) {
    std::vector<Positions> order;
    for (const Line& line : lines) order.push_back(in_order(numbers, line, descending));
    const AnyResult sorted = x.sort(axis, descending);
    EXPECT_EQ(sorted.values.shape(), x.shape());
    EXPECT_TRUE(sorted.values.is_contiguous() && sorted.values.device() == x.device());
    expect_found(sorted, numbers, lines, lines, order);
    EXPECT_TRUE(sinter::equal(x.argsort(axis, descending), sorted.indices));
    const AnyResult top = x.topk(k, axis, descending);
    EXPECT_EQ(top.indices.shape(), first);
    expect_found(top, numbers, lines, first_lines, order);
    if (descending || length == 0) continue;
    const std::int64_t n = std::max<std::int64_t>(k, 1);
    std::vector<Positions> kth;
    for (const Positions& p : order) kth.push_back(positions_of_one(p[static_cast<std::size_t>(n - 1)]));
    expect_found(x.kthvalue(n, axis, true), numbers, lines, one_lines, kth);
    expect_found(x.median(axis), numbers, lines, one_lines, medians(numbers, lines, order, true));
    expect_found(x.nanmedian(axis, true), numbers, lines, one_lines, medians(numbers, lines, order, false));
  }
}

/// The same for random numbers on the CPU and the first GPU.
inline void expect_order_of(sinter::DType dtype, const sinter::Shape& shape, int axis, std::int64_t k,
                            std::mt19937& random) {
  const sinter::AnyTensor here = tensor_of(dtype, shape, random_numbers(dtype, shape.numel(), random));
  const Numbers numbers = numbers_of(here);
  for (const sinter::Device device : devices())
    if (device.index() < 1) expect_order(here.to(device), numbers, axis, k);
}

}  // namespace sinter_tests

#include "cases.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>
#include <tuple>

namespace bench {
namespace {

template <class F>
double sum_of(const std::vector<double>& values, const F& f) {
  double sum = 0;
  for (const double v : values) sum += f(v);
  return sum;
}
double length_of(const Line& l) { return static_cast<double>(l.x.size()); }
double exponentials(const Line& l) {
  return sum_of(l.x, [](double v) { return std::exp(v); });
}
template <class F>
std::vector<double> each(const Line& l, const F& f) {
  std::vector<double> values(l.x.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = f(i);
  return values;
}

std::vector<double> softmax(const Line& l) {
  return each(l, [&, sum = exponentials(l)](std::size_t i) { return std::exp(l.x[i]) / sum; });
}
std::vector<double> log_softmax(const Line& l) {
  return each(l, [&, log = std::log(exponentials(l))](std::size_t i) { return l.x[i] - log; });
}
std::vector<double> layer_norm(const Line& l) {
  const double mean = sum_of(l.x, std::identity()) / length_of(l);
  const double variance = sum_of(l.x, [mean](double v) { return (v - mean) * (v - mean); }) / length_of(l);
  return each(l, [&, by = 1 / std::sqrt(variance + 1e-5)](std::size_t i) {
    return (l.x[i] - mean) * by * l.gain[i] + l.shift[i];
  });
}
std::vector<double> rms_norm(const Line& l) {
  const double squares = sum_of(l.x, [](double v) { return v * v; }) / length_of(l);
  return each(l, [&, by = 1 / std::sqrt(squares + 1e-5)](std::size_t i) { return l.x[i] * by * l.gain[i]; });
}
std::vector<double> logsumexp(const Line& l) { return {std::log(exponentials(l))}; }
std::vector<double> argmax(const Line& l) { return {static_cast<double>(std::ranges::max_element(l.x) - l.x.begin())}; }
std::vector<double> cumsum(const Line& l) {
  std::vector<double> sums(l.x.size());
  std::partial_sum(l.x.begin(), l.x.end(), sums.begin());
  return sums;
}
std::vector<double> sort(const Line& l) {
  std::vector<double> values = l.x;
  std::ranges::sort(values);
  return values;
}
std::vector<double> dropout(const Line& l) {
  return each(l, [&](std::size_t i) { return 2 * l.x[i]; });
}
std::vector<double> embedding(const Line& l) { return l.x; }
std::vector<double> cross_entropy(const Line& l) { return {std::log(exponentials(l)) - l.x[l.of_class]}; }
std::vector<double> sum(const Line& l) { return {sum_of(l.x, std::identity())}; }

/// The operands of a dtype, line by line. Generated here, so that threads may read lines.
struct Operands {
  Operands(bool bfloat16, const Extent& of)
      : extent(of),
        x(input(Operand::X, of)),
        gain(input(Operand::Gain, of)),
        shift(input(Operand::Shift, of)),
        narrow(bfloat16) {}
  Line row(std::size_t row) const {
    return {line(x, row * extent.columns, 1, extent.columns), line(gain, 0, 1, extent.columns),
            line(shift, 0, 1, extent.columns), class_of(row, extent.columns)};
  }
  Line column(std::size_t column) const { return {line(x, column, extent.columns, extent.rows), {}, {}, 0}; }
  std::vector<double> line(const std::vector<float>& of, std::size_t first, std::size_t step, std::size_t count) const {
    std::vector<double> made(count);
    for (std::size_t i = 0; i < count; ++i) made[i] = held(of[first + i * step]);
    return made;
  }
  /// The nearest bfloat16, ties to even.
  double held(float value) const {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return narrow ? std::bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000) : value;
  }
  Extent extent;
  const std::vector<float>&x, &gain, &shift;
  bool narrow;
};

/// For all rows together, which takes long: computed once per case.
double right_of_all(const RowCase& c, const Operands& of) {
  static std::map<std::tuple<const char*, bool, std::size_t, std::size_t>, double> known;
  const auto [at, fresh] = known.try_emplace({c.name, of.narrow, of.extent.rows, of.extent.columns});
  if (fresh)
    at->second = tbb::parallel_reduce(
                     tbb::blocked_range<std::size_t>(0, of.extent.rows), 0.0,
                     [&](const auto& rows, double sum) {
                       for (std::size_t r = rows.begin(); r < rows.end(); ++r) sum += c.right(of.row(r))[0];
                       return sum;
                     },
                     std::plus()) /
                 (c.result == Kind::Mean ? static_cast<double>(of.extent.rows) : 1);
  return at->second;
}

constexpr std::size_t many = 1 << 18;  // number of elements to check in a larger matrix
std::size_t step_through(std::size_t lines, std::size_t length) {
  const std::size_t looked_at = std::clamp<std::size_t>(many / length, 2, 64);
  return std::max<std::size_t>(1, lines / looked_at);
}

}  // namespace

std::size_t RowCase::elements(const Extent& of) const {
  switch (result) {
    case Kind::Matrix:
    case Kind::Scan:
    case Kind::Gathered: return of.rows * of.columns;
    case Kind::Rows: return of.rows;
    case Kind::Columns: return of.columns;
    default: return 1;
  }
}

double RowCase::bytes(const Extent& of, std::size_t element) const {
  const auto vector = static_cast<std::size_t>(vectors) * of.columns;
  const std::size_t classes = result == Kind::Mean || result == Kind::Gathered ? 8 * of.rows : 0;
  return static_cast<double>((of.rows * of.columns + vector + elements(of)) * element + classes);
}

const std::vector<RowCase>& row_cases() {
  static const std::vector<RowCase> all = {
      {"softmax", Kind::Matrix, 0, softmax, false},
      {"log_softmax", Kind::Matrix, 0, log_softmax, false},
      {"layer_norm", Kind::Matrix, 2, layer_norm, true},
      {"rms_norm", Kind::Matrix, 1, rms_norm, true},
      {"cross_entropy", Kind::Mean, 0, cross_entropy, false},
      {"sum_all", Kind::Sum, 0, sum, true},
      {"sum_rows", Kind::Rows, 0, sum, true},
      {"sum_columns", Kind::Columns, 0, sum, true},
      {"logsumexp", Kind::Rows, 0, logsumexp, false},
      {"argmax", Kind::Rows, 0, argmax, false},
      {"cumsum", Kind::Scan, 0, cumsum, true},
      {"sort", Kind::Matrix, 0, sort, false},
      {"dropout", Kind::Matrix, 0, dropout, false, true},
      {"embedding", Kind::Gathered, 0, embedding, false},
  };
  return all;
}

const RowCase& find_row_case(const std::string& name) {
  for (const RowCase& c : row_cases())
    if (c.name == name) return c;
  throw std::invalid_argument("there is no case " + name);
}

std::size_t step_of_rows(const Extent& of) { return step_through(of.rows, of.columns); }

std::string fault_of(const RowCase& c, bool bfloat16, const Extent& of, std::span<const float> result) {
  const Operands operands(bfloat16, of);
  const double tolerance = bfloat16 ? 3e-2 : 2e-4;  // each operation rounds in eager mode
  // The error of a sum scales with the expected magnitude of the sum of its terms, which are uniform in [-3, 3].
  const bool one = c.result == Kind::Sum || c.result == Kind::Mean, across = c.result == Kind::Columns;
  const bool by_element = is_matrix(c.result) && c.result != Kind::Scan;
  const std::size_t terms = by_element ? 1 : one ? of.rows * of.columns : across ? of.rows : of.columns;
  const double least = c.cancels ? std::sqrt(static_cast<double>(terms)) : 0;
  const auto check = [&](std::size_t i, double right) -> std::string {
    if (i < result.size() && std::abs(result[i] - right) <= tolerance * std::max(least, std::abs(right))) return {};
    if (i < result.size() && c.drops && result[i] == 0) return {};
    return std::string(c.name) + ": element " + std::to_string(i) + " of " + std::to_string(result.size()) + " is " +
           (i < result.size() ? std::to_string(result[i]) : "missing") + ", not " + std::to_string(right);
  };
  if (one) return check(0, right_of_all(c, operands));
  const std::size_t lines = across ? of.columns : of.rows, step = step_through(lines, across ? of.rows : of.columns);
  for (std::size_t line = 0, place = 0; line < lines; line += step) {
    const std::size_t row = c.result == Kind::Gathered ? class_of(line, of.rows) : line;
    const std::vector<double> right = c.right(across ? operands.column(line) : operands.row(row));
    place = is_matrix(c.result) ? place : line;
    for (const double value : right)
      if (std::string fault = check(place++, value); !fault.empty()) return fault;
  }
  return {};
}

}  // namespace bench

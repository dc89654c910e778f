#include "expression.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "inputs.hpp"

namespace bench {
namespace {

double in(Operand operand, std::size_t i, std::size_t n) { return input(operand, n)[i]; }
double row(Operand operand, std::size_t i, std::size_t n) { return input(operand, n)[i % extent(n).columns]; }
double column(Operand operand, std::size_t i, std::size_t n) { return input(operand, n)[i / extent(n).columns]; }
double x(std::size_t i, std::size_t n) { return in(Operand::X, i, n); }
double y(std::size_t i, std::size_t n) { return in(Operand::Y, i, n); }

template <int Operations>
double chain(std::size_t i, std::size_t n) {
  double value = x(i, n);
  for (int step = 1; step <= Operations; ++step)
    value = step % 5 == 0 ? std::tanh(value) : step % 2 == 0 ? value * x(i, n) : value + y(i, n);
  return value;
}
double gelu(std::size_t i, std::size_t n) {
  const double a = x(i, n);
  return 0.5 * a * (1 + std::tanh(std::sqrt(2 / M_PI) * (a + 0.044715 * a * a * a)));
}
double black_scholes(std::size_t i, std::size_t n) {
  const double s = in(Operand::Spot, i, n), k = in(Operand::Strike, i, n), t = in(Operand::Time, i, n);
  const double r = 0.02, sigma = 0.3, d1 = (std::log(s / k) + (r + sigma * sigma / 2) * t) / (sigma * std::sqrt(t));
  const auto cdf = [](double d) { return 0.5 * std::erfc(-d / std::sqrt(2)); };
  return s * cdf(d1) - k * std::exp(-r * t) * cdf(d1 - sigma * std::sqrt(t));
}
double transposed(std::size_t i, std::size_t n) {
  const auto [rows, columns] = extent(n);
  return x(i % columns * rows + i / columns, n) + y(i, n);
}
double normalise(std::size_t i, std::size_t n) {
  const double centred = x(i, n) - column(Operand::Mean, i, n);
  return centred / std::sqrt(column(Operand::Variance, i, n) + 1e-5) * row(Operand::Gain, i, n) +
         row(Operand::Shift, i, n);
}

}  // namespace

const std::vector<Expression>& expressions() {
  static const std::vector<Expression> all = {
      {"chain_1", "chain", 1, 3, chain<1>},
      {"chain_2", "chain", 2, 3, chain<2>},
      {"chain_5", "chain", 5, 3, chain<5>},
      {"chain_10", "chain", 10, 3, chain<10>},
      {"chain_20", "chain", 20, 3, chain<20>},
      {"chain_40", "chain", 40, 3, chain<40>},
      {"example", "named", 3, 3, [](auto i, auto n) { return std::exp(x(i, n) + 2) * y(i, n); }},
      {"axpy", "named", 2, 3, [](auto i, auto n) { return 1.5 * x(i, n) + y(i, n); }},
      {"gelu", "named", 9, 2, gelu},
      {"swish", "named", 4, 2, [](auto i, auto n) { return x(i, n) / (1 + std::exp(-x(i, n))); }},
      {"distance", "named", 6, 5,
       [](auto i, auto n) {
         return std::hypot(x(i, n) - in(Operand::Spot, i, n), y(i, n) - in(Operand::Strike, i, n));
       }},
      {"black_scholes", "named", 22, 4, black_scholes},
      {"transposed", "strided", 1, 3, transposed},
      {"every_second", "strided", 1, 4, [](auto i, auto n) { return in(Operand::Wide, 2 * i, n) * y(i, n); }},
      {"add_row", "broadcast", 1, 2, [](auto i, auto n) { return x(i, n) + row(Operand::Row, i, n); }},
      {"outer", "broadcast", 1, 1,
       [](auto i, auto n) { return column(Operand::Column, i, n) * row(Operand::Row, i, n); }},
      {"normalise", "broadcast", 4, 2, normalise},
  };
  return all;
}

const Expression& find_expression(const std::string& name) {
  for (const Expression& e : expressions())
    if (e.name == name) return e;
  throw std::invalid_argument("there is no expression " + name);
}

std::string fault_of(const Expression& e, std::span<const float> result) {
  const std::size_t n = result.size(), step = std::max<std::size_t>(1, n / 65'536);
  for (std::size_t start = 0; start < n; start += step) {
    const std::size_t i = std::min(n - 1, start + start / step * 7 % step);  // not always the same place of a vector
    const double right = e.value(i, n);
    // Sums of products that nearly cancel lose relative accuracy; what is poisoned is not a number and fails.
    if (!(std::abs(result[i] - right) <= 2e-4 * std::max(1.0, std::abs(right))))
      return std::string(e.name) + ": element " + std::to_string(i) + " is " + std::to_string(result[i]) + ", not " +
             std::to_string(right);
  }
  return {};
}

}  // namespace bench

#include "expression.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>

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
double axpy(std::size_t i, std::size_t n) { return 1.5 * x(i, n) + y(i, n); }
double every_second(std::size_t i, std::size_t n) { return in(Operand::Wide, 2 * i, n) * y(i, n); }
double residual(std::size_t i, std::size_t n) {
  return x(i, n) + row(Operand::Gain, i, n) * y(i, n) / (1 + std::exp(-y(i, n)));
}
double image(std::size_t i, std::size_t n) { return (in(Operand::Pixels, i, n) / 255 - 0.45) / 0.225; }
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

double Expression::tolerance() const {
  const std::string_view of = dtype;
  return of == "float16" ? 4e-3 : of == "bfloat16" ? 3e-2 : 2e-4;  // each operation rounds in eager mode
}

const std::vector<Expression>& expressions() {
  static const std::vector<Expression> all = {
      {"chain_1", "chain", 1, 12, chain<1>},
      {"chain_2", "chain", 2, 12, chain<2>},
      {"chain_5", "chain", 5, 12, chain<5>},
      {"chain_10", "chain", 10, 12, chain<10>},
      {"chain_20", "chain", 20, 12, chain<20>},
      {"chain_40", "chain", 40, 12, chain<40>},
      {"example", "named", 3, 12, [](auto i, auto n) { return std::exp(x(i, n) + 2) * y(i, n); }},
      {"axpy", "named", 2, 12, axpy},
      {"gelu", "named", 9, 8, gelu},
      {"swish", "named", 4, 8, [](auto i, auto n) { return x(i, n) / (1 + std::exp(-x(i, n))); }},
      {"distance", "named", 6, 20,
       [](auto i, auto n) {
         return std::hypot(x(i, n) - in(Operand::Spot, i, n), y(i, n) - in(Operand::Strike, i, n));
       }},
      {"black_scholes", "named", 22, 16, black_scholes},
      {"transposed", "strided", 1, 12, transposed},
      {"every_second", "strided", 1, 16, every_second},
      {"add_row", "broadcast", 1, 8, [](auto i, auto n) { return x(i, n) + row(Operand::Row, i, n); }},
      {"outer", "broadcast", 1, 4,
       [](auto i, auto n) { return column(Operand::Column, i, n) * row(Operand::Row, i, n); }},
      {"normalise", "broadcast", 4, 8, normalise},
      {"residual", "broadcast", 6, 12, residual},
      {"axpy_half", "narrow", 2, 6, axpy, "float16"},
      {"gelu_half", "narrow", 9, 4, gelu, "float16"},
      {"residual_half", "narrow", 6, 6, residual, "float16"},
      {"transposed_half", "narrow", 1, 6, transposed, "float16"},
      {"axpy_bfloat16", "narrow", 2, 6, axpy, "bfloat16"},
      {"gelu_bfloat16", "narrow", 9, 4, gelu, "bfloat16"},
      {"residual_bfloat16", "narrow", 6, 6, residual, "bfloat16"},
      {"every_second_bfloat16", "narrow", 1, 8, every_second, "bfloat16"},
      {"image", "narrow", 3, 5, image, "uint8"},
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
    const std::size_t i = std::min(n - 1, start + start / step * 7 % step);  // not always the same lane of a vector
    const double right = e.value(i, n);
    // Sums of products that nearly cancel lose relative accuracy; poisoned elements are NaN and fail.
    if (!(std::abs(result[i] - right) <= e.tolerance() * std::max(1.0, std::abs(right))))
      return std::string(e.name) + ": element " + std::to_string(i) + " is " + std::to_string(result[i]) + ", not " +
             std::to_string(right);
  }
  return {};
}

}  // namespace bench

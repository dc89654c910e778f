// Numbers in texts. Arithmetic on numbers only follows Python, except that integers are limited to 64 bits.
#pragma once
#include <complex>
#include <cstdint>
#include <optional>

#include <sinter/jit/ops.hpp>

namespace sinter::inline v1::detail {

struct TextNumber {
  Category category = Category::Int;
  std::int64_t integer = 0;  // for a bool or an integer
  std::complex<double> value{};

  static TextNumber of(bool b) { return {Category::Bool, b, double(b)}; }
  static TextNumber of(std::int64_t i) { return {Category::Int, i, static_cast<double>(i)}; }
  static TextNumber of(double d) { return {Category::Float, 0, d}; }
  static TextNumber of(std::complex<double> z) { return {Category::Complex, 0, z}; }
  bool is_integral() const noexcept { return category <= Category::Int; }
  bool is_int() const noexcept { return category == Category::Int; }
};

/// The operator's result; nullopt if the operation must compute it. Throws Error for integers beyond 64 bits, and for
/// division by the integer 0.
std::optional<TextNumber> fold(Op op, const TextNumber& a, const TextNumber& b);
std::optional<TextNumber> fold(Op op, const TextNumber& a);

}  // namespace sinter::inline v1::detail

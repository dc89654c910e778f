#include "number.hpp"

#include <fmt/format.h>

#include <cmath>

#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::detail {
namespace {

[[noreturn]] void throw_too_large() { throw Error("this integer does not fit 64 bits: write it as a float, 1e20"); }
[[noreturn]] void throw_zero() { throw Error("ZeroDivisionError: an integer is divided by 0"); }

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  for (;; exponent >>= 1) {
    if ((exponent & 1) && __builtin_mul_overflow(result, base, &result)) throw_too_large();
    if (exponent <= 1) return result;
    if (__builtin_mul_overflow(base, base, &base)) throw_too_large();
  }
}

std::int64_t shifted(std::int64_t a, std::int64_t by) {
  if (by < 0) throw Error("ValueError: an integer is shifted by a negative number of bits");
  if (a == 0) return 0;
  std::int64_t result = 0;
  if (by > 62 || __builtin_mul_overflow(a, std::int64_t{1} << by, &result)) throw_too_large();
  return result;
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  if (b == 0) throw_zero();
  if (b == -1) {
    std::int64_t negative = 0;
    if (__builtin_sub_overflow(std::int64_t{0}, a, &negative)) throw_too_large();
    return negative;
  }
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

std::optional<TextNumber> fold_integers(Op op, std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  const auto fits = [&](bool overflows) {
    if (overflows) throw_too_large();
    return TextNumber::of(r);
  };
  switch (op) {
    case Op::add: return fits(__builtin_add_overflow(a, b, &r));
    case Op::sub: return fits(__builtin_sub_overflow(a, b, &r));
    case Op::mul: return fits(__builtin_mul_overflow(a, b, &r));
    case Op::floor_divide: return TextNumber::of(floor_quotient(a, b));
    case Op::remainder: return TextNumber::of(b == -1 ? std::int64_t{0} : a - floor_quotient(a, b) * b);
    case Op::bitwise_and: return TextNumber::of(a & b);
    case Op::bitwise_or: return TextNumber::of(a | b);
    case Op::bitwise_xor: return TextNumber::of(a ^ b);
    case Op::bitwise_left_shift: return TextNumber::of(shifted(a, b));
    case Op::bitwise_right_shift:
      if (b < 0) return TextNumber::of(shifted(a, b));
      return TextNumber::of(a >> std::min<std::int64_t>(b, 63));
    case Op::pow:
      if (b >= 0) return TextNumber::of(power(a, b));
      if (a == 0) throw_zero();
      return TextNumber::of(std::pow(static_cast<double>(a), static_cast<double>(b)));
    case Op::div:
      if (b == 0) throw_zero();
      return TextNumber::of(static_cast<double>(a) / static_cast<double>(b));
    case Op::eq: return TextNumber::of(a == b);
    case Op::ne: return TextNumber::of(a != b);
    case Op::lt: return TextNumber::of(a < b);
    case Op::le: return TextNumber::of(a <= b);
    case Op::gt: return TextNumber::of(a > b);
    case Op::ge: return TextNumber::of(a >= b);
    default: return {};
  }
}

/// Has the divisor's sign.
double remainder_of(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// Python's algorithm: floor(a / b) by itself may be one too large, since a / b may round up to an integer.
double floor_divided(double a, double b) {
  if (b == 0 || !std::isfinite(a) || !std::isfinite(b)) return std::floor(a / b);
  const double quotient = (a - remainder_of(a, b)) / b, floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

std::optional<TextNumber> fold_floats(Op op, double a, double b) {
  switch (op) {
    case Op::add: return TextNumber::of(a + b);
    case Op::sub: return TextNumber::of(a - b);
    case Op::mul: return TextNumber::of(a * b);
    case Op::div: return TextNumber::of(a / b);
    case Op::floor_divide: return TextNumber::of(floor_divided(a, b));
    case Op::remainder: return TextNumber::of(remainder_of(a, b));
    case Op::pow: return TextNumber::of(std::pow(a, b));
    case Op::eq: return TextNumber::of(a == b);
    case Op::ne: return TextNumber::of(a != b);
    case Op::lt: return TextNumber::of(a < b);
    case Op::le: return TextNumber::of(a <= b);
    case Op::gt: return TextNumber::of(a > b);
    case Op::ge: return TextNumber::of(a >= b);
    default: return {};
  }
}

std::optional<TextNumber> fold_complex(Op op, std::complex<double> a, std::complex<double> b) {
  switch (op) {
    case Op::add: return TextNumber::of(a + b);
    case Op::sub: return TextNumber::of(a - b);
    case Op::mul: return TextNumber::of(a * b);
    case Op::div: return TextNumber::of(a / b);
    case Op::pow: return TextNumber::of(std::pow(a, b));
    case Op::eq: return TextNumber::of(a == b);
    case Op::ne: return TextNumber::of(a != b);
    default: throw Error(fmt::format("{} takes no complex numbers", name(op)));
  }
}

}  // namespace

std::optional<TextNumber> fold(Op op, const TextNumber& a, const TextNumber& b) {
  const Category category = std::max(a.category, b.category);
  if (category == Category::Complex) return fold_complex(op, a.value, b.value);
  if (category == Category::Float) return fold_floats(op, a.value.real(), b.value.real());
  const bool of_bools = category == Category::Bool;
  std::optional<TextNumber> result = fold_integers(op, a.integer, b.integer);
  if (of_bools && (op == Op::bitwise_and || op == Op::bitwise_or || op == Op::bitwise_xor))
    return TextNumber::of(result->integer != 0);
  return result;
}

std::optional<TextNumber> fold(Op op, const TextNumber& a) {
  if (op == Op::positive) return a.is_integral() ? TextNumber::of(a.integer) : a;
  if (op == Op::logical_not) return TextNumber::of(a.value == 0.);
  if (op == Op::neg && a.is_integral()) return fold_integers(Op::sub, 0, a.integer);
  if (op == Op::neg) return a.category == Category::Float ? TextNumber::of(-a.value.real()) : TextNumber::of(-a.value);
  if (op == Op::bitwise_not && a.is_integral()) return TextNumber::of(~a.integer);
  return {};
}

}  // namespace sinter::inline v1::detail

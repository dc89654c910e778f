// The meaning of composite operations, element by element: from their documentation, in long double if they round.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <sinter/jit/ops.hpp>

namespace sinter::test {

using Exact = long double;

/// By recurrence to where eight terms of the asymptotic series suffice.
inline Exact precise_digamma(Exact x) {
  const Exact pi = 3.14159265358979323846264338327950288L;
  if (std::isinf(x)) return x > 0 ? x : NAN;
  if (x < 0) return x == std::trunc(x) ? NAN : precise_digamma(1 - x) - pi / std::tan(pi * (x - std::round(x)));
  Exact sum = 0;
  for (; x < 40; ++x) sum -= 1 / x;
  Exact series = 0, z = 1 / (x * x), power = z;
  for (const Exact b : {1 / 12.L, -1 / 120.L, 1 / 252.L, -1 / 240.L, 1 / 132.L, -691 / 32760.L, 1 / 12.L})
    series += b * power, power *= z;
  return sum + std::log(x) - 0.5L / x - series;
}

/// Newton's method on erfc, from the normal distribution's tail or from the tangent at 0.
inline Exact precise_erfinv(Exact y) {
  if (!(std::fabs(y) < 1)) return std::fabs(y) == 1 ? y * INFINITY : NAN;
  const Exact root = 1.12837916709551257389615890312154517L, tail = 1 - std::fabs(y);  // 2 / sqrt(pi)
  if (std::fabs(y) < 1e-10L) return y / root;
  Exact x = tail > 0.5L ? std::fabs(y) / root : std::sqrt(-std::log(tail));
  for (int i = 0; i < 60; ++i) {
    const Exact off = tail > 0.5L ? std::fabs(y) - std::erf(x) : std::erfc(x) - tail;
    const Exact step = off / (root * std::exp(-x * x));
    x += step / (1 - x * step);  // Halley's correction
  }
  return std::copysign(x, y);
}

/// The power series, all of whose terms are positive.
inline Exact precise_i0(Exact x) {
  if (std::isnan(x)) return x;
  if (std::fabs(x) > 720) return INFINITY;
  const Exact quarter = x * x / 4;
  Exact sum = 1, term = 1;
  for (int k = 1; term > sum * 1e-22L || k < 5; ++k) sum += term *= quarter / (static_cast<Exact>(k) * k);
  return sum;
}

/// log(e^a + e^b) for base e or 2.
inline Exact precise_logaddexp(Exact a, Exact b, Exact log_of_base) {
  if (std::isnan(a) || std::isnan(b)) return NAN;
  const Exact high = std::max(a, b), low = std::min(a, b);
  if (std::isinf(high)) return high;
  return high + std::log1p(std::exp((low - high) * log_of_base)) / log_of_base;
}

using Five = std::array<Exact, 5>;

/// The value of a float operation that rounds; v holds its operands.
inline Exact precise_composite(Op op, const Five& v) {
  const Exact a = v[0], b = v[1];
  switch (op) {
    case Op::float_power: return std::pow(static_cast<double>(a), static_cast<double>(b));
    case Op::asinh: return std::asinh(a);
    case Op::acosh: return std::acosh(a);
    case Op::atanh: return std::atanh(a);
    case Op::lgamma: return std::lgamma(a);
    case Op::digamma: return precise_digamma(a);
    case Op::erfinv: return precise_erfinv(a);
    case Op::i0: return precise_i0(a);
    case Op::logaddexp: return precise_logaddexp(a, b, 1);
    case Op::logaddexp2: return precise_logaddexp(a, b, std::log(2.0L));
    case Op::xlogy: return std::isnan(b) ? b : a == 0 ? 0 : a * std::log(b);
    case Op::leaky_relu: return a > 0 ? a : a * b;
    case Op::elu: return a > 0 ? a : b * std::expm1(a);
    case Op::selu: {
      const Exact scale = 1.0507009873554804934193349852946L, alpha = 1.6732632423543772848170429916717L;
      return scale * (a > 0 ? a : alpha * std::expm1(a));
    }
    case Op::mish: return a * std::tanh(std::log1p(std::exp(a)));
    case Op::softsign: return a / (1 + std::fabs(a));
    default: throw std::logic_error("no precise form: " + std::string(name(op)));
  }
}

/// Float operations that are exact, or that round where PyTorch rounds.
template <std::floating_point T>
T composite_real(Op op, const std::array<T, 5>& v) {
  const T a = v[0], b = v[1], c = v[2], d = v[3], inf = std::numeric_limits<T>::infinity();
  const auto replaced = [&](T positive, T negative) {
    return std::isnan(a) ? b : a == inf ? positive : a == -inf ? negative : a;
  };
  // -0 is less than +0.
  const auto limited = [](T x, T low, T high) {
    if (std::isnan(x) || std::isnan(low) || std::isnan(high)) return std::numeric_limits<T>::quiet_NaN();
    const T raised = x < low || (x == low && std::signbit(x)) ? low : x;
    return raised > high || (raised == high && std::signbit(high)) ? high : raised;
  };
  const T most = std::numeric_limits<T>::max();
  switch (op) {
    case Op::positive:
    case Op::stop_gradient:
    case Op::conj: return a;
    case Op::sgn: return a > 0 ? 1 : a < 0 ? -1 : 0;
    case Op::angle: return a < 0 ? static_cast<T>(M_PI) : a == a ? T(0) : a;
    case Op::trunc_divide: return std::trunc(a / b);
    case Op::addcmul: return std::fma(d * b, c, a);
    case Op::addcdiv: return a + d * b / c;
    case Op::heaviside: return a == 0 ? b : a > 0 ? T(1) : T(0);
    case Op::deg2rad: return a * static_cast<T>(M_PI / 180);
    case Op::rad2deg: return a * static_cast<T>(180 / M_PI);
    case Op::ldexp: return a * std::exp2(b);
    case Op::sinc: {
      const T x = static_cast<T>(M_PI) * a;
      return a == 0 ? T(1) : static_cast<T>(std::sin(static_cast<double>(x))) / x;
    }
    case Op::logit: {
      const T high = 1 - b, x = b < 0 ? a : a < b ? b : a > high ? high : a;
      return static_cast<T>(std::log(static_cast<Exact>(x / (1 - x))));
    }
    case Op::softplus: {  // e^x may overflow or vanish
      const T x = a * b, power = static_cast<T>(std::exp(static_cast<Exact>(x)));
      if (x > c) return a;
      return std::isinf(power) || power == 0 ? power / b
                                             : static_cast<T>(std::log1p(std::exp(static_cast<Exact>(x))) / b);
    }
    case Op::logsigmoid: {  // e^-|a| may vanish
      const T power = static_cast<T>(std::exp(-static_cast<Exact>(std::abs(a))));
      return std::min(a, T(0)) - static_cast<T>(std::log1p(static_cast<Exact>(power)));
    }
    case Op::celu: {  // e^(a/b) may overflow where b is small
      const Exact power = std::expm1(static_cast<Exact>(a / b));
      return a > 0 ? a : std::isinf(static_cast<T>(power)) ? b * static_cast<T>(power) : static_cast<T>(b * power);
    }
    case Op::hardsigmoid: return limited(a + 3, 0, 6) / 6;
    case Op::hardswish: return a * limited(a + 3, 0, 6) / 6;
    case Op::relu6: return limited(a, 0, 6);
    case Op::hardtanh: return limited(a, b, c);
    case Op::threshold: return a <= b ? c : a;
    case Op::hardshrink: return std::abs(a) <= b ? T(0) : a;
    case Op::frac: return a - std::trunc(a);
    case Op::norm_sqrt: return std::sqrt(a);
    case Op::norm_term: return static_cast<T>(std::pow(static_cast<double>(a), static_cast<double>(b)));
    case Op::norm_root: return static_cast<T>(std::pow(static_cast<double>(a), static_cast<double>(1 / b)));
    case Op::cross_entropy_term: {
      const auto limited_below = [](Exact x) { return x < -100 ? T(-100) : static_cast<T>(x); };
      const T of_a = limited_below(std::log(static_cast<Exact>(a)));
      return (b - 1) * limited_below(std::log1p(-static_cast<Exact>(a))) - b * of_a;
    }
    case Op::nextafter: return std::nextafter(a, b);
    case Op::nan_to_num: return replaced(most, -most);
    case Op::nan_to_num_posinf: return replaced(c, -most);
    case Op::nan_to_num_infinities: return replaced(c, d);
    default: break;
  }
  Five wide;
  std::ranges::copy(v, wide.begin());
  return static_cast<T>(precise_composite(op, wide));
}

template <class T>
constexpr bool is_minus_one(T x) {
  return std::is_signed_v<T> && x == static_cast<T>(-1);
}

template <class T, class U = std::common_type_t<std::make_unsigned_t<T>, unsigned>>  // no product of it overflows
T composite_whole(Op op, const std::array<T, 5>& v) {
  const T a = v[0], b = v[1], c = v[2];
  const auto magnitude = [](T x) { return x < 0 ? static_cast<U>(0 - static_cast<U>(x)) : static_cast<U>(x); };
  const U divisor = std::gcd(magnitude(a), magnitude(b));
  const bool in_range = b >= 0 && b < static_cast<T>(8 * sizeof(T));
  switch (op) {
    case Op::positive:
    case Op::stop_gradient:
    case Op::conj: return a;
    case Op::sgn: return a > 0 ? T(1) : a < 0 ? static_cast<T>(-1) : T(0);
    case Op::trunc_divide: return b == 0 ? T(0) : is_minus_one(b) ? static_cast<T>(0 - static_cast<U>(a)) : a / b;
    case Op::addcmul:
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(v[3]) * static_cast<U>(b) * static_cast<U>(c));
    case Op::heaviside: return a == 0 ? b : a > 0 ? T(1) : T(0);
    case Op::gcd: return static_cast<T>(divisor);
    case Op::lcm: {
      if (divisor == 0) return 0;
      using Wider = decltype(a * b);  // C++ multiplies 8 and 16 bits as int
      using WiderU = std::make_unsigned_t<Wider>;
      const auto product =
          static_cast<Wider>(static_cast<WiderU>(a / static_cast<Wider>(divisor)) * static_cast<WiderU>(b));
      return static_cast<T>(product < 0 ? 0 - static_cast<WiderU>(product) : static_cast<WiderU>(product));
    }
    case Op::relu6: return std::clamp<T>(a, 0, 6);
    case Op::hardtanh: return std::min(std::max(a, b), c);
    case Op::threshold: return a <= b ? c : a;
    case Op::nan_to_num:
    case Op::nan_to_num_posinf:
    case Op::nan_to_num_infinities: return a;
    case Op::bitwise_left_shift: return in_range ? static_cast<T>(static_cast<U>(a) << b) : T(0);
    case Op::bitwise_right_shift: return in_range ? static_cast<T>(a >> b) : a < 0 ? T(-1) : T(0);
    default: throw std::logic_error("not an operation on integers: " + std::string(name(op)));
  }
}

/// isclose and the tests for one kind of number.
template <class T>
bool composite_compare(Op op, const std::array<T, 5>& v) {
  const T a = v[0], b = v[1];
  if constexpr (std::is_floating_point_v<T>) {
    switch (op) {
      case Op::isposinf: return std::isinf(a) && a > 0;
      case Op::isneginf: return std::isinf(a) && a < 0;
      case Op::signbit: return std::signbit(a);
      case Op::isclose:
        if (std::isnan(a) || std::isnan(b)) return v[4] != 0 && std::isnan(a) && std::isnan(b);
        return a == b || (std::isfinite(a - b) && std::fabs(a - b) <= v[3] + std::fabs(v[2] * b));
      default: break;
    }
  }
  return op == Op::signbit && a < T(0);
}

}  // namespace sinter::test

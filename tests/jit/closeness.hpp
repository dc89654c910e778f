// How close executors' results must be to the reference's.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "reference.hpp"

namespace sinter::test {

/// Units in the last place between two floats of the same sign.
template <std::floating_point T>
double distance_in_ulp(T a, T b) noexcept {
  const auto ordered = [](T v) {
    using I = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    const I i = std::bit_cast<I>(v);
    return static_cast<long double>(i < 0 ? std::numeric_limits<I>::min() - i : i);  // holds all 64 bits
  };
  return static_cast<double>(std::fabs(ordered(a) - ordered(b)));
}

/// The allowed error of an executor's result, in units in the last place of the reference's.
inline double allowed_ulp(Op op) noexcept {
  switch (op) {
    case Op::sqrt:
    case Op::rsqrt:
    case Op::reciprocal:
    case Op::lerp:
    case Op::deg2rad:
    case Op::rad2deg:
    case Op::frac:
    case Op::nextafter:
    case Op::threshold:
    case Op::hardsigmoid:
    case Op::hardswish: return 0;
    case Op::gelu:
    case Op::gelu_tanh: return 16;
    case Op::random_normal:
    case Op::random_normal_double: return 64;
    case Op::sigmoid:
    case Op::silu:
    case Op::softplus: return 8;
    default: break;
  }
  const DTypeRule rule = info(op).rule;
  const bool rounds = rule == DTypeRule::Float || rule == DTypeRule::FloatOnly || rule == DTypeRule::Float64;
  return rounds || op == Op::pow ? 8 : 0;
}

/// The largest summand of an operation whose sums may cancel.
template <class T>
double cancelled(Op op, const std::vector<Bits>& operands) {
  const auto x = [&](std::size_t i) { return std::fabs(static_cast<double>(as<T>(operands[i]))); };
  switch (op) {
    case Op::addcmul: return std::max(x(0), x(1) * x(2) * x(3));
    case Op::addcdiv: return std::max(x(0), x(1) / x(2) * x(3));
    case Op::cross_entropy_term: {
      const double a = as<T>(operands[0]), b = as<T>(operands[1]);
      const auto size = [](double logarithm) { return std::min(std::fabs(logarithm), 100.); };
      return std::max(std::fabs(b - 1) * size(std::log1p(-a)), std::fabs(b) * size(std::log(a)));
    }
    case Op::logaddexp:
    case Op::logaddexp2: return std::max(x(0), x(1));
    case Op::logit:
    case Op::lgamma: return 1;
    case Op::softplus: {  // e^x is a denormal with few digits
      const double unit = static_cast<double>(std::numeric_limits<T>::denorm_min()), b = x(1);
      const bool tiny = std::exp(static_cast<double>(as<T>(operands[0]) * as<T>(operands[1]))) <
                        static_cast<double>(std::numeric_limits<T>::min());
      return tiny ? unit / static_cast<double>(std::numeric_limits<T>::epsilon()) / b : 0;
    }
    case Op::sinc: return 1 / std::max(1., x(0));
    case Op::digamma: {  // near its poles and the roots between them
      const double value = x(0), gap = std::fabs(value - std::round(value));
      return as<T>(operands[0]) < 0 ? 1 / gap : 1;
    }
    default: return 0;
  }
}

/// Whether a result is as good as the reference's: equal bits if an operation is exact, else within its bound. Sums
/// that cancel are judged by the size of their summands.
inline bool close(Op op, DType result, const std::vector<Bits>& operands, DType compute, Bits expected, Bits got) {
  if (expected == got) return true;
  if (category(result) != Category::Float) return false;
  return sinter::test::visit_real(result, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_floating_point_v<T>) {
      const T e = as<T>(expected), g = as<T>(got);
      if (std::isnan(e) || std::isnan(g)) return std::isnan(e) && std::isnan(g);
      double scale = 0;
      if ((op == Op::gelu || op == Op::gelu_tanh) && category(compute) == Category::Float)
        scale = std::fabs(static_cast<double>(as<T>(operands[0])));
      if (category(compute) == Category::Float)
        if (const double terms = cancelled<T>(op, operands); terms > 0)
          scale = std::max(terms, std::fabs(static_cast<double>(e)));
      const double tiny = static_cast<double>(std::numeric_limits<T>::epsilon());
      if (std::isfinite(scale) && std::fabs(static_cast<double>(e) - static_cast<double>(g)) <= 4 * tiny * scale)
        return true;
      // exp(-a) overflows before its reciprocal underflows.
      if ((op == Op::sigmoid || op == Op::silu) && std::fabs(e) < std::numeric_limits<T>::min() * 512 &&
          std::fabs(g) <= std::fabs(e))
        return true;
      if (op == Op::random_normal || op == Op::random_normal_double)
        return std::fabs(static_cast<double>(e) - static_cast<double>(g)) <= 16 * tiny;
      // e^a is a denormal there, with few digits.
      if (op == Op::mish && std::fabs(e) < std::numeric_limits<T>::min() * 512)
        return std::fabs(e - g) <= 1024 * std::numeric_limits<T>::denorm_min();
      return allowed_ulp(op) > 0 && distance_in_ulp(e, g) <= allowed_ulp(op);
    } else if constexpr (is_16_bit_float<T>) {
      const float e = as<T>(expected), g = as<T>(got), size = std::fabs(e);
      if (std::isnan(e) || std::isnan(g)) return std::isnan(e) && std::isnan(g);
      if ((op == Op::gelu || op == Op::gelu_tanh) &&
          std::fabs(e - g) <= 0x1p-21f * std::fabs(widen_float<T>(operands[0])))
        return true;
      if ((op == Op::sigmoid || op == Op::silu) && size < 0x1p-117f && std::fabs(g) <= size) return true;
      // An error of a few float units may change the rounding.
      return allowed_ulp(op) > 0 && (expected > got ? expected - got : got - expected) <= 1;
    } else {
      return false;
    }
  });
}

}  // namespace sinter::test

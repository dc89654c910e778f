// The meaning of operations that round, in a wider float R: from their documentation, and in forms that lose no
// precision if R is wider than the dtype under test.
#pragma once
#include <array>
#include <string_view>
#include <type_traits>

#include <sinter/jit/ops.hpp>
#include "wide.hpp"

namespace sinter::accuracy {

/// By recurrence to where the asymptotic series is accurate to 1e-35; reflected for x < 0.
template <class R>
R digamma(R x) {
  constexpr double far = std::is_same_v<R, Quad> ? 30 : 16;
  if (is_nan(x) || is_infinite(x)) return x > 0 ? x : nan<R>;
  if (x == 0) return -copysign(infinity<R>, x);
  if (x < 0) {
    const R fraction = x - rint(x);
    return fraction == 0 ? nan<R> : digamma(1 - x) - pi<R> / tan(pi<R> * fraction);
  }
  R sum = 0;
  for (; x < R(far); x += 1) sum -= 1 / x;
  static const R numbers[] = {R(1) / 6,       R(-1) / 30,       R(1) / 42,       R(-1) / 30,
                              R(5) / 66,      R(-691) / 2730,   R(7) / 6,        R(-3617) / 510,
                              R(43867) / 798, R(-174611) / 330, R(854513) / 138, R(-236364091) / 2730};  // Bernoulli's
  const R z = 1 / (x * x);
  R series = 0, power = z;
  int k = 2;
  for (const R b : numbers) series += b / k * power, power *= z, k += 2;
  return sum + log(x) - 1 / (2 * x) - series;
}

/// Halley's method on erf, or on erfc if its argument is far from 0.
template <class R>
R erfinv(R y) {
  const R size = fabs(y), tail = 1 - size, slope = 2 / sqrt(pi<R>);
  if (!(size < 1)) return size == 1 ? y * infinity<R> : nan<R>;
  if (size < R(1e-10)) return y / slope;
  const bool near = tail > R(0.5);
  R x = near ? size / slope : sqrt(-log(tail));
  for (int i = 0; i < 40; ++i) {
    const R off = near ? size - erf(x) : erfc(x) - tail;
    const R step = off / (slope * exp(-x * x)), last = x;
    x += step / (1 - x * step);
    if (fabs(x - last) <= x * R(1e-15)) break;  // the next step would be of the order of this to the third power
  }
  return copysign(x, y);
}

/// The power series, whose terms are positive.
template <class R>
R bessel_i0(R x) {
  if (is_nan(x)) return x;
  if (fabs(x) > 740) return infinity<R>;
  const R quarter = x * x / 4;
  R sum = 1, term = 1;
  for (int k = 1; k < 5 || term > sum * R(1e-25); ++k) sum += term *= quarter / (R(k) * R(k));
  return sum;
}

/// log(base^a + base^b).
template <class R>
R logaddexp(R a, R b, R log_of_base) {
  if (is_nan(a) || is_nan(b)) return nan<R>;
  const R high = a > b ? a : b, low = a > b ? b : a;
  return is_infinite(high) ? high : high + log1p(exp((low - high) * log_of_base)) / log_of_base;
}

/// sin(pi x) / (pi x).
template <class R>
R sinc(R x) {
  if (x == 0) return 1;
  return is_infinite(x) ? nan<R> : sin(pi<R> * fmod(x, R(2))) / (pi<R> * x);
}

/// tanh(log(1 + e^x)) is n / (n + 2), n = e^x (e^x + 2).
template <class R>
R mish(R x) {
  if (x > 200) return x;
  const R e = exp(x), n = e * (e + 2);
  return x * n / (n + 2);
}

/// 0.5 x (1 + tanh(u)) is x / (1 + e^(-2u)).
template <class R>
R gelu_tanh(R x) {
  const R u = sqrt(2 / pi<R>) * (x + R(0.044715L) * x * x * x);
  return x / (1 + exp(-2 * u));
}

template <class R>
R clamped(R x, R low, R high) {
  return is_nan(x) ? x : x < low ? low : x > high ? high : x;
}

template <class R>
using Operands = std::array<R, 5>;

/// Sets `result` to the operation's value; false if the operation is exact, or defined by its steps.
template <class R>
bool exact(Op op, const Operands<R>& v, R& result) {
  const R a = v[0], b = v[1], c = v[2], d = v[3], half = R(0.5);
  const auto is = [&result](R value) {
    result = value;
    return true;
  };
  switch (op) {
    case Op::pow:
    case Op::float_power: return is(pow(a, b));
    case Op::addcmul: return is(a + d * b * c);
    case Op::addcdiv: return is(a + d * b / c);
    case Op::lerp: return is(c == 1 ? b : a + c * (b - a));
    case Op::deg2rad: return is(a * (pi<R> / 180));
    case Op::rad2deg: return is(a * (180 / pi<R>));
    case Op::rsqrt: return is(1 / sqrt(a));
    case Op::exp: return is(exp(a));
    case Op::exp2: return is(exp2(a));
    case Op::expm1: return is(expm1(a));
    case Op::log: return is(log(a));
    case Op::log2: return is(log2(a));
    case Op::log10: return is(log10(a));
    case Op::log1p: return is(log1p(a));
    case Op::logaddexp: return is(logaddexp(a, b, R(1)));
    case Op::logaddexp2: return is(logaddexp(a, b, log(R(2))));
    case Op::xlogy: return is(is_nan(b) ? b : a == 0 ? R(0) : a * log(b));
    case Op::logit: return is(log(a / (1 - a)));
    case Op::ldexp: return is(a * exp2(b));
    case Op::sin: return is(sin(a));
    case Op::cos: return is(cos(a));
    case Op::tan: return is(tan(a));
    case Op::asin: return is(asin(a));
    case Op::acos: return is(acos(a));
    case Op::atan: return is(atan(a));
    case Op::atan2: return is(atan2(a, b));
    case Op::sinh: return is(sinh(a));
    case Op::cosh: return is(cosh(a));
    case Op::tanh: return is(tanh(a));
    case Op::asinh: return is(asinh(a));
    case Op::acosh: return is(acosh(a));
    case Op::atanh: return is(atanh(a));
    case Op::hypot: return is(hypot(a, b));
    case Op::sinc: return is(sinc(a));
    case Op::lgamma: return is(lgamma(a));
    case Op::digamma: return is(digamma(a));
    case Op::erfinv: return is(erfinv(a));
    case Op::i0: return is(bessel_i0(a));
    case Op::erf: return is(erf(a));
    case Op::erfc: return is(erfc(a));
    case Op::sigmoid: return is(1 / (1 + exp(-a)));
    case Op::silu: return is(a / (1 + exp(-a)));
    case Op::gelu: return is(half * a * erfc(-a * sqrt(half)));
    case Op::gelu_tanh: return is(gelu_tanh(a));
    case Op::softplus: return is(a * b > c ? a : log1p(exp(a * b)) / b);
    case Op::logsigmoid: return is((a < 0 ? a : R(0)) - log1p(exp(-fabs(a))));
    case Op::leaky_relu: return is(a > 0 ? a : a * b);
    case Op::elu: return is(a <= 0 ? b * expm1(a) : a);
    case Op::celu: return is(a <= 0 ? b * expm1(a / b) : a);
    case Op::selu: {
      const R scale = R(1.0507009873554804934193349852946L), alpha = R(1.6732632423543772848170429916717L);
      return is(scale * (a <= 0 ? alpha * expm1(a) : a));
    }
    case Op::mish: return is(mish(a));
    case Op::softsign: return is(is_infinite(a) ? nan<R> : a / (1 + fabs(a)));
    case Op::hardsigmoid: return is(clamped<R>(a + 3, 0, 6) / 6);
    case Op::hardswish: return is(a * clamped<R>(a + 3, 0, 6) / 6);
    default: return false;
  }
}

/// The quantity whose last place is the unit of errors, if it is not the result itself.
constexpr std::string_view measured_in(Op op) noexcept {
  switch (op) {
    case Op::addcmul:
    case Op::addcdiv:
    case Op::lerp: return "the largest term";
    case Op::logaddexp:
    case Op::logaddexp2: return "the result, at least 1 and the larger operand";
    case Op::digamma: return "the result; where a < 0, the larger of pi cot(pi a) and 1 + log(1 - a)";
    case Op::lgamma: return "the result; where a < 0, at least 1";
    case Op::logit: return "the result, at least 1";
    case Op::sinc: return "1";
    case Op::gelu:
    case Op::gelu_tanh: return "a";
    case Op::mish: return "the result, at least a times the smallest normal number";
    case Op::logsigmoid: return "the result, at least the smallest normal number";
    default: return {};
  }
}

/// The largest of the summands of the result; 0 if the result itself counts. `least` is the smallest normal number.
template <class R>
R scale(Op op, const Operands<R>& v, R least) {
  const R a = fabs(v[0]), b = fabs(v[1]), c = fabs(v[2]), d = fabs(v[3]);
  switch (op) {
    case Op::addcmul: return fmax(a, b * c * d);
    case Op::addcdiv: return fmax(a, b / c * d);
    case Op::lerp: return fmax(fmax(a, b), fmax(c * a, c * b));
    case Op::logaddexp:
    case Op::logaddexp2: return fmax(fmax(a, b), R(1));
    case Op::digamma: return v[0] < 0 ? fmax(1 + log(1 + a), pi<R> / fabs(tan(pi<R> * (v[0] - rint(v[0]))))) : R(0);
    case Op::lgamma: return v[0] < 0 ? R(1) : R(0);
    case Op::logit:
    case Op::sinc: return 1;
    case Op::gelu:
    case Op::gelu_tanh: return a;
    case Op::mish: return a * least;  // e^a is a denormal with few digits
    case Op::logsigmoid: return least;
    default: return 0;
  }
}

/// Whether the operation makes a promise for these operands. Formulas taken from PyTorch make none where one of their
/// parts overflows; `most` is the largest number of the compute dtype.
template <class R>
bool in_domain(Op op, const Operands<R>& v, R most) {
  const auto moderate = [](R x) { return x == 0 || (fabs(x) > R(0x1p-30) && fabs(x) < R(0x1p30)); };
  const auto not_huge = [&](R x) { return !(fabs(x) > most / 16) || is_infinite(x); };
  switch (op) {
    case Op::lerp: return moderate(v[0]) && moderate(v[1]) && moderate(v[2]);
    case Op::addcmul:
    case Op::addcdiv: {
      bool all = true;
      for (const R x : v) all = all && (moderate(x) || !(fabs(x) <= most));
      return all;
    }
    case Op::ldexp: return !(fabs(v[1]) > log2(most) - 3) || is_infinite(v[1]);
    case Op::hardswish:
    case Op::sinc: return not_huge(v[0]);
    default: return true;
  }
}

/// Whether intermediate values may become 0: e^-a overflows before its reciprocal underflows.
constexpr bool loses_smallest(Op op) noexcept { return op == Op::sigmoid || op == Op::silu; }

}  // namespace sinter::accuracy

// Approximations that are faster than a library's: at most 2 ulp, exact at special values. The polynomials of 2^f, e^r
// and log are those of the Cephes library (S. Moshier), erf's those of N. Juffa.
#pragma once
#include "vector_basic.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

using Floats = Vec<float>;
using Ints = Vec<std::int32_t>;

SINTER_INLINE Floats as_floats(Ints a) { return {(Native<float>)a.v}; }
SINTER_INLINE Ints as_ints(Floats a) { return {(Native<std::int32_t>)a.v}; }

/// Horner's scheme, the highest coefficient first.
template <Floating T, class... C>
SINTER_INLINE Vec<T> polynomial(Vec<T> x, T highest, C... rest) {
  Vec<T> p(highest);
  ((p = mad(p, x, Vec<T>(rest))), ...);
  return p;
}

/// y * 2^n. Overflow and denormals are right for |n| <= 252.
SINTER_INLINE Floats scaled(Floats y, Floats n) {
#if defined(__AVX512F__)
  return {native_scale(y.v, n.v)};
#else
  // Two factors, since 2^n alone may be out of range; only the second product can be a denormal.
  const NativeMask<float> exponent = __builtin_convertvector(n.v, NativeMask<float>), half = exponent >> 1;
  return y * Floats((Native<float>)((half << 23) + 0x3f800000)) *
         Floats((Native<float>)(((exponent - half) << 23) + 0x3f800000));
#endif
}

/// e^x = 2^n 2^f, |f| <= 1/2.
SINTER_INLINE Floats exp(Floats x) {
  // native_min and native_max keep NaN in this order of operands.
  const Floats limited = native_max(Floats(-104.f), native_min(Floats(89.f), x));
  const Floats n = round(limited * Floats(1.44269504f));
#if SINTER_HAS_FMA
  const Floats f = fma(limited, Floats(1.92596303e-8f), fma(limited, Floats(1.44269502f), -n));
#else
  const Floats f = ((limited - n * Floats(0.693359375f)) + n * Floats(2.12194440e-4f)) * Floats(1.44269504f);
#endif
  const Floats p = polynomial(f, 1.535336188319500e-4f, 1.339887440266574e-3f, 9.618437357674640e-3f,
                              5.550332471162809e-2f, 2.402264791363012e-1f, 6.931472028550421e-1f);
  return scaled(mad(p, f, Floats(1.f)), n);
}

/// e^x = 2^n e^r, |r| <= log(2) / 2. (SLEEF's is infinite within 2^-34 of the largest results.)
SINTER_INLINE Vec<double> exp(Vec<double> x) {
  using Doubles = Vec<double>;
  const Doubles limited = native_max(Doubles(-746), native_min(Doubles(710), x));
  // Adding 1.5 * 2^52 rounds to an integer, and the lowest bits then hold n + 2 * 1023.
  const Doubles magic(0x1.8p52 + 2046);
  const Doubles shifted = mad(limited, Doubles(1.4426950408889634), magic), n = shifted - magic;
  const Doubles r = mad(n, Doubles(-2.8235290563031577e-13), mad(n, Doubles(-0x1.62e42fefa3p-1), limited));
  const Doubles p = polynomial(r, 2.51125147400622e-08, 2.763157271097388e-07, 2.755723335804189e-06,
                               2.480148905580456e-05, 1.9841269898062216e-04, 1.38888889479632e-03,
                               8.33333333331626e-03, 4.1666666666511275e-02, 1.6666666666666685e-01,
                               5.000000000000013e-01);  // least squares, 2^-57
  const Doubles y = mad(p, r * r, r) + Doubles(1);
#if defined(__AVX512F__)
  return {native_scale(y.v, n.v)};
#else
  // Two factors as in scaled, of halves of n + 2 * 1023.
  const auto exponent = (Native<std::uint64_t>)shifted.v, half = exponent >> 1;
  return y * Doubles((Native<double>)(half << 52)) * Doubles((Native<double>)((exponent - half) << 52));
#endif
}

/// log(2^e m) = e log(2) + log(m), sqrt(0.5) <= m < sqrt(2).
SINTER_INLINE Floats log(Floats x) {
  const Mask<float> denormal = x < Floats(0x1p-126f);
  const Native<float> scaled = select(denormal, x * Floats(0x1p23f), x).v;
  const NativeMask<float> shifted = (NativeMask<float>)scaled - 0x3f3504f3;
  const Floats m = Floats((Native<float>)((shifted & 0x007fffff) + 0x3f3504f3)) - Floats(1.f);
  const Floats e =
      Floats(__builtin_convertvector(shifted >> 23, Native<float>)) - select(denormal, Floats(23.f), Floats(0.f));
  const Floats z = m * m;
  const Floats p =
      polynomial(m, 7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f, 1.4249322787e-1f,
                 -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f);
  const Floats low = mad(z, Floats(-0.5f), mad(e, Floats(-2.12194440e-4f), p * m * z));
  Floats r = mad(e, Floats(0.693359375f), m + low);
  r = select(x == Floats(infinity<float>), x, r);
  r = select(x == Floats(0.f), Floats(-infinity<float>), r);
  return select(!(x >= Floats(0.f)), Floats(__builtin_nanf("")), r);
}

/// The multiple of log(2) next to x, n log(2). The lowest bits of `shifted` hold n: adding 1.5 * 2^23 rounds to an
/// integer.
struct Multiple {
  Floats shifted, n;
};
SINTER_INLINE Multiple multiple_of_log2(Floats x) {
  const Floats shifted = mad(x, Floats(1.44269504f), Floats(0x1.8p23f));
  return {shifted, shifted - Floats(0x1.8p23f)};
}
/// The reduced argument, x - n log(2).
SINTER_INLINE Floats reduced(Floats x, Floats n) {
  return mad(n, Floats(2.12194440e-4f), mad(n, Floats(-0.693359375f), x));
}

/// t / (t + 2) for t = e^2|x| - 1 = 2^n (e^r - 1) + (2^n - 1), with the sign of x.
SINTER_INLINE Floats tanh(Floats x) {
  const Floats a = abs(x), y = native_min(Floats(20.f), a + a);
  const auto [shifted, n] = multiple_of_log2(y);
#if SINTER_HAS_FMA
  const Floats r = fma(n, Floats(-0.6931471825f), y);  // log(2) to 2^-28 of itself
#else
  const Floats r = reduced(y, n);
#endif
  const Floats p = polynomial(r, 1.3882521518e-3f, 8.3665205768e-3f, 4.1667199859e-2f, 1.6666543621e-1f,
                              4.9999998154e-1f);  // minimax, 2^-26
  const Floats power((Native<float>)(((NativeMask<float>)shifted.v << 23) + 0x3f800000));
  const Floats t = mad(power, mad(p, r * r, r), power - Floats(1.f));
  // Compensates the rounding error of t + 2 in the quotient.
  const Floats d = t + Floats(2.f), lost = t - (d - Floats(2.f)), inverse = {reciprocal_estimate(d.v)};
#if defined(__AVX512F__)
  const Floats q = t * inverse;  // to 14 bits; the next line refines it, in half the time of a division
  const Floats result = mad(nmad(q, lost, nmad(q, d, t)), inverse, q);
#else
  const Floats q = t / d, result = nmad(q, lost * inverse, q);
#endif
  return {(Native<float>)((NativeMask<float>)result.v | ((NativeMask<float>)x.v & sign_bit<float>))};
}

/// (1 + e^-x) / 2, infinite if e^-x is; e^-x = 2^n (1 - q), q = 1 - e^-r. Rounded once except for q.
SINTER_INLINE Floats half_of_one_plus_exp_minus(Floats x) {
  // For -89.5 the power of two is infinite and q is negative.
  const Floats limited = native_min(Floats(80.f), select(x < Floats(-88.72284f), Floats(-89.5f), x));
  const auto [shifted, n] = multiple_of_log2(limited);
  const Floats r = reduced(limited, n);
  const Floats p = polynomial(r, -1.3882521518e-3f, 8.3665205768e-3f, -4.1667199859e-2f, 1.6666543621e-1f,
                              -4.9999998154e-1f);  // tanh's, of -r
  const Floats q = mad(p, r * r, r), half(0.5f);
  // The sign bit and the exponent of 1/2, less n.
  const Floats minus_power((Native<float>)(std::int32_t(0xbf000000u) - ((NativeMask<float>)shifted.v << 23)));
  const Floats power = -minus_power;
  return native_max(half, power) + mad(minus_power, q, native_min(half, power));
}
/// 1 / (1 + e^-x) and x / (1 + e^-x); zeros if e^-x is infinite.
SINTER_INLINE Floats sigmoid(Floats x) { return Floats(0.5f) / half_of_one_plus_exp_minus(x); }
SINTER_INLINE Floats silu(Floats x) { return Floats(0.5f) * x / half_of_one_plus_exp_minus(x); }
SINTER_INLINE Vec<double> sigmoid(Vec<double> x) { return Vec<double>(1) / (Vec<double>(1) + exp(-x)); }
SINTER_INLINE Vec<double> silu(Vec<double> x) { return x / (Vec<double>(1) + exp(-x)); }

SINTER_INLINE Floats erf(Floats x) {
  const Floats a = abs(x), z = x * x;
  const Floats high = polynomial(a, -1.72853470e-5f, 3.83197126e-4f);
  Floats r = mad(high, z, polynomial(a, -3.88396438e-3f, 2.42546219e-2f));
  r = mad(r, a, Floats(-1.06777877e-1f));
  r = mad(r, a, Floats(-6.34846687e-1f));
  r = mad(r, a, Floats(-1.28717512e-1f));
  const Floats far = Floats(1.f) - exp(mad(r, a, -a));
  const Floats near =
      polynomial(z, -5.96761703e-4f, 4.99119423e-3f, -2.67681349e-2f, 1.12819925e-1f, -3.76125336e-1f, 1.28379166e-1f);
  return select(a > Floats(0.927734375f), copysign(far, x), mad(near, x, x));
}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

// Floats: operations that are exact or correctly rounded.
#pragma once
#include <concepts>

#include "vector.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

template <class T>
concept Floating = std::same_as<T, float> || std::same_as<T, double>;

// This instruction set's intrinsics for float and double. The maskz forms of AVX-512 avoid g++ 12's warnings about
// uninitialized values.
#if defined(__AVX512F__)
#define SINTER_NATIVE1(name, op, ...)                                        \
  SINTER_INLINE Vec<float> name(Vec<float> a) {                              \
    return {(Native<float>)_mm512_maskz_##op##_ps(0xFFFF, a.v __VA_ARGS__)}; \
  }                                                                          \
  SINTER_INLINE Vec<double> name(Vec<double> a) {                            \
    return {(Native<double>)_mm512_maskz_##op##_pd(0xFF, a.v __VA_ARGS__)};  \
  }
#define SINTER_NATIVE2(name, op)                                      \
  SINTER_INLINE Vec<float> name(Vec<float> a, Vec<float> b) {         \
    return {(Native<float>)_mm512_maskz_##op##_ps(0xFFFF, a.v, b.v)}; \
  }                                                                   \
  SINTER_INLINE Vec<double> name(Vec<double> a, Vec<double> b) {      \
    return {(Native<double>)_mm512_maskz_##op##_pd(0xFF, a.v, b.v)};  \
  }
#define SINTER_ROUND roundscale
#else
#if defined(__AVX2__)
#define SINTER_PREFIX(op) _mm256_##op
#else
#define SINTER_PREFIX(op) _mm_##op
#endif
#define SINTER_NATIVE1(name, op, ...)                                                                              \
  SINTER_INLINE Vec<float> name(Vec<float> a) { return {(Native<float>)SINTER_PREFIX(op##_ps)(a.v __VA_ARGS__)}; } \
  SINTER_INLINE Vec<double> name(Vec<double> a) { return {(Native<double>)SINTER_PREFIX(op##_pd)(a.v __VA_ARGS__)}; }
#define SINTER_NATIVE2(name, op)                                 \
  SINTER_INLINE Vec<float> name(Vec<float> a, Vec<float> b) {    \
    return {(Native<float>)SINTER_PREFIX(op##_ps)(a.v, b.v)};    \
  }                                                              \
  SINTER_INLINE Vec<double> name(Vec<double> a, Vec<double> b) { \
    return {(Native<double>)SINTER_PREFIX(op##_pd)(a.v, b.v)};   \
  }
#define SINTER_ROUND round
#endif
#define SINTER_EXPAND1(name, op, ...) SINTER_NATIVE1(name, op, __VA_ARGS__)
SINTER_NATIVE1(sqrt, sqrt, )
SINTER_EXPAND1(round, SINTER_ROUND, , 8)
SINTER_EXPAND1(floor, SINTER_ROUND, , 9)
SINTER_EXPAND1(ceil, SINTER_ROUND, , 10)
SINTER_EXPAND1(trunc, SINTER_ROUND, , 11)
// These return the second operand if the operands are equal or one is NaN.
SINTER_NATIVE2(native_max, max)
SINTER_NATIVE2(native_min, min)
#undef SINTER_NATIVE1
#undef SINTER_NATIVE2
#undef SINTER_EXPAND1
#undef SINTER_ROUND
#undef SINTER_PREFIX

template <Floating T>
inline constexpr T infinity = static_cast<T>(__builtin_inf());
template <Floating T>
inline constexpr Bits<T> sign_bit = static_cast<Bits<T>>(std::make_unsigned_t<Bits<T>>{1} << (sizeof(T) * 8 - 1));

template <Floating T>
SINTER_INLINE Vec<T> abs(Vec<T> a) {
  return {(Native<T>)((NativeMask<T>)a.v & ~sign_bit<T>)};
}
template <Floating T>
SINTER_INLINE Vec<T> copysign(Vec<T> a, Vec<T> b) {
  return {(Native<T>)(((NativeMask<T>)a.v & ~sign_bit<T>) | ((NativeMask<T>)b.v & sign_bit<T>))};
}
template <Floating T>
SINTER_INLINE Mask<T> isinf(Vec<T> a) {
  return abs(a) == Vec<T>(infinity<T>);
}
template <Floating T>
SINTER_INLINE Mask<T> isfinite(Vec<T> a) {
  return abs(a) < Vec<T>(infinity<T>);
}

/// A number's bits, as an integer, increase with its magnitude.
template <Floating T>
SINTER_INLINE Vec<T> nextafter(Vec<T> a, Vec<T> b) {
  const NativeMask<T> bits = (NativeMask<T>)a.v, towards_zero = ~((a < b).v ^ (bits < 0));
  const Vec<T> next = {(Native<T>)(bits + 1 + 2 * towards_zero)};
  const Vec<T> least = copysign(Vec<T>((Native<T>)(NativeMask<T>{} + 1)), b);
  return select((a != a) | (b != b), a + b, select(a == b, b, select(a == Vec<T>(0), least, next)));
}

// -0 is less than +0. For two zeros, the two orders of operands return each of them, and the sign bits decide.
template <Floating T>
SINTER_INLINE Vec<T> ordered_max(Vec<T> a, Vec<T> b) {
  return native_max(a, b) & native_max(b, a);
}
template <Floating T>
SINTER_INLINE Vec<T> ordered_min(Vec<T> a, Vec<T> b) {
  return native_min(a, b) | native_min(b, a);
}
template <Floating T>
SINTER_INLINE Vec<T> maximum(Vec<T> a, Vec<T> b) {
  return select((a != a) | (b != b), a + b, ordered_max(a, b));
}
template <Floating T>
SINTER_INLINE Vec<T> minimum(Vec<T> a, Vec<T> b) {
  return select((a != a) | (b != b), a + b, ordered_min(a, b));
}
template <Floating T>
SINTER_INLINE Vec<T> fmax(Vec<T> a, Vec<T> b) {
  return select(b != b, a, select(a != a, b, ordered_max(a, b)));
}
template <Floating T>
SINTER_INLINE Vec<T> fmin(Vec<T> a, Vec<T> b) {
  return select(b != b, a, select(a != a, b, ordered_min(a, b)));
}

// a * b + c rounded once.
#if defined(__AVX512F__)
SINTER_INLINE Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) {
  return {(Native<float>)_mm512_fmadd_ps(a.v, b.v, c.v)};
}
SINTER_INLINE Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) {
  return {(Native<double>)_mm512_fmadd_pd(a.v, b.v, c.v)};
}
#elif defined(__FMA__)
SINTER_INLINE Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) {
  return {(Native<float>)_mm256_fmadd_ps(a.v, b.v, c.v)};
}
SINTER_INLINE Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) {
  return {(Native<double>)_mm256_fmadd_pd(a.v, b.v, c.v)};
}
#else
/// The exact product of two floats plus c, rounded to odd, so that rounding it to a float rounds correctly.
SINTER_INLINE __m128 fma_half(__m128 a, __m128 b, __m128 c) {
  const Vec<double> p = {(Native<double>)_mm_mul_pd(_mm_cvtps_pd(a), _mm_cvtps_pd(b))};
  const Vec<double> q = {(Native<double>)_mm_cvtps_pd(c)};
  const Vec<double> s = p + q, t = s - p, error = (p - (s - t)) + (q - t);
  const NativeMask<double> bits = (NativeMask<double>)s.v,
                           outward = (error > Vec<double>(0)).v ^ (s < Vec<double>(0)).v;
  const NativeMask<double> inexact = (error.v > 0) | (error.v < 0);
  const NativeMask<double> step = inexact & ((bits & 1) - 1) & (1 - 2 * (outward + 1));
  return _mm_cvtpd_ps((__m128d)(bits + step));
}
inline __attribute__((noinline)) Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) {
  const __m128 low = fma_half(a.v, b.v, c.v);
  const __m128 high = fma_half(_mm_movehl_ps(a.v, a.v), _mm_movehl_ps(b.v, b.v), _mm_movehl_ps(c.v, c.v));
  return {(Native<float>)_mm_movelh_ps(low, high)};
}
inline __attribute__((noinline)) Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) {
  return by_lane<Vec<double>>([](double x, double y, double z) { return __builtin_fma(x, y, z); }, a, b, c);
}
#endif

/// a * b + c by the fastest instructions, rounded once or twice: for approximations, where it does not matter.
template <Floating T>
SINTER_INLINE Vec<T> mad(Vec<T> a, Vec<T> b, Vec<T> c) {
#if defined(__FMA__)
  return fma(a, b, c);
#else
  return a * b + c;
#endif
}

SINTER_INLINE float scalar_fmod(float a, float b) { return __builtin_fmodf(a, b); }
SINTER_INLINE double scalar_fmod(double a, double b) { return __builtin_fmod(a, b); }

/// a - q * b, which is exact if q is the quotient's integer part or one more.
template <Floating T>
SINTER_INLINE Vec<T> fmod(Vec<T> a, Vec<T> b) {
  const Vec<T> q = trunc(a / b);
  if (any(!(abs(q) < Vec<T>(sizeof(T) == 4 ? 0x1p22 : 0x1p51))))
    return by_lane<Vec<T>>([](T x, T y) { return scalar_fmod(x, y); }, a, b);
  const Vec<T> r = fma(-q, b, a);
  const Mask<T> opposite = {(NativeMask<T>)(r ^ a).v < 0};
  const Vec<T> inside = select(opposite & (r != Vec<T>(0)), r + copysign(b, a), r);
  return copysign(select(isinf(b), a, inside), a);
}
template <Floating T>
SINTER_INLINE Vec<T> trunc_divide(Vec<T> a, Vec<T> b) {
  return trunc(a / b);
}
template <Floating T>
SINTER_INLINE Vec<T> remainder(Vec<T> a, Vec<T> b) {
  const Vec<T> zero(0), r = fmod(a, b);
  return select((r != zero) & ((b < zero) ^ (r < zero)), r + b, r);
}
template <Floating T>
SINTER_INLINE Vec<T> floor_divide(Vec<T> a, Vec<T> b) {
  const Vec<T> zero(0), combine_scalars(1), ratio = a / b, r = fmod(a, b);
  Vec<T> q = (a - r) / b;
  q = select((r != zero) & ((b < zero) ^ (r < zero)), q - combine_scalars, q);
  Vec<T> whole = floor(q);
  whole = select((q - whole) > Vec<T>(0.5), whole + combine_scalars, whole);
  return select(b == zero, ratio, select(q != zero, whole, copysign(zero, ratio)));
}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

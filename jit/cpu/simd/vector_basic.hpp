// Floats: operations that are exact or correctly rounded.
#pragma once
#include <concepts>

#include "vector.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

template <class T>
concept Floating = std::same_as<T, float> || std::same_as<T, double>;

#define SINTER_NATIVE1(name)            \
  template <Floating T>                 \
  SINTER_INLINE Vec<T> name(Vec<T> a) { \
    return {native_##name(a.v)};        \
  }
SINTER_NATIVE1(sqrt)
SINTER_NATIVE1(round)
SINTER_NATIVE1(floor)
SINTER_NATIVE1(ceil)
SINTER_NATIVE1(trunc)
#undef SINTER_NATIVE1
template <Floating T>
SINTER_INLINE Vec<T> native_max(Vec<T> a, Vec<T> b) {
  return {native_max(a.v, b.v)};
}
template <Floating T>
SINTER_INLINE Vec<T> native_min(Vec<T> a, Vec<T> b) {
  return {native_min(a.v, b.v)};
}

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
  return {select_unordered(a.v, b.v, (a + b).v, ordered_max(a, b).v)};
}
template <Floating T>
SINTER_INLINE Vec<T> minimum(Vec<T> a, Vec<T> b) {
  return {select_unordered(a.v, b.v, (a + b).v, ordered_min(a, b).v)};
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
#if SINTER_HAS_FMA
template <Floating T>
SINTER_INLINE Vec<T> fma(Vec<T> a, Vec<T> b, Vec<T> c) {
  return {native_fma(a.v, b.v, c.v)};
}
#else
/// The exact product of two floats plus c, rounded to odd, so that rounding it to a float rounds correctly.
SINTER_INLINE Native<double> odd_fma(Native<double> a, Native<double> b, Native<double> c) {
  const Vec<double> p = {a * b}, q = {c};
  const Vec<double> s = p + q, t = s - p, error = (p - (s - t)) + (q - t);
  const NativeMask<double> bits = (NativeMask<double>)s.v,
                           outward = (error > Vec<double>(0)).v ^ (s < Vec<double>(0)).v;
  const NativeMask<double> inexact = (error.v > 0) | (error.v < 0);
  const NativeMask<double> step = inexact & ((bits & 1) - 1) & (1 - 2 * (outward + 1));
  return (Native<double>)(bits + step);
}
inline __attribute__((noinline)) Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) {
  return {to_floats(odd_fma(low_doubles(a.v), low_doubles(b.v), low_doubles(c.v)),
                    odd_fma(high_doubles(a.v), high_doubles(b.v), high_doubles(c.v)))};
}
inline __attribute__((noinline)) Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) {
  return by_lane<Vec<double>>([](double x, double y, double z) { return __builtin_fma(x, y, z); }, a, b, c);
}
#endif

/// a * b + c by the fastest instructions, rounded once or twice: for approximations, where it does not matter.
template <Floating T>
SINTER_INLINE Vec<T> mad(Vec<T> a, Vec<T> b, Vec<T> c) {
#if SINTER_HAS_FMA
  return fma(a, b, c);
#else
  return a * b + c;
#endif
}
/// c - a * b, likewise.
template <Floating T>
SINTER_INLINE Vec<T> nmad(Vec<T> a, Vec<T> b, Vec<T> c) {
#if SINTER_HAS_FMA
  return {native_fnma(a.v, b.v, c.v)};
#else
  return c - a * b;
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
  const Vec<T> zero(0), one(1), ratio = a / b, r = fmod(a, b);
  Vec<T> q = (a - r) / b;
  q = select((r != zero) & ((b < zero) ^ (r < zero)), q - one, q);
  Vec<T> whole = floor(q);
  whole = select((q - whole) > Vec<T>(0.5), whole + one, whole);
  return select(b == zero, ratio, select(q != zero, whole, copysign(zero, ratio)));
}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

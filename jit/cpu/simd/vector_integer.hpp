// Integers and bools: overflow wraps, nothing traps.
#pragma once
#include <concepts>

#include "vector.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

template <class T>
concept Integer = std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;
template <class T>
concept IntegerOrBool = Integer<T> || std::same_as<T, bool>;

template <Integer T>
SINTER_INLINE Vec<T> abs(Vec<T> a) {
  return select(a < Vec<T>(0), -a, a);
}
template <Integer T>
SINTER_INLINE Vec<T> fma(Vec<T> a, Vec<T> b, Vec<T> c) {
  return a * b + c;
}
template <Integer T>
SINTER_INLINE Vec<T> floor(Vec<T> a) {
  return a;
}
template <Integer T>
SINTER_INLINE Vec<T> ceil(Vec<T> a) {
  return a;
}
template <Integer T>
SINTER_INLINE Vec<T> trunc(Vec<T> a) {
  return a;
}
template <Integer T>
SINTER_INLINE Vec<T> round(Vec<T> a) {
  return a;
}

template <IntegerOrBool T>
SINTER_INLINE Vec<T> maximum(Vec<T> a, Vec<T> b) {
  return select(a < b, b, a);
}
template <IntegerOrBool T>
SINTER_INLINE Vec<T> minimum(Vec<T> a, Vec<T> b) {
  return select(b < a, b, a);
}
template <IntegerOrBool T>
SINTER_INLINE Vec<T> fmax(Vec<T> a, Vec<T> b) {
  return maximum(a, b);
}
template <IntegerOrBool T>
SINTER_INLINE Vec<T> fmin(Vec<T> a, Vec<T> b) {
  return minimum(a, b);
}
template <IntegerOrBool T>
SINTER_INLINE Mask<T> isinf(Vec<T>) {
  return {NativeMask<T>{}};
}
template <IntegerOrBool T>
SINTER_INLINE Mask<T> isfinite(Vec<T>) {
  return {~NativeMask<T>{}};
}
template <Integer T>
SINTER_INLINE Vec<T> bitwise_not(Vec<T> a) {
  return {~a.v};
}
SINTER_INLINE Vec<bool> bitwise_not(Vec<bool> a) { return !a; }

/// Rounded toward zero; 0 if b is 0. The quotient of the lowest number and -1 wraps.
template <Integer T>
SINTER_INLINE T quotient(T a, T b) {
  return b == 0 ? T{0} : b == -1 ? static_cast<T>(-a) : static_cast<T>(a / b);
}
template <Integer T>
SINTER_INLINE Vec<T> fmod(Vec<T> a, Vec<T> b) {
  return by_lane<Vec<T>>([](T x, T y) { return y == 0 ? T{0} : static_cast<T>(x - quotient(x, y) * y); }, a, b);
}
template <Integer T>
SINTER_INLINE Vec<T> remainder(Vec<T> a, Vec<T> b) {
  const Vec<T> r = fmod(a, b);
  return select((r != Vec<T>(0)) & ((r ^ b) < Vec<T>(0)), r + b, r);
}
template <Integer T>
SINTER_INLINE Vec<T> trunc_divide(Vec<T> a, Vec<T> b) {
  return by_lane<Vec<T>>([](T x, T y) { return quotient(x, y); }, a, b);
}
template <Integer T>
SINTER_INLINE Vec<T> floor_divide(Vec<T> a, Vec<T> b) {
  const Vec<T> q = trunc_divide(a, b);
  const Vec<T> r = a - q * b;
  return select((b != Vec<T>(0)) & (r != Vec<T>(0)) & ((r ^ b) < Vec<T>(0)), q - Vec<T>(1), q);
}

/// The greatest common divisor of the magnitudes, by halving and subtracting (Stein). For the lowest number it wraps.
template <Integer T>
inline __attribute__((noinline)) T common_divisor(T x, T y) {
  std::uint64_t a = static_cast<std::uint64_t>(x < 0 ? -static_cast<std::int64_t>(x) : x);
  std::uint64_t b = static_cast<std::uint64_t>(y < 0 ? -static_cast<std::int64_t>(y) : y);
  if (a == 0 || b == 0) return static_cast<T>(a | b);
  const int twos = __builtin_ctzll(a | b);
  a >>= __builtin_ctzll(a);
  while (b != 0) {
    b >>= __builtin_ctzll(b);
    const std::uint64_t smaller = a < b ? a : b;
    b = a < b ? b - a : a - b;
    a = smaller;
  }
  return static_cast<T>(a << twos);
}
template <Integer T>
SINTER_INLINE Vec<T> gcd(Vec<T> a, Vec<T> b) {
  return by_lane<Vec<T>>([](T x, T y) { return common_divisor(x, y); }, a, b);
}

/// c * a, where a is a position in [0, b), counted from the end if negative; 0 if it is out of range.
template <Integer T>
SINTER_INLINE Vec<T> axis_offset(Vec<T> a, Vec<T> b, Vec<T> c) {
  const Vec<T> zero(0), position = a + select(a < zero, b, zero);
  return select((position >= zero) & (position < b), position, zero) * c;
}

/// Whether a shift count is in range.
template <Integer T>
SINTER_INLINE Mask<T> shifts(Vec<T> count) {
  return (count & Vec<T>(sizeof(T) * 8 - 1)) == count;
}
template <Integer T>
SINTER_INLINE Vec<T> bitwise_left_shift(Vec<T> a, Vec<T> b) {
  const Vec<T> some = {a.v << (b & Vec<T>(sizeof(T) * 8 - 1)).v};
  return select(shifts(b), some, Vec<T>(0));
}
template <Integer T>
SINTER_INLINE Vec<T> bitwise_right_shift(Vec<T> a, Vec<T> b) {
  return {a.v >> select(shifts(b), b, Vec<T>(sizeof(T) * 8 - 1)).v};
}

/// By repeated squaring. A negative exponent gives 0, except for bases 1 and -1.
template <Integer T>
SINTER_INLINE Vec<T> pow(Vec<T> a, Vec<T> b) {
  const Vec<T> zero(0), one(1), odd = b & one;
  Vec<T> result = one, base = a, left = b;
  for (Mask<T> more = left > zero; any(more); more = left > zero) {
    result = select(more & ((left & one) != zero), result * base, result);
    base = base * base;
    left.v >>= 1;
  }
  const Vec<T> inverse = select(a == one, one, select(a == -one, select(odd != zero, a, one), zero));
  return select(b < zero, inverse, result);
}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

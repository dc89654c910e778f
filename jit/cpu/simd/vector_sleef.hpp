// Functions by SLEEF, to 1 ulp. Its names differ for each instruction set.
#pragma once
#include <sleef.h>

#include "vector_float.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

#if defined(__AVX512F__)
#define SINTER_SLEEF(name, bound) Sleef_##name##f16_##bound##avx512f
#define SINTER_SLEEF_DOUBLE(name, bound) Sleef_##name##d8_##bound##avx512f
#elif defined(__AVX2__)
#define SINTER_SLEEF(name, bound) Sleef_##name##f8_##bound##avx2
#define SINTER_SLEEF_DOUBLE(name, bound) Sleef_##name##d4_##bound##avx2
#elif defined(__aarch64__)
#define SINTER_SLEEF(name, bound) Sleef_##name##f4_##bound##advsimd
#define SINTER_SLEEF_DOUBLE(name, bound) Sleef_##name##d2_##bound##advsimd
#else
#define SINTER_SLEEF(name, bound) Sleef_##name##f4_##bound##sse4
#define SINTER_SLEEF_DOUBLE(name, bound) Sleef_##name##d2_##bound##sse4
#endif
#define SINTER_FLOAT1(ours, name, bound) \
  SINTER_INLINE Vec<float> ours(Vec<float> a) { return {(Native<float>)SINTER_SLEEF(name, bound)(a.v)}; }
#define SINTER_DOUBLE1(ours, name, bound) \
  SINTER_INLINE Vec<double> ours(Vec<double> a) { return {(Native<double>)SINTER_SLEEF_DOUBLE(name, bound)(a.v)}; }
#define SINTER_BOTH1(ours, name, bound) SINTER_FLOAT1(ours, name, bound) SINTER_DOUBLE1(ours, name, bound)
#define SINTER_BOTH2(ours, name, bound)                                  \
  SINTER_INLINE Vec<float> ours(Vec<float> a, Vec<float> b) {            \
    return {(Native<float>)SINTER_SLEEF(name, bound)(a.v, b.v)};         \
  }                                                                      \
  SINTER_INLINE Vec<double> ours(Vec<double> a, Vec<double> b) {         \
    return {(Native<double>)SINTER_SLEEF_DOUBLE(name, bound)(a.v, b.v)}; \
  }

SINTER_DOUBLE1(log, log, u10)
SINTER_DOUBLE1(tanh, tanh, u10)
SINTER_DOUBLE1(erf, erf, u10)
SINTER_BOTH1(exp2, exp2, u10)
SINTER_BOTH1(expm1, expm1, u10)
SINTER_BOTH1(log2, log2, u10)
SINTER_BOTH1(log10, log10, u10)
SINTER_BOTH1(sleef_log1p, log1p, u10)
SINTER_BOTH1(sleef_sin, sin, u10)
SINTER_BOTH1(sleef_cos, cos, u10)
SINTER_BOTH1(sleef_tan, tan, u10)
SINTER_BOTH1(asin, asin, u10)
SINTER_BOTH1(acos, acos, u10)
SINTER_BOTH1(atan, atan, u10)
SINTER_BOTH1(sleef_sinh, sinh, u10)
SINTER_BOTH1(sleef_cosh, cosh, u10)
SINTER_BOTH1(sleef_asinh, asinh, u10)
SINTER_BOTH1(sleef_acosh, acosh, u10)
SINTER_BOTH1(sleef_atanh, atanh, u10)
SINTER_BOTH1(sleef_lgamma, lgamma, u10)
SINTER_BOTH1(erfc, erfc, u15)
SINTER_BOTH2(atan2, atan2, u10)
SINTER_BOTH2(sleef_pow, pow, u10)
SINTER_BOTH2(hypot, hypot, u05)

/// SLEEF chooses the range reduction of a vector by its largest angle, and the reductions differ in the last bit. Here
/// it is chosen for each lane, so that a result does not depend on the other lanes.
template <Floating T, class F>
SINTER_INLINE Vec<T> by_magnitude(F f, Vec<T> x) {
  const Vec<T> a = abs(x);
  const Mask<T> small = a < Vec<T>(sizeof(T) == 4 ? 125 : 15), huge = !(a < Vec<T>(1e14));
  if (!any(!small)) return f(x);
  const auto of = [&](Mask<T> lanes, double other) SINTER_LAMBDA { return f(select(lanes, x, Vec<T>(other))); };
  Vec<T> r = of(huge, 1e30);
  if (any(small)) r = select(small, of(small, 0), r);
  if (const Mask<T> middle = !(small | huge); any(middle)) r = select(middle, of(middle, 1e3), r);
  return r;
}
#define SINTER_PERIODIC(name)                                                       \
  template <Floating T>                                                             \
  SINTER_INLINE Vec<T> name(Vec<T> x) {                                             \
    return by_magnitude([](Vec<T> y) SINTER_LAMBDA { return sleef_##name(y); }, x); \
  }
SINTER_PERIODIC(sin)
SINTER_PERIODIC(cos)
#undef SINTER_PERIODIC

/// f(x) is x itself here, while SLEEF returns 0 for the smallest denormals.
template <Floating T>
SINTER_INLINE Vec<T> or_tiny(Vec<T> x, Vec<T> f) {
  return select(abs(x) < Vec<T>(0x1p-60), x, f);
}
template <Floating T>
SINTER_INLINE Vec<T> tan(Vec<T> x) {
  return or_tiny(x, by_magnitude([](Vec<T> y) SINTER_LAMBDA { return sleef_tan(y); }, x));
}

/// SLEEF returns infinity near the largest numbers.
template <Floating T>
SINTER_INLINE Vec<T> log1p(Vec<T> x) {
  const Mask<T> huge = x > Vec<T>(0x1p100);
  const Vec<T> r = or_tiny(x, sleef_log1p(x));
  return any(huge) ? select(huge, log(x), r) : r;
}

/// SLEEF returns infinity for the largest results: these are computed from the root of the power.
template <Floating T>
SINTER_INLINE Vec<T> pow(Vec<T> a, Vec<T> b) {
  const Vec<T> r = sleef_pow(a, b);
  const Mask<T> huge = isinf(r) & isfinite(a) & isfinite(b) & (a != Vec<T>(0));
  if (!any(huge)) return r;
  const Vec<T> root = sleef_pow(abs(a), b * Vec<T>(0.5));
  return select(b == Vec<T>(1), a, select(huge, copysign(root * root, r), r));
}

/// e^|x| / 2 where SLEEF's hyperbolic functions give infinity, as e^(|x| - h) (1 + d) with h a little above log(2): the
/// difference is exact, and only the last step overflows.
template <Floating T>
SINTER_INLINE Vec<T> half_exp(Vec<T> x) {
  constexpr T h = sizeof(T) == 4 ? 0x1.62e5p-1 : 0x1.62e42fefa3cp-1;
  constexpr T d = sizeof(T) == 4 ? 0x1.a0210d4f70599p-18 : 0x1.08654361c4cf1p-44;
  const Vec<T> power = exp(abs(x) - Vec<T>(h));
  return mad(power, Vec<T>(d), power);
}
template <Floating T>
inline constexpr T hyperbolic_limit = sizeof(T) == 4 ? 88 : 709;
template <Floating T>
SINTER_INLINE Vec<T> sinh(Vec<T> x) {
  const Mask<T> huge = abs(x) > Vec<T>(hyperbolic_limit<T>);
  const Vec<T> r = sleef_sinh(x);
  return any(huge) ? select(huge, copysign(half_exp(x), x), r) : r;
}
template <Floating T>
SINTER_INLINE Vec<T> cosh(Vec<T> x) {
  const Mask<T> huge = abs(x) > Vec<T>(hyperbolic_limit<T>);
  const Vec<T> r = sleef_cosh(x);
  return any(huge) ? select(huge, half_exp(x), r) : r;
}

/// SLEEF's square of the largest numbers overflows; there the root is |x| to the last bit.
template <Floating T>
SINTER_INLINE Vec<T> log_twice(Vec<T> x) {
  return log(abs(x)) + Vec<T>(0.69314718055994530942);
}
template <Floating T>
SINTER_INLINE Vec<T> asinh(Vec<T> x) {
  const Mask<T> huge = abs(x) > Vec<T>(0x1p60);
  const Vec<T> r = or_tiny(x, sleef_asinh(x));
  return any(huge) ? select(huge, copysign(log_twice(x), x), r) : r;
}
template <Floating T>
SINTER_INLINE Vec<T> acosh(Vec<T> x) {
  const Mask<T> huge = x > Vec<T>(0x1p60);
  const Vec<T> r = sleef_acosh(x);
  return any(huge) ? select(huge, log_twice(x), r) : r;
}
template <Floating T>
SINTER_INLINE Vec<T> atanh(Vec<T> x) {
  return or_tiny(x, sleef_atanh(x));
}

/// SLEEF returns infinity if the result is near the largest numbers; there it is the first term of Stirling's series.
template <Floating T>
SINTER_INLINE Vec<T> lgamma(Vec<T> x) {
  const Mask<T> huge = x > Vec<T>(sizeof(T) == 4 ? T(0x1p100) : T(0x1p60) * T(0x1p60));
  const Vec<T> r = sleef_lgamma(x);
  return any(huge) ? select(huge, x * (log(x) - Vec<T>(1)), r) : r;
}

#undef SINTER_FLOAT1
#undef SINTER_DOUBLE1
#undef SINTER_BOTH1
#undef SINTER_BOTH2
#undef SINTER_SLEEF
#undef SINTER_SLEEF_DOUBLE

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

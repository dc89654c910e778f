// What SLEEF computes, to 1 ulp. Its functions for each instruction set have names of their own.
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
#else
#define SINTER_SLEEF(name, bound) Sleef_##name##f4_##bound##sse4
#define SINTER_SLEEF_DOUBLE(name, bound) Sleef_##name##d2_##bound##sse4
#endif
#define SINTER_FLOAT1(ours, name, bound) \
  SINTER_INLINE Vec<float> ours(Vec<float> a) { return {(Native<float>)SINTER_SLEEF(name, bound)(a.v)}; }
#define SINTER_DOUBLE1(ours, name, bound) \
  SINTER_INLINE Vec<double> ours(Vec<double> a) { return {(Native<double>)SINTER_SLEEF_DOUBLE(name, bound)(a.v)}; }
#define SINTER_BOTH1(ours, name, bound) SINTER_FLOAT1(ours, name, bound) SINTER_DOUBLE1(ours, name, bound)
#define SINTER_BOTH2(ours, name, bound)                                            \
  SINTER_INLINE Vec<float> ours(Vec<float> a, Vec<float> b) {                      \
    return {(Native<float>)SINTER_SLEEF(name, bound)(a.v, b.v)};                   \
  }                                                                                \
  SINTER_INLINE Vec<double> ours(Vec<double> a, Vec<double> b) {                   \
    return {(Native<double>)SINTER_SLEEF_DOUBLE(name, bound)(a.v, b.v)};           \
  }

SINTER_DOUBLE1(exp, exp, u10)
SINTER_DOUBLE1(log, log, u10)
SINTER_DOUBLE1(tanh, tanh, u10)
SINTER_DOUBLE1(erf, erf, u10)
SINTER_BOTH1(exp2, exp2, u10)
SINTER_BOTH1(expm1, expm1, u10)
SINTER_BOTH1(log2, log2, u10)
SINTER_BOTH1(log10, log10, u10)
SINTER_BOTH1(log1p, log1p, u10)
SINTER_BOTH1(sin, sin, u10)
SINTER_BOTH1(cos, cos, u10)
SINTER_BOTH1(tan, tan, u10)
SINTER_BOTH1(asin, asin, u10)
SINTER_BOTH1(acos, acos, u10)
SINTER_BOTH1(atan, atan, u10)
SINTER_BOTH1(sinh, sinh, u10)
SINTER_BOTH1(cosh, cosh, u10)
SINTER_BOTH1(erfc, erfc, u15)
SINTER_BOTH2(atan2, atan2, u10)
SINTER_BOTH2(pow, pow, u10)
SINTER_BOTH2(hypot, hypot, u05)

#undef SINTER_FLOAT1
#undef SINTER_DOUBLE1
#undef SINTER_BOTH1
#undef SINTER_BOTH2
#undef SINTER_SLEEF
#undef SINTER_SLEEF_DOUBLE

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

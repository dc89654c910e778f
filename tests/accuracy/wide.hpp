// Two wider floats for references: long double, which is fast and has 11 more bits than float64, and quad precision
// with 113 bits, by the C library's functions. Formulas are templates over both.
#pragma once
#include <cmath>

namespace sinter::accuracy {

using Extended = long double;
__extension__ using Quad = __float128;

#define SINTER_WIDE_1(name)                                 \
  inline Extended name(Extended a) { return ::name##l(a); } \
  inline Quad name(Quad a) { return ::name##f128(a); }
#define SINTER_WIDE_2(name)                                                \
  inline Extended name(Extended a, Extended b) { return ::name##l(a, b); } \
  inline Quad name(Quad a, Quad b) { return ::name##f128(a, b); }
SINTER_WIDE_1(acos)
SINTER_WIDE_1(acosh)
SINTER_WIDE_1(asin)
SINTER_WIDE_1(asinh)
SINTER_WIDE_1(atan)
SINTER_WIDE_1(atanh)
SINTER_WIDE_1(cos)
SINTER_WIDE_1(cosh)
SINTER_WIDE_1(erf)
SINTER_WIDE_1(erfc)
SINTER_WIDE_1(exp)
SINTER_WIDE_1(exp2)
SINTER_WIDE_1(expm1)
SINTER_WIDE_1(fabs)
SINTER_WIDE_1(lgamma)
SINTER_WIDE_1(log)
SINTER_WIDE_1(log10)
SINTER_WIDE_1(log1p)
SINTER_WIDE_1(log2)
SINTER_WIDE_1(rint)
SINTER_WIDE_1(sin)
SINTER_WIDE_1(sinh)
SINTER_WIDE_1(sqrt)
SINTER_WIDE_1(tan)
SINTER_WIDE_1(tanh)
SINTER_WIDE_2(atan2)
SINTER_WIDE_2(copysign)
SINTER_WIDE_2(fmax)
SINTER_WIDE_2(fmod)
SINTER_WIDE_2(hypot)
SINTER_WIDE_2(pow)
#undef SINTER_WIDE_1
#undef SINTER_WIDE_2
inline Extended ldexp(Extended a, int n) { return ::ldexpl(a, n); }
inline Quad ldexp(Quad a, int n) { return ::ldexpf128(a, n); }
inline int ilogb(Extended a) { return ::ilogbl(a); }
inline int ilogb(Quad a) { return ::ilogbf128(a); }

template <class R>
bool is_nan(R a) {
  return a != a;
}
template <class R>
bool is_infinite(R a) {
  return a - a != a - a && a == a;
}
template <class R>
bool is_negative(R a) {
  return copysign(R(1), a) < 0;
}

template <class R>
inline const R pi = acos(R(-1));
template <class R>
inline const R nan = R(NAN);
template <class R>
inline const R infinity = R(INFINITY);

}  // namespace sinter::accuracy

template <class T>
SINTER_DEVICE T select(bool condition, T a, T b) {
  return condition ? a : b;
}

template <class T>
SINTER_DEVICE T fmod(T a, T b) {
  return b == 0 || b == -1 ? T(0) : T(a % b);
}
SINTER_DEVICE float fmod(float a, float b) { return ::fmodf(a, b); }
SINTER_DEVICE double fmod(double a, double b) { return ::fmod(a, b); }

template <class T>
SINTER_DEVICE T floor(T a) {
  return a;
}
SINTER_DEVICE float floor(float a) { return ::floorf(a); }
SINTER_DEVICE double floor(double a) { return ::floor(a); }

SINTER_DEVICE float copysign(float a, float b) { return ::copysignf(a, b); }
SINTER_DEVICE double copysign(double a, double b) { return ::copysign(a, b); }

template <class T>
SINTER_DEVICE T floor_divide(T a, T b) {
  if (b == 0) return 0;
  if (b == -1) return T(0 - typename Unsigned<T>::type(a));
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
template <class T>
SINTER_DEVICE T floor_divide_float(T a, T b) {
  if (b == 0) return a / b;
  const T rest = fmod(a, b);
  T quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return copysign(T(0), a / b);
  const T whole = floor(quotient);
  return quotient - whole > T(0.5) ? whole + 1 : whole;
}
SINTER_DEVICE float floor_divide(float a, float b) { return floor_divide_float(a, b); }
SINTER_DEVICE double floor_divide(double a, double b) { return floor_divide_float(a, b); }

template <class T>
SINTER_DEVICE T remainder(T a, T b) {
  if (b == 0 || b == -1) return 0;
  const T rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
template <class T>
SINTER_DEVICE T remainder_float(T a, T b) {
  const T rest = fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
SINTER_DEVICE float remainder(float a, float b) { return remainder_float(a, b); }
SINTER_DEVICE double remainder(double a, double b) { return remainder_float(a, b); }

// By squaring; a negative exponent gives the truncated reciprocal, and 0 for the base 0.
template <class T>
SINTER_DEVICE T pow(T a, T b) {
  if (b < 0) return a == 1 ? T(1) : a == -1 ? (b % 2 == 0 ? T(1) : T(-1)) : T(0);
  typename Unsigned<T>::type base = a, result = 1;
  for (; b != 0; b >>= 1, base *= base)
    if (b & 1) result *= base;
  return T(result);
}
SINTER_DEVICE float pow(float a, float b) { return ::powf(a, b); }
SINTER_DEVICE double pow(double a, double b) { return ::pow(a, b); }

template <class T>
SINTER_DEVICE T fma(T a, T b, T c) {
  using U = typename Unsigned<T>::type;
  return T(U(a) * U(b) + U(c));
}
SINTER_DEVICE float fma(float a, float b, float c) { return ::fmaf(a, b, c); }
SINTER_DEVICE double fma(double a, double b, double c) { return ::fma(a, b, c); }

template <class T>
SINTER_DEVICE T abs(T a) {
  return a < 0 ? T(0 - typename Unsigned<T>::type(a)) : a;
}
SINTER_DEVICE float abs(float a) { return ::fabsf(a); }
SINTER_DEVICE double abs(double a) { return ::fabs(a); }

SINTER_DEVICE float sqrt(float a) { return ::sqrtf(a); }
SINTER_DEVICE double sqrt(double a) { return ::sqrt(a); }

SINTER_DEVICE float exp(float a) { return ::expf(a); }
SINTER_DEVICE double exp(double a) { return ::exp(a); }

template <class T>
SINTER_DEVICE T sigmoid(T a) {
  return T(1) / (T(1) + exp(-a));
}
template <class T>
SINTER_DEVICE T silu(T a) {
  return a / (T(1) + exp(-a));
}

SINTER_DEVICE float exp2(float a) { return ::exp2f(a); }
SINTER_DEVICE double exp2(double a) { return ::exp2(a); }

SINTER_DEVICE float expm1(float a) { return ::expm1f(a); }
SINTER_DEVICE double expm1(double a) { return ::expm1(a); }

SINTER_DEVICE float log(float a) { return ::logf(a); }
SINTER_DEVICE double log(double a) { return ::log(a); }

SINTER_DEVICE float log2(float a) { return ::log2f(a); }
SINTER_DEVICE double log2(double a) { return ::log2(a); }

SINTER_DEVICE float log10(float a) { return ::log10f(a); }
SINTER_DEVICE double log10(double a) { return ::log10(a); }

SINTER_DEVICE float log1p(float a) { return ::log1pf(a); }
SINTER_DEVICE double log1p(double a) { return ::log1p(a); }

SINTER_DEVICE float sin(float a) { return ::sinf(a); }
SINTER_DEVICE double sin(double a) { return ::sin(a); }

SINTER_DEVICE float cos(float a) { return ::cosf(a); }
SINTER_DEVICE double cos(double a) { return ::cos(a); }

SINTER_DEVICE float tan(float a) { return ::tanf(a); }
SINTER_DEVICE double tan(double a) { return ::tan(a); }

SINTER_DEVICE float asin(float a) { return ::asinf(a); }
SINTER_DEVICE double asin(double a) { return ::asin(a); }

SINTER_DEVICE float acos(float a) { return ::acosf(a); }
SINTER_DEVICE double acos(double a) { return ::acos(a); }

SINTER_DEVICE float atan(float a) { return ::atanf(a); }
SINTER_DEVICE double atan(double a) { return ::atan(a); }

SINTER_DEVICE float atan2(float a, float b) { return ::atan2f(a, b); }
SINTER_DEVICE double atan2(double a, double b) { return ::atan2(a, b); }

SINTER_DEVICE float sinh(float a) { return ::sinhf(a); }
SINTER_DEVICE double sinh(double a) { return ::sinh(a); }

SINTER_DEVICE float cosh(float a) { return ::coshf(a); }
SINTER_DEVICE double cosh(double a) { return ::cosh(a); }

SINTER_DEVICE float tanh(float a) { return ::tanhf(a); }
SINTER_DEVICE double tanh(double a) { return ::tanh(a); }

SINTER_DEVICE float asinh(float a) { return ::asinhf(a); }
SINTER_DEVICE double asinh(double a) { return ::asinh(a); }

SINTER_DEVICE float acosh(float a) { return ::acoshf(a); }
SINTER_DEVICE double acosh(double a) { return ::acosh(a); }

SINTER_DEVICE float atanh(float a) { return ::atanhf(a); }
SINTER_DEVICE double atanh(double a) { return ::atanh(a); }

SINTER_DEVICE float lgamma(float a) { return ::lgammaf(a); }
SINTER_DEVICE double lgamma(double a) { return ::lgamma(a); }

SINTER_DEVICE float nextafter(float a, float b) { return ::nextafterf(a, b); }
SINTER_DEVICE double nextafter(double a, double b) { return ::nextafter(a, b); }

SINTER_DEVICE float hypot(float a, float b) { return ::hypotf(a, b); }
SINTER_DEVICE double hypot(double a, double b) { return ::hypot(a, b); }

SINTER_DEVICE float erf(float a) { return ::erff(a); }
SINTER_DEVICE double erf(double a) { return ::erf(a); }

SINTER_DEVICE float erfc(float a) { return ::erfcf(a); }
SINTER_DEVICE double erfc(double a) { return ::erfc(a); }

template <class T>
SINTER_DEVICE T ceil(T a) {
  return a;
}
SINTER_DEVICE float ceil(float a) { return ::ceilf(a); }
SINTER_DEVICE double ceil(double a) { return ::ceil(a); }

template <class T>
SINTER_DEVICE T trunc(T a) {
  return a;
}
SINTER_DEVICE float trunc(float a) { return ::truncf(a); }
SINTER_DEVICE double trunc(double a) { return ::trunc(a); }

template <class T>
SINTER_DEVICE T trunc_divide(T a, T b) {
  if (b == 0) return 0;
  return b == -1 ? T(0 - typename Unsigned<T>::type(a)) : a / b;
}
SINTER_DEVICE float trunc_divide(float a, float b) { return ::truncf(a / b); }
SINTER_DEVICE double trunc_divide(double a, double b) { return ::trunc(a / b); }

// gcd(|a|, |b|); the magnitude of the lowest integer wraps.
template <class T>
SINTER_DEVICE T gcd(T a, T b) {
  using U = typename Unsigned<T>::type;
  U x = a < 0 ? 0 - U(a) : U(a), y = b < 0 ? 0 - U(b) : U(b);
  while (y != 0) {
    const U rest = x % y;
    x = y;
    y = rest;
  }
  return T(x);
}

// Counts that are negative or not below the width act like shifting by one bit at a time forever.
template <class T>
SINTER_DEVICE T bitwise_left_shift(T a, T b) {
  using U = typename Unsigned<T>::type;
  return U(b) < 8 * sizeof(T) ? T(U(a) << b) : T(0);
}

template <class T>
SINTER_DEVICE T bitwise_right_shift(T a, T b) {
  return a >> (typename Unsigned<T>::type(b) < 8 * sizeof(T) ? b : T(8 * sizeof(T) - 1));
}

// Rounds halves to even.
template <class T>
SINTER_DEVICE T round(T a) {
  return a;
}
SINTER_DEVICE float round(float a) { return ::rintf(a); }
SINTER_DEVICE double round(double a) { return ::rint(a); }

// NaN if either is; -0 counts as less than +0.
template <class T>
SINTER_DEVICE T maximum(T a, T b) {
  return a < b ? b : a;
}
SINTER_DEVICE float maximum(float a, float b) {
#if defined(__CUDA_ARCH__) && !defined(SINTER_VIRTUAL_GPU) && __CUDA_ARCH__ >= 800
  float greater;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(greater) : "f"(a), "f"(b));
  return greater;
#else
  return a != a || b != b ? a + b : ::fmaxf(a, b);
#endif
}
SINTER_DEVICE double maximum(double a, double b) { return a != a || b != b ? a + b : ::fmax(a, b); }

template <class T>
SINTER_DEVICE T minimum(T a, T b) {
  return b < a ? b : a;
}
SINTER_DEVICE float minimum(float a, float b) {
#if defined(__CUDA_ARCH__) && !defined(SINTER_VIRTUAL_GPU) && __CUDA_ARCH__ >= 800
  float lesser;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(lesser) : "f"(a), "f"(b));
  return lesser;
#else
  return a != a || b != b ? a + b : ::fminf(a, b);
#endif
}
SINTER_DEVICE double minimum(double a, double b) { return a != a || b != b ? a + b : ::fmin(a, b); }

// If one operand is NaN, returns the other.
template <class T>
SINTER_DEVICE T fmax(T a, T b) {
  return a < b ? b : a;
}
SINTER_DEVICE float fmax(float a, float b) { return ::fmaxf(a, b); }
SINTER_DEVICE double fmax(double a, double b) { return ::fmax(a, b); }

template <class T>
SINTER_DEVICE T fmin(T a, T b) {
  return b < a ? b : a;
}
SINTER_DEVICE float fmin(float a, float b) { return ::fminf(a, b); }
SINTER_DEVICE double fmin(double a, double b) { return ::fmin(a, b); }

// Infinity minus itself is NaN, as NaN is; no number of another type is infinite.
template <class T>
SINTER_DEVICE bool isinf(T a) {
  return IsFloat<T>::value && a == a && a - a != a - a;
}

template <class T>
SINTER_DEVICE bool isfinite(T a) {
  return !IsFloat<T>::value || a - a == a - a;
}

template <class T>
SINTER_DEVICE T bitwise_not(T a) {
  return ~a;
}
SINTER_DEVICE bool bitwise_not(bool a) { return !a; }

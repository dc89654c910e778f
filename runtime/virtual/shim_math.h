// CUDA C++ for the host compiler: vectors, bits, mathematics, conversions, atomics, with CUDA's names and results.
// ---- Vectors
#define SINTER_VECTORS(T, name, align2, align4)                                     \
  struct name##1 { T x; };                                                          \
  struct __attribute__((aligned(align2))) name##2 { T x, y; };                      \
  struct name##3 { T x, y, z; };                                                    \
  struct __attribute__((aligned(align4))) name##4 { T x, y, z, w; };                \
  static inline name##1 make_##name##1(T x) { return name##1 {x}; }                 \
  static inline name##2 make_##name##2(T x, T y) { return name##2 {x, y}; }         \
  static inline name##3 make_##name##3(T x, T y, T z) { return name##3 {x, y, z}; } \
  static inline name##4 make_##name##4(T x, T y, T z, T w) { return name##4 {x, y, z, w}; }
SINTER_VECTORS(signed char, char, 2, 4)
SINTER_VECTORS(unsigned char, uchar, 2, 4)
SINTER_VECTORS(short, short, 4, 8)
SINTER_VECTORS(unsigned short, ushort, 4, 8)
SINTER_VECTORS(int, int, 8, 16)
SINTER_VECTORS(long, long, 16, 16)
SINTER_VECTORS(unsigned long, ulong, 16, 16)
SINTER_VECTORS(long long, longlong, 16, 16)
SINTER_VECTORS(unsigned long long, ulonglong, 16, 16)
SINTER_VECTORS(float, float, 8, 16)
SINTER_VECTORS(double, double, 16, 16)
struct uint1 {
  unsigned x;
};
struct __attribute__((aligned(8))) uint2 {
  unsigned x, y;
};
struct __attribute__((aligned(16))) uint4 {
  unsigned x, y, z, w;
};
static inline uint1 make_uint1(unsigned x) { return uint1{x}; }
static inline uint2 make_uint2(unsigned x, unsigned y) { return uint2{x, y}; }
static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return uint3{x, y, z}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return uint4{x, y, z, w}; }

// ---- Bits
#define SINTER_BITS(name, From, To)     \
  static inline To name(From x) {       \
    To y;                               \
    __builtin_memcpy(&y, &x, sizeof y); \
    return y;                           \
  }
SINTER_BITS(__int_as_float, int, float)
SINTER_BITS(__float_as_int, float, int)
SINTER_BITS(__uint_as_float, unsigned, float)
SINTER_BITS(__float_as_uint, float, unsigned)
SINTER_BITS(__longlong_as_double, long long, double)
SINTER_BITS(__double_as_longlong, double, long long)
static inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
static inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
static inline double __hiloint2double(int hi, int lo) {
  return __longlong_as_double(static_cast<long long>(static_cast<unsigned long long>(static_cast<unsigned>(hi)) << 32 |
                                                     static_cast<unsigned>(lo)));
}
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned long long __brevll(unsigned long long x) {
  x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
  x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
  return __builtin_bswap64(x);
}
static inline unsigned __brev(unsigned x) { return static_cast<unsigned>(__brevll(x) >> 32); }
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
  const unsigned long long both = static_cast<unsigned long long>(y) << 32 | x;
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) r |= static_cast<unsigned>(both >> 8 * (s >> 4 * i & 7) & 0xff) << 8 * i;
  return r;
}
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) {
  return static_cast<unsigned>((static_cast<unsigned long long>(hi) << 32 | lo) << (s & 31) >> 32);
}
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) {
  return static_cast<unsigned>((static_cast<unsigned long long>(hi) << 32 | lo) >> (s & 31));
}
static inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
static inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
static inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}

// ---- Mathematics: the C library's functions, and CUDA's overloads for float
#define SINTER_MATH_1(name)        \
  extern "C" float name##f(float); \
  extern "C" double name(double);  \
  static inline float name(float x) { return name##f(x); }
SINTER_MATH_1(acos)
SINTER_MATH_1(acosh)
SINTER_MATH_1(asin)
SINTER_MATH_1(asinh)
SINTER_MATH_1(atan)
SINTER_MATH_1(atanh)
SINTER_MATH_1(cbrt)
SINTER_MATH_1(ceil)
SINTER_MATH_1(cos)
SINTER_MATH_1(cosh)
SINTER_MATH_1(erf)
SINTER_MATH_1(erfc)
SINTER_MATH_1(exp)
SINTER_MATH_1(exp10)
SINTER_MATH_1(exp2)
SINTER_MATH_1(expm1)
SINTER_MATH_1(fabs)
SINTER_MATH_1(floor)
SINTER_MATH_1(lgamma)
SINTER_MATH_1(log)
SINTER_MATH_1(log10)
SINTER_MATH_1(log1p)
SINTER_MATH_1(log2)
SINTER_MATH_1(logb)
SINTER_MATH_1(nearbyint)
SINTER_MATH_1(rint)
SINTER_MATH_1(round)
SINTER_MATH_1(sin)
SINTER_MATH_1(sinh)
SINTER_MATH_1(sqrt)
SINTER_MATH_1(tan)
SINTER_MATH_1(tanh)
SINTER_MATH_1(tgamma)
SINTER_MATH_1(trunc)
#define SINTER_MATH_2(name)               \
  extern "C" float name##f(float, float); \
  extern "C" double name(double, double); \
  static inline float name(float x, float y) { return name##f(x, y); }
SINTER_MATH_2(atan2)
SINTER_MATH_2(copysign)
SINTER_MATH_2(fdim)
SINTER_MATH_2(fmod)
SINTER_MATH_2(hypot)
SINTER_MATH_2(nextafter)
SINTER_MATH_2(pow)
SINTER_MATH_2(remainder)
extern "C" float fmaf(float, float, float);
extern "C" double fma(double, double, double);
static inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
extern "C" float ldexpf(float, int);
extern "C" double ldexp(double, int);
static inline float ldexp(float x, int n) { return ldexpf(x, n); }
extern "C" float frexpf(float, int*);
extern "C" double frexp(double, int*);
static inline float frexp(float x, int* n) { return frexpf(x, n); }
extern "C" float modff(float, float*);
extern "C" double modf(double, double*);
static inline float modf(float x, float* n) { return modff(x, n); }
extern "C" int ilogbf(float);
extern "C" int ilogb(double);
static inline int ilogb(float x) { return ilogbf(x); }
extern "C" long lrintf(float);
extern "C" long lrint(double);
extern "C" long long llrintf(float);
extern "C" long long llrint(double);
extern "C" long lroundf(float);
extern "C" long lround(double);
extern "C" long long llroundf(float);
extern "C" long long llround(double);
static inline void sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
static inline void sincos(double x, double* s, double* c) { *s = sin(x), *c = cos(x); }
static inline float rsqrtf(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float rsqrt(float x) { return rsqrtf(x); }
static inline float rcbrtf(float x) { return static_cast<float>(1.0 / cbrt(static_cast<double>(x))); }
static inline double rcbrt(double x) { return 1.0 / cbrt(x); }
static inline float normcdff(float x) { return static_cast<float>(0.5 * erfc(x * -0.70710678118654752440)); }
static inline double normcdf(double x) { return 0.5 * erfc(x * -0.70710678118654752440); }

namespace sinter_virtual {
// sin(pi x) and cos(pi x) from |r| <= 1/4, where pi * r is small enough to be accurate.
static inline void sin_cos_pi(double x, double* s, double* c) {
  const double n = rint(2.0 * x), r = fma(-0.5, n, x) * 3.14159265358979323846;
  const int quadrant = static_cast<int>(fmod(n, 4.0)) & 3;
  const double rs = sin(r), rc = cos(r);
  const double sine = quadrant & 1 ? rc : rs, cosine = quadrant & 1 ? rs : rc;
  *s = x == trunc(x) ? copysign(0.0, x) : quadrant & 2 ? -sine : sine;
  *c = quadrant == 1 || quadrant == 2 ? -cosine : cosine;
  if (x - x != 0.0) *s = *c = x - x;
  if (quadrant & 1 && r == 0.0) *c = 0.0;
}
}  // namespace sinter_virtual
static inline void sincospi(double x, double* s, double* c) { sinter_virtual::sin_cos_pi(x, s, c); }
static inline void sincospif(float x, float* s, float* c) {
  double sine, cosine;
  sinter_virtual::sin_cos_pi(x, &sine, &cosine);
  *s = static_cast<float>(sine), *c = static_cast<float>(cosine);
}
static inline double sinpi(double x) {
  double s, c;
  return sincospi(x, &s, &c), s;
}
static inline double cospi(double x) {
  double s, c;
  return sincospi(x, &s, &c), c;
}
static inline float sinpif(float x) { return static_cast<float>(sinpi(x)); }
static inline float cospif(float x) { return static_cast<float>(cospi(x)); }

// A GPU's maximum and minimum: the other operand if one is NaN, and -0 is below +0.
#define SINTER_EXTREMES(T, suffix)                                                            \
  static inline T fmax##suffix(T a, T b) {                                                    \
    return a != a ? b : b != b ? a : a == b ? (__builtin_signbit(a) ? b : a) : a > b ? a : b; \
  }                                                                                           \
  static inline T fmin##suffix(T a, T b) {                                                    \
    return a != a ? b : b != b ? a : a == b ? (__builtin_signbit(a) ? a : b) : a < b ? a : b; \
  }                                                                                           \
  static inline T max(T a, T b) { return fmax##suffix(a, b); }                                \
  static inline T min(T a, T b) { return fmin##suffix(a, b); }
SINTER_EXTREMES(float, f)
SINTER_EXTREMES(double, )
static inline float fmax(float a, float b) { return fmaxf(a, b); }
static inline float fmin(float a, float b) { return fminf(a, b); }
static inline double max(float a, double b) { return fmax(static_cast<double>(a), b); }
static inline double max(double a, float b) { return fmax(a, static_cast<double>(b)); }
static inline double min(float a, double b) { return fmin(static_cast<double>(a), b); }
static inline double min(double a, float b) { return fmin(a, static_cast<double>(b)); }
#define SINTER_INTEGER_EXTREMES(T)                        \
  static inline T max(T a, T b) { return a < b ? b : a; } \
  static inline T min(T a, T b) { return b < a ? b : a; }
SINTER_INTEGER_EXTREMES(int)
SINTER_INTEGER_EXTREMES(unsigned)
SINTER_INTEGER_EXTREMES(long)
SINTER_INTEGER_EXTREMES(unsigned long)
SINTER_INTEGER_EXTREMES(long long)
SINTER_INTEGER_EXTREMES(unsigned long long)
static inline int abs(int x) { return x < 0 ? -x : x; }
static inline long abs(long x) { return x < 0 ? -x : x; }
static inline long long abs(long long x) { return x < 0 ? -x : x; }
static inline long labs(long x) { return x < 0 ? -x : x; }
static inline long long llabs(long long x) { return x < 0 ? -x : x; }
static inline float abs(float x) { return fabsf(x); }
static inline double abs(double x) { return fabs(x); }
static inline bool isnan(float x) { return x != x; }
static inline bool isnan(double x) { return x != x; }
static inline bool isinf(float x) { return fabsf(x) == __builtin_inff(); }
static inline bool isinf(double x) { return fabs(x) == __builtin_inf(); }
static inline bool isfinite(float x) { return x - x == 0.0f; }
static inline bool isfinite(double x) { return x - x == 0.0; }
static inline bool signbit(float x) { return __builtin_signbitf(x) != 0; }
static inline bool signbit(double x) { return __builtin_signbit(x) != 0; }

// The fast intrinsics, which are less accurate on a GPU, are the accurate functions here.
static inline float __expf(float x) { return expf(x); }
static inline float __exp10f(float x) { return exp10f(x); }
static inline float __logf(float x) { return logf(x); }
static inline float __log2f(float x) { return log2f(x); }
static inline float __log10f(float x) { return log10f(x); }
static inline float __sinf(float x) { return sinf(x); }
static inline float __cosf(float x) { return cosf(x); }
static inline float __tanf(float x) { return tanf(x); }
static inline void __sincosf(float x, float* s, float* c) { sincosf(x, s, c); }
static inline float __powf(float x, float y) { return powf(x, y); }
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
static inline float __fadd_rn(float x, float y) { return x + y; }
static inline float __fsub_rn(float x, float y) { return x - y; }
static inline float __fmul_rn(float x, float y) { return x * y; }
static inline float __fdiv_rn(float x, float y) { return x / y; }
static inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline float __fsqrt_rn(float x) { return sqrtf(x); }
static inline float __frsqrt_rn(float x) { return rsqrtf(x); }
static inline double __dadd_rn(double x, double y) { return x + y; }
static inline double __dsub_rn(double x, double y) { return x - y; }
static inline double __dmul_rn(double x, double y) { return x * y; }
static inline double __ddiv_rn(double x, double y) { return x / y; }
static inline double __drcp_rn(double x) { return 1.0 / x; }
static inline double __dsqrt_rn(double x) { return sqrt(x); }
static inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

// ---- Conversions. A GPU saturates; NaN gives 0, or the lowest value if a 64-bit type is involved. A plain cast of an
// out-of-range value is the host's.
namespace sinter_virtual {
template <class To>
static inline To saturate(double x, bool wide) {
  const bool is_signed = static_cast<To>(-1) < static_cast<To>(0);
  const To lowest = is_signed ? static_cast<To>(static_cast<To>(1) << (8 * sizeof(To) - 1)) : static_cast<To>(0);
  const To highest = static_cast<To>(~lowest);
  const double above = static_cast<double>(static_cast<To>(1) << (8 * sizeof(To) - 2)) * (is_signed ? 2.0 : 4.0);
  if (x != x) return wide ? static_cast<To>(static_cast<To>(1) << (8 * sizeof(To) - 1)) : static_cast<To>(0);
  if (x >= above) return highest;
  if (x <= (is_signed ? -above : 0.0)) return lowest;
  return static_cast<To>(x);
}
}  // namespace sinter_virtual
#define SINTER_CONVERT(From, from, To, to, wide)                                                                 \
  static inline To __##from##2##to##_rz(From x) { return sinter_virtual::saturate<To>(trunc((double)x), wide); } \
  static inline To __##from##2##to##_rn(From x) { return sinter_virtual::saturate<To>(rint((double)x), wide); }  \
  static inline To __##from##2##to##_rd(From x) { return sinter_virtual::saturate<To>(floor((double)x), wide); } \
  static inline To __##from##2##to##_ru(From x) { return sinter_virtual::saturate<To>(ceil((double)x), wide); }
SINTER_CONVERT(float, float, int, int, false)
SINTER_CONVERT(float, float, unsigned, uint, false)
SINTER_CONVERT(float, float, long long, ll, true)
SINTER_CONVERT(float, float, unsigned long long, ull, true)
SINTER_CONVERT(double, double, int, int, true)
SINTER_CONVERT(double, double, unsigned, uint, true)
SINTER_CONVERT(double, double, long long, ll, true)
SINTER_CONVERT(double, double, unsigned long long, ull, true)
static inline float __int2float_rn(int x) { return static_cast<float>(x); }
static inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
static inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
static inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
static inline double __int2double_rn(int x) { return x; }
static inline double __uint2double_rn(unsigned x) { return x; }
static inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
static inline double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
static inline float __double2float_rn(double x) { return static_cast<float>(x); }

// ---- Atomics: blocks may run on several host threads
namespace sinter_virtual {
template <class T, class F>
static inline T update(T* p, F next) {
  T old, desired;
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  do desired = next(old);
  while (!__atomic_compare_exchange(p, &old, &desired, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}
}  // namespace sinter_virtual
#define SINTER_ATOMICS(T)                                                         \
  static inline T atomicExch(T* p, T v) {                                         \
    return sinter_virtual::update(p, [=](T) { return v; });                       \
  }                                                                               \
  static inline T atomicAdd(T* p, T v) {                                          \
    return sinter_virtual::update(p, [=](T o) { return static_cast<T>(o + v); }); \
  }
#define SINTER_INTEGER_ATOMICS(T)                                                             \
  SINTER_ATOMICS(T)                                                                           \
  static inline T atomicSub(T* p, T v) { return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED); } \
  static inline T atomicAnd(T* p, T v) { return __atomic_fetch_and(p, v, __ATOMIC_RELAXED); } \
  static inline T atomicOr(T* p, T v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }   \
  static inline T atomicXor(T* p, T v) { return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED); } \
  static inline T atomicMax(T* p, T v) {                                                      \
    return sinter_virtual::update(p, [=](T o) { return max(o, v); });                         \
  }                                                                                           \
  static inline T atomicMin(T* p, T v) {                                                      \
    return sinter_virtual::update(p, [=](T o) { return min(o, v); });                         \
  }                                                                                           \
  static inline T atomicCAS(T* p, T expected, T v) {                                          \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);  \
    return expected;                                                                          \
  }
SINTER_ATOMICS(float)
SINTER_ATOMICS(double)
SINTER_INTEGER_ATOMICS(int)
SINTER_INTEGER_ATOMICS(unsigned)
SINTER_INTEGER_ATOMICS(long long)
SINTER_INTEGER_ATOMICS(unsigned long long)
static inline unsigned short atomicCAS(unsigned short* p, unsigned short expected, unsigned short v) {
  __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
static inline unsigned atomicInc(unsigned* p, unsigned limit) {
  return sinter_virtual::update(p, [=](unsigned o) { return o >= limit ? 0u : o + 1; });
}
static inline unsigned atomicDec(unsigned* p, unsigned limit) {
  return sinter_virtual::update(p, [=](unsigned o) { return o == 0 || o > limit ? limit : o - 1; });
}

namespace sinter {

#define SINTER_DEVICE static __device__ __forceinline__

// Division of numbers below 2^63 by a fixed one.
struct WideDivider {
  unsigned long long multiplier, shift;
};
SINTER_DEVICE unsigned long long wide_divide(unsigned long long a, WideDivider d) {
  return (::__umul64hi(a, d.multiplier) + a) >> d.shift;
}

using int64 = long long;

using uint64 = unsigned long long;

template <class T>
struct Unsigned;
template <>
struct Unsigned<int> {
  using type = unsigned;
};
template <>
struct Unsigned<long long> {
  using type = unsigned long long;
};

template <class T>
struct IsFloat {
  static constexpr bool value = false;
};
template <>
struct IsFloat<float> {
  static constexpr bool value = true;
};
template <>
struct IsFloat<double> {
  static constexpr bool value = true;
};

// Truncates and saturates; NaN gives 0.
template <class To, class From>
SINTER_DEVICE To truncate(From a) {
  const From limit = sizeof(To) == 4 ? From(2147483648.0) : From(9223372036854775808.0);
  const To highest = To(typename Unsigned<To>::type(-1) >> 1);
  if (!(a < limit)) return a != a ? To(0) : highest;
  return a < -limit ? To(-highest - 1) : To(a);
}

template <class To, class From, bool Truncates>
struct Conversion {
  static __device__ __forceinline__ To of(From a) { return To(a); }
};
template <class To, class From>
struct Conversion<To, From, true> {
  static __device__ __forceinline__ To of(From a) { return truncate<To>(a); }
};
template <class From>
struct Conversion<bool, From, true> {
  static __device__ __forceinline__ bool of(From a) { return a != From(0); }
};
template <class To, class From>
SINTER_DEVICE To convert(From a) {
  return Conversion<To, From, IsFloat<From>::value && !IsFloat<To>::value>::of(a);
}

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

}  // namespace sinter

struct sinter_add_floor_divide_where_f64_4f08_params {
  double* y0;
  const long long* x0;
  const int* x1;
  const unsigned char* x2;
  const double* x3;
  alignas(8) unsigned long long count;
  alignas(8) unsigned long long extent7;
  alignas(8) sinter::WideDivider divide7;
  alignas(8) unsigned long long extent6;
  alignas(8) sinter::WideDivider divide6;
  alignas(8) unsigned long long extent5;
  alignas(8) sinter::WideDivider divide5;
  alignas(8) unsigned long long extent4;
  alignas(8) sinter::WideDivider divide4;
  alignas(8) unsigned long long extent3;
  alignas(8) sinter::WideDivider divide3;
  alignas(8) unsigned long long extent2;
  alignas(8) sinter::WideDivider divide2;
  alignas(8) unsigned long long extent1;
  alignas(8) sinter::WideDivider divide1;
  alignas(8) long long y0_stride0;
  alignas(8) long long y0_stride1;
  alignas(8) long long y0_stride2;
  alignas(8) long long y0_stride3;
  alignas(8) long long y0_stride4;
  alignas(8) long long y0_stride5;
  alignas(8) long long y0_stride6;
  alignas(8) long long y0_stride7;
  alignas(8) long long x0_stride0;
  alignas(8) long long x0_stride1;
  alignas(8) long long x0_stride2;
  alignas(8) long long x0_stride3;
  alignas(8) long long x0_stride4;
  alignas(8) long long x0_stride5;
  alignas(8) long long x0_stride6;
  alignas(8) long long x0_stride7;
  alignas(8) long long x1_stride0;
  alignas(8) long long x1_stride1;
  alignas(8) long long x1_stride2;
  alignas(8) long long x1_stride3;
  alignas(8) long long x1_stride4;
  alignas(8) long long x1_stride5;
  alignas(8) long long x1_stride6;
  alignas(8) long long x1_stride7;
  alignas(8) long long x2_stride0;
  alignas(8) long long x2_stride1;
  alignas(8) long long x2_stride2;
  alignas(8) long long x2_stride3;
  alignas(8) long long x2_stride4;
  alignas(8) long long x2_stride5;
  alignas(8) long long x2_stride6;
  alignas(8) long long x2_stride7;
  alignas(8) long long x3_stride0;
  alignas(8) long long x3_stride1;
  alignas(8) long long x3_stride2;
  alignas(8) long long x3_stride3;
  alignas(8) long long x3_stride4;
  alignas(8) long long x3_stride5;
  alignas(8) long long x3_stride6;
  alignas(8) long long x3_stride7;
};

namespace sinter {

SINTER_DEVICE void element(const sinter_add_floor_divide_where_f64_4f08_params& p, long long x0, int x1, unsigned char x2, double x3, double& y0) {
  const int64 t0 = convert<int64>(x1);
  const int64 t1 = int64(uint64(x0) + uint64(t0));
  const int64 t2 = 7ll;
  const int64 t3 = floor_divide(t1, t2);
  const double t4 = convert<double>(t3);
  const bool t5 = x2 != 0;
  const double t6 = select(t5, t4, x3);
  y0 = t6;
}

}  // namespace sinter

extern "C" __global__ void __launch_bounds__(256, 1) sinter_add_floor_divide_where_f64_4f08(const __grid_constant__ sinter_add_floor_divide_where_f64_4f08_params p) {
  double* y0 = p.y0;
  const long long* x0 = p.x0;
  const int* x1 = p.x1;
  const unsigned char* x2 = p.x2;
  const double* x3 = p.x3;
  const unsigned long long threads = 1ull * gridDim.x * blockDim.x, thread = 1ull * blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (unsigned long long i = thread; i < p.count; i += threads) {
    const unsigned long long q7 = sinter::wide_divide(i, p.divide7);
    const long long c7 = static_cast<long long>(i - q7 * p.extent7);
    const unsigned long long q6 = sinter::wide_divide(q7, p.divide6);
    const long long c6 = static_cast<long long>(q7 - q6 * p.extent6);
    const unsigned long long q5 = sinter::wide_divide(q6, p.divide5);
    const long long c5 = static_cast<long long>(q6 - q5 * p.extent5);
    const unsigned long long q4 = sinter::wide_divide(q5, p.divide4);
    const long long c4 = static_cast<long long>(q5 - q4 * p.extent4);
    const unsigned long long q3 = sinter::wide_divide(q4, p.divide3);
    const long long c3 = static_cast<long long>(q4 - q3 * p.extent3);
    const unsigned long long q2 = sinter::wide_divide(q3, p.divide2);
    const long long c2 = static_cast<long long>(q3 - q2 * p.extent2);
    const unsigned long long q1 = sinter::wide_divide(q2, p.divide1);
    const long long c1 = static_cast<long long>(q2 - q1 * p.extent1);
    const long long c0 = static_cast<long long>(q1);
    const long long y0_at = c0 * p.y0_stride0 + c1 * p.y0_stride1 + c2 * p.y0_stride2 + c3 * p.y0_stride3 + c4 * p.y0_stride4 + c5 * p.y0_stride5 + c6 * p.y0_stride6 + c7 * p.y0_stride7;
    const long long x0_at = c0 * p.x0_stride0 + c1 * p.x0_stride1 + c2 * p.x0_stride2 + c3 * p.x0_stride3 + c4 * p.x0_stride4 + c5 * p.x0_stride5 + c6 * p.x0_stride6 + c7 * p.x0_stride7;
    const long long x1_at = c0 * p.x1_stride0 + c1 * p.x1_stride1 + c2 * p.x1_stride2 + c3 * p.x1_stride3 + c4 * p.x1_stride4 + c5 * p.x1_stride5 + c6 * p.x1_stride6 + c7 * p.x1_stride7;
    const long long x2_at = c0 * p.x2_stride0 + c1 * p.x2_stride1 + c2 * p.x2_stride2 + c3 * p.x2_stride3 + c4 * p.x2_stride4 + c5 * p.x2_stride5 + c6 * p.x2_stride6 + c7 * p.x2_stride7;
    const long long x3_at = c0 * p.x3_stride0 + c1 * p.x3_stride1 + c2 * p.x3_stride2 + c3 * p.x3_stride3 + c4 * p.x3_stride4 + c5 * p.x3_stride5 + c6 * p.x3_stride6 + c7 * p.x3_stride7;
    sinter::element(p, x0[x0_at], x1[x1_at], x2[x2_at], x3[x3_at], y0[y0_at]);
  }
}

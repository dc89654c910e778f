namespace sinter {

#define SINTER_DEVICE static __device__ __forceinline__

// A precomputed divisor of integers below 2^63.
struct FastDivisor64 {
  unsigned long long multiplier, shift;
};
SINTER_DEVICE unsigned long long fast_divide64(unsigned long long a, FastDivisor64 d) {
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
  const To max_value = To(typename Unsigned<To>::type(-1) >> 1);
  if (!(a < limit)) return a != a ? To(0) : max_value;
  return a < -limit ? To(-max_value - 1) : To(a);
}
template <class From>
SINTER_DEVICE unsigned long long truncate_unsigned(From a) {
  if (!(a < From(18446744073709551616.0))) return a != a ? 0 : ~0ull;
  return a < From(0) ? 0 : static_cast<unsigned long long>(a);
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
struct Conversion<unsigned long long, From, true> {
  static __device__ __forceinline__ unsigned long long of(From a) { return truncate_unsigned(a); }
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

namespace sinter {

struct sinter_add_floor_divide_where_f64_af30_params {
  double* y0;
  const long long* x0;
  const int* x1;
  const unsigned char* x2;
  const double* x3;
  alignas(8) unsigned long long count;
  alignas(8) unsigned long long extent7;
  alignas(8) FastDivisor64 divisor7;
  alignas(8) unsigned long long extent6;
  alignas(8) FastDivisor64 divisor6;
  alignas(8) unsigned long long extent5;
  alignas(8) FastDivisor64 divisor5;
  alignas(8) unsigned long long extent4;
  alignas(8) FastDivisor64 divisor4;
  alignas(8) unsigned long long extent3;
  alignas(8) FastDivisor64 divisor3;
  alignas(8) unsigned long long extent2;
  alignas(8) FastDivisor64 divisor2;
  alignas(8) unsigned long long extent1;
  alignas(8) FastDivisor64 divisor1;
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

SINTER_DEVICE void run(const sinter_add_floor_divide_where_f64_af30_params& p) {
  double* y0_memory = p.y0;
  const long long* x0_memory = p.x0;
  const int* x1_memory = p.x1;
  const unsigned char* x2_memory = p.x2;
  const double* x3_memory = p.x3;
  const unsigned long long t0 = static_cast<unsigned long long>(blockDim.x);
  const unsigned long long thread = ((static_cast<unsigned long long>(blockIdx.x)) * t0) + (static_cast<unsigned long long>(threadIdx.x));
  const unsigned long long threads = (static_cast<unsigned long long>(gridDim.x)) * t0;
#pragma unroll 1
  for (unsigned long long i = thread; i < p.count; i += threads) {
    const unsigned long long d7 = fast_divide64(i, p.divisor7);
    const long long c7 = static_cast<long long>(i - (d7 * p.extent7));
    const unsigned long long d6 = fast_divide64(d7, p.divisor6);
    const long long c6 = static_cast<long long>(d7 - (d6 * p.extent6));
    const unsigned long long d5 = fast_divide64(d6, p.divisor5);
    const long long c5 = static_cast<long long>(d6 - (d5 * p.extent5));
    const unsigned long long d4 = fast_divide64(d5, p.divisor4);
    const long long c4 = static_cast<long long>(d5 - (d4 * p.extent4));
    const unsigned long long d3 = fast_divide64(d4, p.divisor3);
    const long long c3 = static_cast<long long>(d4 - (d3 * p.extent3));
    const unsigned long long d2 = fast_divide64(d3, p.divisor2);
    const long long c2 = static_cast<long long>(d3 - (d2 * p.extent2));
    const unsigned long long d1 = fast_divide64(d2, p.divisor1);
    const long long c1 = static_cast<long long>(d2 - (d1 * p.extent1));
    const long long t1 = static_cast<long long>(d1);
    const long long x0 = x0_memory[(((((((t1 * p.x0_stride0) + (c1 * p.x0_stride1)) + (c2 * p.x0_stride2)) + (c3 * p.x0_stride3)) + (c4 * p.x0_stride4)) + (c5 * p.x0_stride5)) + (c6 * p.x0_stride6)) + (c7 * p.x0_stride7)];
    const int x1 = x1_memory[(((((((t1 * p.x1_stride0) + (c1 * p.x1_stride1)) + (c2 * p.x1_stride2)) + (c3 * p.x1_stride3)) + (c4 * p.x1_stride4)) + (c5 * p.x1_stride5)) + (c6 * p.x1_stride6)) + (c7 * p.x1_stride7)];
    const unsigned char x2 = x2_memory[(((((((t1 * p.x2_stride0) + (c1 * p.x2_stride1)) + (c2 * p.x2_stride2)) + (c3 * p.x2_stride3)) + (c4 * p.x2_stride4)) + (c5 * p.x2_stride5)) + (c6 * p.x2_stride6)) + (c7 * p.x2_stride7)];
    const double x3 = x3_memory[(((((((t1 * p.x3_stride0) + (c1 * p.x3_stride1)) + (c2 * p.x3_stride2)) + (c3 * p.x3_stride3)) + (c4 * p.x3_stride4)) + (c5 * p.x3_stride5)) + (c6 * p.x3_stride6)) + (c7 * p.x3_stride7)];
    const int64 t2 = convert<int64>(x1);
    const int64 t3 = int64(uint64(x0) + uint64(t2));
    const int64 t4 = floor_divide(t3, 7ll);
    const double t5 = convert<double>(t4);
    const bool t6 = convert<bool>(x2);
    const double t7 = select(t6, t5, x3);
    y0_memory[(((((((t1 * p.y0_stride0) + (c1 * p.y0_stride1)) + (c2 * p.y0_stride2)) + (c3 * p.y0_stride3)) + (c4 * p.y0_stride4)) + (c5 * p.y0_stride5)) + (c6 * p.y0_stride6)) + (c7 * p.y0_stride7)] = t7;
  }
}

}  // namespace sinter

extern "C" __global__ void __launch_bounds__(256, 1) sinter_add_floor_divide_where_f64_af30(const __grid_constant__ sinter::sinter_add_floor_divide_where_f64_af30_params p) {
  sinter::run(p);
}

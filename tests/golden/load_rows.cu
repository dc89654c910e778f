namespace sinter {

#define SINTER_DEVICE static __device__ __forceinline__

template <class T, int N>
struct alignas(sizeof(T) * N) Lanes {
  T at[N];
};

// Relaxed loads and stores, of places that other threads may write to as well.
template <class T>
SINTER_DEVICE T load_relaxed(const T* place) {
#ifdef SINTER_VIRTUAL_GPU
  return __atomic_load_n(place, __ATOMIC_RELAXED);
#else
  return *static_cast<const volatile T*>(place);
#endif
}

// Of several values one stays.
template <class T>
SINTER_DEVICE void store_relaxed(T* place, T value) {
#ifdef SINTER_VIRTUAL_GPU
  __atomic_store(place, &value, __ATOMIC_RELAXED);
#else
  *static_cast<volatile T*>(place) = value;
#endif
}

// One of the faults stays until the host has seen it. Not atomic: the word may lie in the host's memory, which a device's
// atomic operations do not reach on every system.
SINTER_DEVICE void report(unsigned* word, unsigned code) {
  if (load_relaxed(word) == 0u) store_relaxed(word, code);
}

// Division of numbers below 2^31 by a fixed one.
struct Divider {
  unsigned multiplier, shift;
};
SINTER_DEVICE unsigned divide(unsigned a, Divider d) {
  return (unsigned(static_cast<unsigned long long>(a) * d.multiplier >> 32) + a) >> d.shift;
}

using int64 = long long;

using uint64 = unsigned long long;

// c times the position that a is among b, counted from the end if negative; 0 where it is none.
SINTER_DEVICE int64 axis_offset(int64 a, int64 b, int64 c) {
  const int64 position = a < 0 ? int64(uint64(a) + uint64(b)) : a;
  return position < 0 || position >= b ? 0 : int64(uint64(position) * uint64(c));
}

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

}  // namespace sinter

struct sinter_axis_offset_add_load_mul_f32_e4e4_params {
  unsigned* fault;
  float* y0;
  const int* x0;
  const long long* x1;
  const float* x2;
  const float* x3;
  alignas(8) unsigned count;
  alignas(8) unsigned extent1;
  alignas(8) sinter::Divider divide1;
  alignas(8) int x0_stride0;
  alignas(8) int x1_stride0;
  alignas(8) long long s0;
  alignas(8) long long s1;
  alignas(8) unsigned outside_code;
};

namespace sinter {

SINTER_DEVICE void element(const sinter_axis_offset_add_load_mul_f32_e4e4_params& p, int x0, long long x1, const float* x2, float x3, float& y0, bool& outside) {
  const int64 t0 = convert<int64>(x0);
  outside |= t0 < -p.s0 || t0 >= p.s0;
  const int64 t1 = axis_offset(t0, p.s0, p.s1);
  const int64 t2 = int64(uint64(t1) + uint64(x1));
  const float t3 = x2[t2];
  const float t4 = t3 * x3;
  y0 = t4;
}

}  // namespace sinter

extern "C" __global__ void __launch_bounds__(256, 1) sinter_axis_offset_add_load_mul_f32_e4e4(const __grid_constant__ sinter_axis_offset_add_load_mul_f32_e4e4_params p) {
  float* y0 = p.y0;
  const int* x0 = p.x0;
  const long long* x1 = p.x1;
  const float* x2 = p.x2;
  const float* x3 = p.x3;
  bool outside = false;
  const unsigned threads = gridDim.x * blockDim.x, thread = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (unsigned i = thread; i < p.count; i += threads) {
    const unsigned q1 = sinter::divide(i, p.divide1);
    const int c1 = int(i - q1 * p.extent1);
    const int c0 = int(q1);
    const int x0_at = c0 * p.x0_stride0;
    const int x1_at = c0 * p.x1_stride0 + c1 * 4;
    sinter::Lanes<float, 4> y0_lanes;
    const int x0_row = x0[x0_at];
    const sinter::Lanes<long long, 4> x1_lanes = *reinterpret_cast<const sinter::Lanes<long long, 4>*>(x1 + x1_at);
    const sinter::Lanes<float, 4> x3_lanes = reinterpret_cast<const sinter::Lanes<float, 4>*>(x3)[i];
#pragma unroll
    for (int l = 0; l < 4; ++l)
      sinter::element(p, x0_row, x1_lanes.at[l], x2, x3_lanes.at[l], y0_lanes.at[l], outside);
    reinterpret_cast<sinter::Lanes<float, 4>*>(y0)[i] = y0_lanes;
  }
  if (outside) sinter::report(p.fault, p.outside_code);
}

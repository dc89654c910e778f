namespace sinter {

#define SINTER_DEVICE static __device__ __forceinline__

template <class T, int N>
struct alignas(sizeof(T) * N) Vec {
  T at[N];
};

// Relaxed accesses to memory that other threads may access concurrently.
template <class T>
SINTER_DEVICE T load_relaxed(const T* address) {
#ifdef SINTER_VIRTUAL_GPU
  return __atomic_load_n(address, __ATOMIC_RELAXED);
#else
  return *static_cast<const volatile T*>(address);
#endif
}

// If several threads store, one value remains.
template <class T>
SINTER_DEVICE void store_relaxed(T* address, T value) {
#ifdef SINTER_VIRTUAL_GPU
  __atomic_store(address, &value, __ATOMIC_RELAXED);
#else
  *static_cast<volatile T*>(address) = value;
#endif
}

// Keeps one of the reported faults until the host has read it. Not atomic: the word may be in host memory, which a
// device's atomic operations do not reach on every system.
SINTER_DEVICE void report(unsigned* word, unsigned code) {
  if (load_relaxed(word) == 0u) store_relaxed(word, code);
}

// A precomputed divisor of integers below 2^31.
struct FastDivisor {
  unsigned multiplier, shift;
};
SINTER_DEVICE unsigned fast_divide(unsigned a, FastDivisor d) {
  return (unsigned(static_cast<unsigned long long>(a) * d.multiplier >> 32) + a) >> d.shift;
}

using int64 = long long;

using uint64 = unsigned long long;

// The stride c times the index a into an axis of extent b; negative indices count from the end. 0 if out of range.
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

}  // namespace sinter

namespace sinter {

struct sinter_axis_offset_add_load_mul_f32_c673_params {
  unsigned* fault;
  float* y0;
  const int* x0;
  const long long* x1;
  const float* x2;
  const float* x3;
  alignas(8) unsigned count;
  alignas(8) unsigned extent1;
  alignas(8) FastDivisor divisor1;
  alignas(8) int x0_stride0;
  alignas(8) int x1_stride0;
  alignas(8) int64 s0;
  alignas(8) int64 s1;
  alignas(8) unsigned index_out_of_range_code;
};

SINTER_DEVICE void run(const sinter_axis_offset_add_load_mul_f32_c673_params& p) {
  bool index_out_of_range = false;
  float* y0_memory = p.y0;
  const int* x0_memory = p.x0;
  const long long* x1_memory = p.x1;
  const float* x2_memory = p.x2;
  const float* x3_memory = p.x3;
  const unsigned t0 = blockDim.x;
  const unsigned thread = (blockIdx.x * t0) + threadIdx.x;
  const unsigned threads = gridDim.x * t0;
#pragma unroll 1
  for (unsigned i = thread; i < p.count / 4; i += threads) {
    const unsigned t1 = i * 4;
    const unsigned d1 = fast_divide(t1, p.divisor1);
    const int c1 = static_cast<int>(t1 - (d1 * p.extent1));
    const int t2 = static_cast<int>(d1);
    const int x0 = x0_memory[t2 * p.x0_stride0];
    const Vec<long long, 4> x1 = *reinterpret_cast<const Vec<long long, 4>*>(x1_memory + ((t2 * p.x1_stride0) + c1));
    const Vec<float, 4> x3 = reinterpret_cast<const Vec<float, 4>*>(x3_memory)[i];
    const int64 t3 = convert<int64>(x0);
    const int64 t4 = int64(-uint64(p.s0));
    const bool t5 = t3 < t4;
    index_out_of_range |= t5;
    const bool t6 = t3 >= p.s0;
    index_out_of_range |= t6;
    const int64 t7 = axis_offset(t3, p.s0, p.s1);
    Vec<float, 4> t8;
#pragma unroll
    for (int l = 0; l < 4; ++l) {
      const int64 t9 = int64(uint64(t7) + uint64(x1.at[l]));
      const float t10 = x2_memory[t9];
      t8.at[l] = t10 * x3.at[l];
    }
    reinterpret_cast<Vec<float, 4>*>(y0_memory)[i] = t8;
  }
  if (index_out_of_range) report(p.fault, p.index_out_of_range_code);
}

}  // namespace sinter

extern "C" __global__ void __launch_bounds__(256, 1) sinter_axis_offset_add_load_mul_f32_c673(const __grid_constant__ sinter::sinter_axis_offset_add_load_mul_f32_c673_params p) {
  sinter::run(p);
}

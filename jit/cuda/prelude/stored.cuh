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

// Complex numbers are stored; arithmetic is on their parts.
struct alignas(8) complex64 {
  float re, im;
};
struct alignas(16) complex128 {
  double re, im;
};
SINTER_DEVICE float real(complex64 a) { return a.re; }
SINTER_DEVICE double real(complex128 a) { return a.re; }
SINTER_DEVICE float imag(complex64 a) { return a.im; }
SINTER_DEVICE double imag(complex128 a) { return a.im; }
SINTER_DEVICE complex64 complex(float re, float im) { return {re, im}; }
SINTER_DEVICE complex128 complex(double re, double im) { return {re, im}; }

// The 16-bit floats are stored; arithmetic is on float. Conversions round to nearest, halves to even.
struct half {
  unsigned short bits;
};
SINTER_DEVICE float half_to_float(half a) {
#if defined(__CUDA_ARCH__) && !defined(SINTER_VIRTUAL_GPU)
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(a.bits));
  return value;
#elif defined(__HIP__)
  return static_cast<float>(__builtin_bit_cast(_Float16, a.bits));
#else
  const unsigned sign = (a.bits & 0x8000u) << 16, magnitude = a.bits & 0x7FFFu;
  const unsigned quiet = magnitude > 0x7C00u ? 0x400000u : 0u;  // as the instruction makes a NaN
  if (magnitude >= 0x7C00) return ::__uint_as_float(sign | 0x7F800000u | quiet | magnitude << 13);
  if (magnitude >= 0x400) return ::__uint_as_float(sign | ((magnitude << 13) + 0x38000000u));
  const float value = ::__uint_as_float((magnitude << 13) + 0x38800000u) - 0x1p-14f;
  return sign ? -value : value;
#endif
}
SINTER_DEVICE half float_to_half(float a) {
#if defined(__CUDA_ARCH__) && !defined(SINTER_VIRTUAL_GPU)
  half value;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(value.bits) : "f"(a));
  return value;
#elif defined(__HIP__)
  return {__builtin_bit_cast(unsigned short, static_cast<_Float16>(a))};
#else
  const unsigned bits = ::__float_as_uint(a), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  unsigned rounded = (magnitude - 0x38000000u + 0xFFFu + (magnitude >> 13 & 1)) >> 13;
  if (magnitude < 0x38800000u) rounded = ::__float_as_uint(::__uint_as_float(magnitude) + 0.5f) - 0x3F000000u;
  if (magnitude >= 0x477FF000u) rounded = magnitude > 0x7F800000u ? 0x7E00u : 0x7C00u;
  return {static_cast<unsigned short>(sign | rounded)};
#endif
}
template <class To>
struct Conversion<To, half, false> {
  static __device__ __forceinline__ To of(half a) { return convert<To>(half_to_float(a)); }
};
template <>
struct Conversion<half, float, true> {
  static __device__ __forceinline__ half of(float a) { return float_to_half(a); }
};

struct bfloat16 {
  unsigned short bits;
};
SINTER_DEVICE float bfloat16_to_float(bfloat16 a) {
#if defined(__CUDA_ARCH__) && !defined(SINTER_VIRTUAL_GPU)
  float value;  // one instruction for either half of a register: extending and shifting are two
  asm("mov.b32 %0, {%1, %2};" : "=f"(value) : "h"(static_cast<unsigned short>(0)), "h"(a.bits));
  return value;
#else
  return ::__uint_as_float(static_cast<unsigned>(a.bits) << 16);
#endif
}
SINTER_DEVICE bfloat16 float_to_bfloat16(float a) {
#if defined(__CUDA_ARCH__) && !defined(SINTER_VIRTUAL_GPU) && __CUDA_ARCH__ >= 800
  bfloat16 value;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(value.bits) : "f"(a));
  return value;
#else
  const unsigned bits = ::__float_as_uint(a);
  if (a != a) return {static_cast<unsigned short>(bits >> 16 | 0x40u)};
  return {static_cast<unsigned short>((bits + 0x7FFFu + (bits >> 16 & 1)) >> 16)};
#endif
}
template <class To>
struct Conversion<To, bfloat16, false> {
  static __device__ __forceinline__ To of(bfloat16 a) { return convert<To>(bfloat16_to_float(a)); }
};
template <>
struct Conversion<bfloat16, float, true> {
  static __device__ __forceinline__ bfloat16 of(float a) { return float_to_bfloat16(a); }
};

// Adds to an element that other threads may add to concurrently.
template <class T>
SINTER_DEVICE void atomic_add(T* address, T value) {
  ::atomicAdd(address, value);
}
SINTER_DEVICE void atomic_add(long long* address, long long value) {
  ::atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value));
}

// The same for complex numbers, part by part: with two concurrent stores, the parts may come from different ones.
template <class T>
SINTER_DEVICE void store_relaxed_parts(T* address, T value) {
  store_relaxed(&address->re, value.re);
  store_relaxed(&address->im, value.im);
}
template <class T>
SINTER_DEVICE void atomic_add_parts(T* address, T value) {
  atomic_add(&address->re, value.re);
  atomic_add(&address->im, value.im);
}

// The same for 16-bit floats, which are rounded each time. Starts with a guess: a plain load would be a data race.
template <class T>
SINTER_DEVICE void atomic_add_16_bits(T* address, T value) {
  unsigned short was = 0, seen;
  for (;; was = seen) {
    const T sum = convert<T>(convert<float>(T{was}) + convert<float>(value));
    seen = ::atomicCAS(&address->bits, was, sum.bits);
    if (seen == was) return;
  }
}

// What kernels call. Each paragraph is one chunk: a kernel's text takes the chunks whose names it uses and what these
// use in turn, nothing else. No header is included, and everything also compiles as C++ on the host.

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

SINTER_DEVICE void or_relaxed(unsigned char* address, unsigned char value) {
  if (value != 0) store_relaxed(address, static_cast<unsigned char>(1));
}

// A precomputed divisor of integers below 2^31.
struct FastDivisor {
  unsigned multiplier, shift;
};
SINTER_DEVICE unsigned fast_divide(unsigned a, FastDivisor d) {
  return (unsigned(static_cast<unsigned long long>(a) * d.multiplier >> 32) + a) >> d.shift;
}

// A precomputed divisor of integers below 2^63.
struct FastDivisor64 {
  unsigned long long multiplier, shift;
};
SINTER_DEVICE unsigned long long fast_divide64(unsigned long long a, FastDivisor64 d) {
  return (::__umul64hi(a, d.multiplier) + a) >> d.shift;
}

SINTER_DEVICE float float_bits(unsigned bits) { return ::__uint_as_float(bits); }

SINTER_DEVICE double double_bits(unsigned long long bits) {
  return ::__longlong_as_double(static_cast<long long>(bits));
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

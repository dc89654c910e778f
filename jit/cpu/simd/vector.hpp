// Vectors of the instruction set that the including file is compiled for, over the compiler's vector extension.
#pragma once
#include <immintrin.h>

#include <cstdint>
#include <type_traits>

#if defined(__AVX512F__)
#define SINTER_ISA avx512
#elif defined(__AVX2__)
#define SINTER_ISA avx2
#else
#define SINTER_ISA sse4
#endif
#define SINTER_INLINE inline __attribute__((always_inline))
#define SINTER_LAMBDA __attribute__((always_inline))

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

/// A bool is stored as a byte; memory from outside may hold any nonzero value for true. Loads normalize it to 0 or 1.
/// Other types are stored as they are.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
/// The signed integer of the same size: the element type of a comparison's result.
template <class T>
using Bits = std::conditional_t<
    sizeof(T) == 8, std::int64_t,
    std::conditional_t<sizeof(T) == 4, std::int32_t, std::conditional_t<sizeof(T) == 2, std::int16_t, std::int8_t>>>;

template <class T>
struct NativeVector {
  using type __attribute__((vector_size(vector_bytes))) = T;
  using unaligned __attribute__((vector_size(vector_bytes), aligned(sizeof(T)), may_alias)) = T;
};
template <class T>
using Native = typename NativeVector<Stored<T>>::type;
template <class T>
using NativeMask = typename NativeVector<Bits<T>>::type;

/// Copies fewer than 64 bytes without a call.
SINTER_INLINE void copy_bytes(void* to, const void* from, int bytes) {
  auto* t = static_cast<char*>(to);
  const auto* f = static_cast<const char*>(from);
  for (; bytes >= 8; bytes -= 8, t += 8, f += 8) __builtin_memcpy(t, f, 8);
  if (bytes & 4) __builtin_memcpy(t, f, 4), t += 4, f += 4;
  if (bytes & 2) __builtin_memcpy(t, f, 2), t += 2, f += 2;
  if (bytes & 1) *t = *f;
}

/// The first `count` elements, at most all, from memory, followed by zeros; nothing else is read.
template <class T>
SINTER_INLINE Native<T> load_first(const Stored<T>* p, int count) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return (Native<T>)_mm512_maskz_loadu_epi32(static_cast<__mmask16>((1u << count) - 1), p);
  else if constexpr (sizeof(T) == 8)
    return (Native<T>)_mm512_maskz_loadu_epi64(static_cast<__mmask8>((1u << count) - 1), p);
  else
    return (Native<T>)_mm512_maskz_loadu_epi8((1ull << count * sizeof(T)) - 1, p);
#else
#if defined(__AVX2__)
  const __m256i iota = sizeof(T) == 8 ? _mm256_setr_epi64x(0, 1, 2, 3) : _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  if constexpr (sizeof(T) == 4)
    return (Native<T>)_mm256_maskload_epi32((const int*)p, _mm256_cmpgt_epi32(_mm256_set1_epi32(count), iota));
  if constexpr (sizeof(T) == 8)
    return (Native<T>)_mm256_maskload_epi64((const long long*)p, _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), iota));
#endif
  Native<T> v{};
  copy_bytes(&v, p, count * static_cast<int>(sizeof(T)));
  return v;
#endif
}

template <class T>
SINTER_INLINE void store_first(Stored<T>* p, Native<T> v, int count) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    _mm512_mask_storeu_epi32(p, static_cast<__mmask16>((1u << count) - 1), (__m512i)v);
  else if constexpr (sizeof(T) == 8)
    _mm512_mask_storeu_epi64(p, static_cast<__mmask8>((1u << count) - 1), (__m512i)v);
  else
    _mm512_mask_storeu_epi8(p, (1ull << count * sizeof(T)) - 1, (__m512i)v);
#else
#if defined(__AVX2__)
  const __m256i iota = sizeof(T) == 8 ? _mm256_setr_epi64x(0, 1, 2, 3) : _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  if constexpr (sizeof(T) == 4)
    return _mm256_maskstore_epi32((int*)p, _mm256_cmpgt_epi32(_mm256_set1_epi32(count), iota), (__m256i)v);
  if constexpr (sizeof(T) == 8)
    return _mm256_maskstore_epi64((long long*)p, _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), iota), (__m256i)v);
#endif
  copy_bytes(p, &v, count * static_cast<int>(sizeof(T)));
#endif
}

/// Converts loaded elements to values: bools become 0 or 1, by one instruction that compilers do not find.
template <class T>
SINTER_INLINE Native<T> value_of_stored(Native<T> stored) {
  if constexpr (std::is_same_v<T, bool>) {
    const Native<T> combine_scalars = Native<T>{} + 1;
#if defined(__AVX512F__)
    return (Native<T>)_mm512_min_epu8((__m512i)stored, (__m512i)combine_scalars);
#elif defined(__AVX2__)
    return (Native<T>)_mm256_min_epu8((__m256i)stored, (__m256i)combine_scalars);
#else
    return (Native<T>)_mm_min_epu8((__m128i)stored, (__m128i)combine_scalars);
#endif
  } else {
    return stored;
  }
}
template <class T>
SINTER_INLINE Stored<T> value_of_stored(const Stored<T>* p) {
  if constexpr (std::is_same_v<T, bool>)
    return *p != 0;
  else
    return *p;
}

template <class T>
struct Mask;

/// The number of elements in a register.
template <class T>
struct Vec {
  using element = Stored<T>;
  static constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));
  Native<T> v;

  Vec() = default;
  SINTER_INLINE Vec(Native<T> n) : v(n) {}
  /// A broadcast. For bools the values are 0 and 1.
  template <class S>
    requires std::is_arithmetic_v<S>
  explicit SINTER_INLINE Vec(S s) : v(broadcast_value(static_cast<element>(static_cast<T>(s)))) {}

  static SINTER_INLINE Vec load(const element* p) {
    return value_of_stored<T>((Native<T>)*reinterpret_cast<const typename NativeVector<element>::unaligned*>(p));
  }
  static SINTER_INLINE Vec load(const element* p, int count) { return value_of_stored<T>(load_first<T>(p, count)); }
  static SINTER_INLINE Vec broadcast(const element* p) {
    element s;
    __builtin_memcpy(&s, p, sizeof s);  // copies read words of any type
    return value_of_stored<T>(broadcast_value(s));
  }
  SINTER_INLINE void store(element* p) const { *reinterpret_cast<typename NativeVector<element>::unaligned*>(p) = v; }
  SINTER_INLINE void store(element* p, int count) const { store_first<T>(p, v, count); }

  friend SINTER_INLINE Vec operator&(Vec a, Vec b) { return {(Native<T>)((NativeMask<T>)a.v & (NativeMask<T>)b.v)}; }
  friend SINTER_INLINE Vec operator|(Vec a, Vec b) { return {(Native<T>)((NativeMask<T>)a.v | (NativeMask<T>)b.v)}; }
  friend SINTER_INLINE Vec operator^(Vec a, Vec b) { return {(Native<T>)((NativeMask<T>)a.v ^ (NativeMask<T>)b.v)}; }
  friend SINTER_INLINE Vec operator+(Vec a, Vec b) {
    if constexpr (std::is_same_v<T, bool>)
      return a | b;
    else
      return {a.v + b.v};
  }
  friend SINTER_INLINE Vec operator*(Vec a, Vec b) {
    if constexpr (std::is_same_v<T, bool>)
      return a & b;
    else
      return {a.v * b.v};
  }
  friend SINTER_INLINE Vec operator-(Vec a, Vec b) { return {a.v - b.v}; }
  friend SINTER_INLINE Vec operator/(Vec a, Vec b)
    requires std::is_floating_point_v<T>
  {
    return {a.v / b.v};
  }
  friend SINTER_INLINE Vec operator-(Vec a) { return {-a.v}; }
  friend SINTER_INLINE Vec operator!(Vec a)
    requires std::is_same_v<T, bool>
  {
    return a ^ Vec(1);
  }

  friend SINTER_INLINE Mask<T> operator==(Vec a, Vec b) { return {(NativeMask<T>)(a.v == b.v)}; }
  friend SINTER_INLINE Mask<T> operator!=(Vec a, Vec b) { return {(NativeMask<T>)(a.v != b.v)}; }
  friend SINTER_INLINE Mask<T> operator<(Vec a, Vec b) { return {(NativeMask<T>)(a.v < b.v)}; }
  friend SINTER_INLINE Mask<T> operator<=(Vec a, Vec b) { return {(NativeMask<T>)(a.v <= b.v)}; }
  friend SINTER_INLINE Mask<T> operator>(Vec a, Vec b) { return {(NativeMask<T>)(a.v > b.v)}; }
  friend SINTER_INLINE Mask<T> operator>=(Vec a, Vec b) { return {(NativeMask<T>)(a.v >= b.v)}; }

 private:
  static SINTER_INLINE Native<T> broadcast_value(element s) {
    if constexpr (std::is_floating_point_v<T>)
      return s - Native<T>{};  // s + 0 would lose the sign of -0
    else
      return Native<T>{} + s;
  }
};

/// The result of comparing Vec<T>: each lane has all bits set or none. In memory, one bool per lane.
template <class T>
struct Mask {
  using element = std::uint8_t;
  static constexpr int lanes = Vec<T>::lanes;
  NativeMask<T> v;

  static SINTER_INLINE Mask load(const element* p) { return {widen(p) != 0}; }
  static SINTER_INLINE Mask load(const element* p, int count) {
    alignas(16) element bytes[vector_bytes] = {};
    copy_bytes(bytes, p, count);
    return load(bytes);
  }
  static SINTER_INLINE Mask broadcast(const element* p) { return {(NativeMask<T>{} + static_cast<Bits<T>>(*p)) != 0}; }
  SINTER_INLINE void store(element* p) const;
  SINTER_INLINE void store(element* p, int count) const {
    alignas(16) element bytes[vector_bytes];
    store(bytes);
    copy_bytes(p, bytes, count);
  }

  friend SINTER_INLINE Mask operator&(Mask a, Mask b) { return {a.v & b.v}; }
  friend SINTER_INLINE Mask operator|(Mask a, Mask b) { return {a.v | b.v}; }
  friend SINTER_INLINE Mask operator^(Mask a, Mask b) { return {a.v ^ b.v}; }
  friend SINTER_INLINE Mask operator!(Mask a) { return {~a.v}; }

 private:
  static SINTER_INLINE NativeMask<T> widen(const element* p);
};

/// x where the mask is set, else y.
template <class T>
SINTER_INLINE Vec<T> select(Mask<T> m, Vec<T> x, Vec<T> y) {
  return {m.v ? x.v : y.v};
}

/// Whether any lane is set.
template <class T>
SINTER_INLINE bool any(Mask<T> m) {
#if defined(__AVX512F__)
  return _mm512_test_epi64_mask((__m512i)m.v, (__m512i)m.v) != 0;
#elif defined(__AVX2__)
  return !_mm256_testz_si256((__m256i)m.v, (__m256i)m.v);
#else
  return !_mm_testz_si128((__m128i)m.v, (__m128i)m.v);
#endif
}

template <class T>
SINTER_INLINE NativeMask<T> Mask<T>::widen(const element* p) {
  if constexpr (sizeof(T) == 1) {
    return *reinterpret_cast<const typename NativeVector<std::int8_t>::unaligned*>(p);
  } else {
    __m128i bytes = _mm_setzero_si128();
    __builtin_memcpy(&bytes, p, lanes);
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4) return (NativeMask<T>)_mm512_maskz_cvtepu8_epi32(0xFFFF, bytes);
    if constexpr (sizeof(T) == 8) return (NativeMask<T>)_mm512_maskz_cvtepu8_epi64(0xFF, bytes);
#elif defined(__AVX2__)
    if constexpr (sizeof(T) == 4) return (NativeMask<T>)_mm256_cvtepu8_epi32(bytes);
    if constexpr (sizeof(T) == 8) return (NativeMask<T>)_mm256_cvtepu8_epi64(bytes);
#else
    if constexpr (sizeof(T) == 4) return (NativeMask<T>)_mm_cvtepu8_epi32(bytes);
    if constexpr (sizeof(T) == 8) return (NativeMask<T>)_mm_cvtepu8_epi64(bytes);
#endif
  }
}

template <class T>
SINTER_INLINE void Mask<T>::store(element* p) const {
  if constexpr (sizeof(T) == 1) {
    *reinterpret_cast<typename NativeVector<std::int8_t>::unaligned*>(p) = v & 1;
  } else {
#if defined(__AVX512F__)
    __m128i bytes;
    if constexpr (sizeof(T) == 4)
      bytes = _mm_maskz_set1_epi8(_mm512_movepi32_mask((__m512i)v), 1);
    else
      bytes = _mm_maskz_set1_epi8(_mm512_movepi64_mask((__m512i)v), 1);
#else
#if defined(__AVX2__)
    const __m128i low = _mm256_castsi256_si128((__m256i)v), high = _mm256_extracti128_si256((__m256i)v, 1);
#else
    const __m128i low = (__m128i)v, high = low;
#endif
    __m128i bytes = _mm_packs_epi32(low, high);
    if constexpr (sizeof(T) == 8) bytes = _mm_packs_epi32(bytes, bytes);
    bytes = _mm_and_si128(_mm_packs_epi16(bytes, bytes), _mm_set1_epi8(1));
#endif
    __builtin_memcpy(p, &bytes, lanes);
  }
}

/// Applies f to each lane of x and y (and z), one by one: for functions without a useful vector form.
template <class R, class V, class F>
SINTER_INLINE R by_lane(F f, V x, V y) {
  R r;
  for (int i = 0; i < V::lanes; ++i) r.v[i] = f(x.v[i], y.v[i]);
  return r;
}
template <class R, class V, class F>
SINTER_INLINE R by_lane(F f, V x, V y, V z) {
  R r;
  for (int i = 0; i < V::lanes; ++i) r.v[i] = f(x.v[i], y.v[i], z.v[i]);
  return r;
}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

// What needs intrinsics of SSE4.2, AVX2 or AVX-512; native_neon.hpp has the same functions, but for those that only
// AVX-512 has or that stand in for fused multiply-adds. The maskz forms of AVX-512 avoid g++ 12's warnings about
// uninitialized values.
#pragma once
// Loops that are compiled at run time: g++ takes three times as long to read all of <immintrin.h> as for the rest. Its
// parts may be included by nothing else, so this is for the version that it was tried with.
#if !defined(SINTER_FEW_INTRINSICS) || defined(__clang__) || __GNUC__ != 12
#include <immintrin.h>
#else
// clang-format off: each needs the ones before it.
#define _IMMINTRIN_H_INCLUDED
#undef __OPTIMIZE__  // functions with constant operands are then macros, which are read sooner
#include <smmintrin.h>
#if defined(__AVX2__) || defined(__AVX512F__)
#include <avxintrin.h>
#include <avx2intrin.h>
#include <fmaintrin.h>
#include <f16cintrin.h>
#endif
#if defined(__AVX512F__)
#include <avx512fintrin.h>
using __mmask32 = unsigned;  // of <avx512vlintrin.h>, the longest of all
#include <avx512bwintrin.h>
#include <avx512dqintrin.h>
#endif
// clang-format on
#endif

#include "native_types.hpp"

/// Whether there are fused multiply-adds, conversions of float16, loads and stores of a vector's first elements.
#if defined(__FMA__)
#define SINTER_HAS_FMA 1
#else
#define SINTER_HAS_FMA 0
#endif
#if defined(__F16C__) || defined(__AVX512F__)
#define SINTER_HAS_FLOAT16 1
#else
#define SINTER_HAS_FLOAT16 0
#endif
#if defined(__AVX2__)
#define SINTER_HAS_MASKED_MEMORY 1
#else
#define SINTER_HAS_MASKED_MEMORY 0
#endif

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

/// The first `count` elements, fewer than all, from memory, followed by zeros; nothing else is read.
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

inline constexpr bool has_streams = true;
/// A non-temporal store, which does not read the line into the caches; p is a multiple of the vector's size.
template <class V>
SINTER_INLINE void stream(void* p, const V& v) {
#if defined(__AVX512F__)
  if constexpr (sizeof v == 64) return _mm512_stream_si512(static_cast<__m512i*>(p), (__m512i)v);
#endif
#if defined(__AVX2__) || defined(__AVX512F__)
  if constexpr (sizeof v == 32) return _mm256_stream_si256(static_cast<__m256i*>(p), (__m256i)v);
#endif
  if constexpr (sizeof v == 16) _mm_stream_si128(static_cast<__m128i*>(p), (__m128i)v);
}

/// The first bytes of a part of a vector, as load_first() and store_first().
template <class Part>
SINTER_INLINE void load_first_bytes(Part& to, const void* p, int bytes) {
#if defined(__AVX512F__)
  const __m512i whole = _mm512_maskz_loadu_epi8((1ull << bytes) - 1, p);
  const auto set = [&](auto v) SINTER_LAMBDA { __builtin_memcpy(&to, &v, sizeof to); };
  if constexpr (sizeof to == 64)
    set(whole);
  else if constexpr (sizeof to == 32)
    set(_mm512_maskz_extracti64x4_epi64(0xF, whole, 0));
  else
    set(_mm512_maskz_extracti32x4_epi32(0xF, whole, 0));
#else
  __builtin_memset(&to, 0, sizeof to);
  copy_bytes(&to, p, bytes);
#endif
}
template <class Part>
SINTER_INLINE void store_first_bytes(void* p, const Part& from, int bytes) {
#if defined(__AVX512F__)
  const auto get = [&](auto v) SINTER_LAMBDA {
    __builtin_memcpy(&v, &from, sizeof from);
    return v;
  };
  __m512i whole;
  if constexpr (sizeof from == 64)
    whole = get(__m512i());
  else if constexpr (sizeof from == 32)
    whole = _mm512_castsi256_si512(get(__m256i()));
  else
    whole = _mm512_castsi128_si512(get(__m128i()));
  _mm512_mask_storeu_epi8(p, (1ull << bytes) - 1, whole);
#else
  copy_bytes(p, &from, bytes);
#endif
}

/// A vector of two halves.
template <class V, class HalfVector>
SINTER_INLINE V joined(HalfVector low, HalfVector high) {
#if defined(__AVX512F__)
  return (V)_mm512_inserti64x4(_mm512_castsi256_si512((__m256i)low), (__m256i)high, 1);
#elif defined(__AVX2__)
  return (V)_mm256_inserti128_si256(_mm256_castsi128_si256((__m128i)low), (__m128i)high, 1);
#else
  return (V)_mm_set_epi64x((long long)high, (long long)low);
#endif
}
/// An operand of inline assembly that is a vector.
#define SINTER_VECTOR_OPERAND(v) "+v"(v)

/// The smaller of each two bytes, which compilers do not find.
SINTER_INLINE Native<std::uint8_t> native_min(Native<std::uint8_t> a, Native<std::uint8_t> b) {
#if defined(__AVX512F__)
  return (Native<std::uint8_t>)_mm512_min_epu8((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Native<std::uint8_t>)_mm256_min_epu8((__m256i)a, (__m256i)b);
#else
  return (Native<std::uint8_t>)_mm_min_epu8((__m128i)a, (__m128i)b);
#endif
}

/// Whether any bit is set.
template <class N>
SINTER_INLINE bool any_bit(N v) {
#if defined(__AVX512F__)
  return _mm512_test_epi64_mask((__m512i)v, (__m512i)v) != 0;
#elif defined(__AVX2__)
  return !_mm256_testz_si256((__m256i)v, (__m256i)v);
#else
  return !_mm_testz_si128((__m128i)v, (__m128i)v);
#endif
}

/// As many bytes as a vector has elements of T, each as an element of T's size.
template <class T>
SINTER_INLINE NativeMask<T> widened_bytes(const std::uint8_t* p) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  __m128i bytes = _mm_setzero_si128();
  __builtin_memcpy(&bytes, p, vector_bytes / sizeof(T));
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
/// The lanes of a mask as bytes that are 0 or 1.
template <class T>
SINTER_INLINE void store_as_bytes(std::uint8_t* p, NativeMask<T> v) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
#if defined(__AVX512F__)
  __m128i bytes;
  if constexpr (sizeof(T) == 4)
    bytes = _mm_and_si128(_mm512_maskz_cvtepi32_epi8(0xffff, (__m512i)v), _mm_set1_epi8(1));
  else
    bytes = _mm_and_si128(_mm512_maskz_cvtepi64_epi8(0xff, (__m512i)v), _mm_set1_epi8(1));
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
  __builtin_memcpy(p, &bytes, vector_bytes / sizeof(T));
}

#if defined(__AVX512F__)
#define SINTER_NATIVE1(name, op, ...)                                            \
  SINTER_INLINE Native<float> native_##name(Native<float> a) {                   \
    return (Native<float>)_mm512_maskz_##op##_ps(0xFFFF, (__m512)a __VA_ARGS__); \
  }                                                                              \
  SINTER_INLINE Native<double> native_##name(Native<double> a) {                 \
    return (Native<double>)_mm512_maskz_##op##_pd(0xFF, (__m512d)a __VA_ARGS__); \
  }
#define SINTER_NATIVE2(name, op)                                                   \
  SINTER_INLINE Native<float> native_##name(Native<float> a, Native<float> b) {    \
    return (Native<float>)_mm512_maskz_##op##_ps(0xFFFF, (__m512)a, (__m512)b);    \
  }                                                                                \
  SINTER_INLINE Native<double> native_##name(Native<double> a, Native<double> b) { \
    return (Native<double>)_mm512_maskz_##op##_pd(0xFF, (__m512d)a, (__m512d)b);   \
  }
#define SINTER_ROUND roundscale
#else
#if defined(__AVX2__)
#define SINTER_PREFIX(op) _mm256_##op
#else
#define SINTER_PREFIX(op) _mm_##op
#endif
#define SINTER_NATIVE1(name, op, ...)                             \
  SINTER_INLINE Native<float> native_##name(Native<float> a) {    \
    return (Native<float>)SINTER_PREFIX(op##_ps)(a __VA_ARGS__);  \
  }                                                               \
  SINTER_INLINE Native<double> native_##name(Native<double> a) {  \
    return (Native<double>)SINTER_PREFIX(op##_pd)(a __VA_ARGS__); \
  }
#define SINTER_NATIVE2(name, op)                                                   \
  SINTER_INLINE Native<float> native_##name(Native<float> a, Native<float> b) {    \
    return (Native<float>)SINTER_PREFIX(op##_ps)(a, b);                            \
  }                                                                                \
  SINTER_INLINE Native<double> native_##name(Native<double> a, Native<double> b) { \
    return (Native<double>)SINTER_PREFIX(op##_pd)(a, b);                           \
  }
#define SINTER_ROUND round
#endif
#define SINTER_EXPAND1(name, op, ...) SINTER_NATIVE1(name, op, __VA_ARGS__)
SINTER_NATIVE1(sqrt, sqrt, )
SINTER_EXPAND1(round, SINTER_ROUND, , 8)
SINTER_EXPAND1(floor, SINTER_ROUND, , 9)
SINTER_EXPAND1(ceil, SINTER_ROUND, , 10)
SINTER_EXPAND1(trunc, SINTER_ROUND, , 11)
// These return the second operand if the operands are equal or one is NaN.
SINTER_NATIVE2(max, max)
SINTER_NATIVE2(min, min)
#undef SINTER_NATIVE1
#undef SINTER_NATIVE2
#undef SINTER_EXPAND1
#undef SINTER_ROUND
#undef SINTER_PREFIX

#if SINTER_HAS_FMA
/// a * b + c, and c - a * b, rounded once.
#if defined(__AVX512F__)
#define SINTER_PREFIX(op) _mm512_##op
#else
#define SINTER_PREFIX(op) _mm256_##op
#endif
#define SINTER_NATIVE3(name, op)                                                                     \
  SINTER_INLINE Native<float> native_##name(Native<float> a, Native<float> b, Native<float> c) {     \
    return (Native<float>)SINTER_PREFIX(op##_ps)(a, b, c);                                           \
  }                                                                                                  \
  SINTER_INLINE Native<double> native_##name(Native<double> a, Native<double> b, Native<double> c) { \
    return (Native<double>)SINTER_PREFIX(op##_pd)(a, b, c);                                          \
  }
SINTER_NATIVE3(fma, fmadd)
SINTER_NATIVE3(fnma, fnmadd)
#undef SINTER_NATIVE3
#undef SINTER_PREFIX
#endif

/// 1 / x to about 12 bits, with AVX-512 to 14.
SINTER_INLINE Native<float> reciprocal_estimate(Native<float> x) {
#if defined(__AVX512F__)
  return (Native<float>)_mm512_maskz_rcp14_ps(0xFFFF, (__m512)x);
#elif defined(__AVX2__)
  return (Native<float>)_mm256_rcp_ps(x);
#else
  return (Native<float>)_mm_rcp_ps(x);
#endif
}

#if defined(__AVX512F__)
/// y * 2^n for integers n, rounded once.
SINTER_INLINE Native<float> native_scale(Native<float> y, Native<float> n) {
  return (Native<float>)_mm512_maskz_scalef_ps(0xFFFF, (__m512)y, (__m512)n);
}
SINTER_INLINE Native<double> native_scale(Native<double> y, Native<double> n) {
  return (Native<double>)_mm512_maskz_scalef_pd(0xFF, (__m512d)y, (__m512d)n);
}
#endif

/// x where a or b is NaN, else y.
SINTER_INLINE Native<float> select_unordered(Native<float> a, Native<float> b, Native<float> x, Native<float> y) {
#if defined(__AVX512F__)
  return (Native<float>)_mm512_mask_blend_ps(_mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_UNORD_Q), (__m512)y,
                                             (__m512)x);
#elif defined(__AVX2__)
  return (Native<float>)_mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_UNORD_Q));
#else
  return (Native<float>)_mm_blendv_ps(y, x, _mm_cmpunord_ps(a, b));
#endif
}
SINTER_INLINE Native<double> select_unordered(Native<double> a, Native<double> b, Native<double> x, Native<double> y) {
#if defined(__AVX512F__)
  return (Native<double>)_mm512_mask_blend_pd(_mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_UNORD_Q), (__m512d)y,
                                              (__m512d)x);
#elif defined(__AVX2__)
  return (Native<double>)_mm256_blendv_pd(y, x, _mm256_cmp_pd(a, b, _CMP_UNORD_Q));
#else
  return (Native<double>)_mm_blendv_pd(y, x, _mm_cmpunord_pd(a, b));
#endif
}

/// Collects which of the elements are NaN.
template <class T>
struct NativeNans {
#if defined(__AVX512F__)
  std::conditional_t<sizeof(T) == 4, __mmask16, __mmask8> seen = 0;
  SINTER_INLINE void add(Native<T> a, Native<T> b) {
    if constexpr (sizeof(T) == 4)
      seen = _kor_mask16(seen, _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_UNORD_Q));
    else
      seen = _kor_mask8(seen, _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_UNORD_Q));
  }
  SINTER_INLINE bool any() const { return seen != 0; }
#else
  NativeMask<T> seen{};
  SINTER_INLINE void add(Native<T> a, Native<T> b) {
#if defined(__AVX2__)
    if constexpr (sizeof(T) == 4)
      seen |= (NativeMask<T>)_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_UNORD_Q);
    else
      seen |= (NativeMask<T>)_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_UNORD_Q);
#else
    if constexpr (sizeof(T) == 4)
      seen |= (NativeMask<T>)_mm_cmpunord_ps((__m128)a, (__m128)b);
    else
      seen |= (NativeMask<T>)_mm_cmpunord_pd((__m128d)a, (__m128d)b);
#endif
  }
  SINTER_INLINE bool any() const { return any_bit(seen); }
#endif
};

/// The first half of the floats as doubles, and the second one.
SINTER_INLINE Native<double> low_doubles(Native<float> a) {
#if defined(__AVX512F__)
  using Half __attribute__((vector_size(32))) = float;
  const Half low = __builtin_shufflevector(a, a, 0, 1, 2, 3, 4, 5, 6, 7);
  return __builtin_convertvector(low, Native<double>);
#elif defined(__AVX2__)
  return (Native<double>)_mm256_cvtps_pd(_mm256_castps256_ps128(a));
#else
  return (Native<double>)_mm_cvtps_pd(a);
#endif
}
SINTER_INLINE Native<double> high_doubles(Native<float> a) {
#if defined(__AVX512F__)
  using Half __attribute__((vector_size(32))) = float;
  const Half high = __builtin_shufflevector(a, a, 8, 9, 10, 11, 12, 13, 14, 15);
  return __builtin_convertvector(high, Native<double>);
#elif defined(__AVX2__)
  return (Native<double>)_mm256_cvtps_pd(_mm256_extractf128_ps(a, 1));
#else
  return (Native<double>)_mm_cvtps_pd(_mm_movehl_ps(a, a));
#endif
}
#if !SINTER_HAS_FMA
SINTER_INLINE Native<float> to_floats(Native<double> low, Native<double> high) {
  return (Native<float>)_mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}
#endif

using FloatBits = NativeVector<std::uint32_t>::type;

/// The bits of as many 16-bit floats as a vector has floats, each in the lower half of 32 bits; compilers split
/// conversions between such vectors into scalar ones. (gcc does not diagnose the masked forms' reads of undefined
/// lanes.)
SINTER_INLINE FloatBits load_bits(const void* p) {
#if defined(__AVX512F__)
  return (FloatBits)_mm512_maskz_cvtepu16_epi32(0xFFFF, _mm256_loadu_si256(static_cast<const __m256i*>(p)));
#elif defined(__AVX2__)
  return (FloatBits)_mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)));
#else
  return (FloatBits)_mm_cvtepu16_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p)));
#endif
}
SINTER_INLINE void store_bits(void* p, FloatBits bits) {
#if defined(__AVX512F__)
  _mm256_storeu_si256(static_cast<__m256i*>(p), _mm512_maskz_cvtepi32_epi16(0xFFFF, (__m512i)bits));
#elif defined(__AVX2__)
  const __m256i halves = _mm256_packus_epi32((__m256i)bits, (__m256i)bits);  // packs each 128-bit half separately
  _mm_storeu_si128(static_cast<__m128i*>(p), _mm256_castsi256_si128(_mm256_permute4x64_epi64(halves, 0x08)));
#else
  _mm_storel_epi64(static_cast<__m128i*>(p), _mm_packus_epi32((__m128i)bits, (__m128i)bits));
#endif
}

#if defined(__AVX512F__)
/// Rounds to bfloat16; NaN stays one.
SINTER_INLINE FloatBits rounded_bfloat16(Native<float> v) {
  const __m512i bits = (__m512i)v;
  const __mmask16 is_odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
  const __mmask16 is_nan = _mm512_cmp_ps_mask((__m512)v, (__m512)v, _CMP_UNORD_Q);
  __m512i rounded = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF));
  rounded = _mm512_mask_add_epi32(rounded, is_odd, bits, _mm512_set1_epi32(0x8000));
  return (FloatBits)_mm512_mask_or_epi32(rounded, is_nan, bits, _mm512_set1_epi32(0x400000)) >> 16;
}
#endif

#if SINTER_HAS_FLOAT16
/// Between float16 in memory and floats, rounded to the nearest.
SINTER_INLINE Native<float> load_float16(const void* p) {
#if defined(__AVX512F__)
  return (Native<float>)_mm512_maskz_cvtph_ps(0xFFFF, _mm256_loadu_si256(static_cast<const __m256i*>(p)));
#else
  return (Native<float>)_mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(p)));
#endif
}
SINTER_INLINE void store_float16(void* p, Native<float> v) {
#if defined(__AVX512F__)
  _mm256_storeu_si256(static_cast<__m256i*>(p), _mm512_maskz_cvtps_ph(0xFFFF, (__m512)v, _MM_FROUND_TO_NEAREST_INT));
#else
  _mm_storeu_si128(static_cast<__m128i*>(p), _mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT));
#endif
}
#endif

/// The products of the elements' low halves.
SINTER_INLINE Native<std::int64_t> multiply_words(Native<std::int64_t> a, Native<std::int64_t> b) {
#if defined(__AVX512F__)
  return (Native<std::int64_t>)_mm512_maskz_mul_epu32(0xFF, (__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Native<std::int64_t>)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#else
  return (Native<std::int64_t>)_mm_mul_epu32((__m128i)a, (__m128i)b);
#endif
}

/// At the end of functions whose calls the compiler does not see through: SSE code would be slow otherwise.
SINTER_INLINE void clear_upper_halves() {
#if defined(__AVX__)
  _mm256_zeroupper();
#endif
}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

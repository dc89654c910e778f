// 16-bit floats to float and back, as runtime/half.hpp defines it but for the bits in a NaN: with this instruction
// set's conversions, else in arithmetic on vectors.
#pragma once
#include "vector.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

struct Half {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

SINTER_INLINE float float_of(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
SINTER_INLINE std::uint32_t bits_of(float value) { return __builtin_bit_cast(std::uint32_t, value); }

SINTER_INLINE float to_float(Half h) {
  const std::uint32_t magnitude = h.bits & 0x7FFFu;
  const std::uint32_t tiny = bits_of(float_of((magnitude << 13) + 0x38800000) - 0x1p-14f);
  const std::uint32_t finite = magnitude < 0x400 ? tiny : (magnitude << 13) + 0x38000000;
  return float_of((h.bits & 0x8000u) << 16 | (magnitude < 0x7C00 ? finite : magnitude << 13 | 0x7F800000));
}
SINTER_INLINE float to_float(BFloat16 b) { return float_of(static_cast<std::uint32_t>(b.bits) << 16); }

SINTER_INLINE Half to_half(float value) {
  const std::uint32_t bits = bits_of(value), magnitude = bits & 0x7FFFFFFF;
  const std::uint32_t tiny = bits_of(float_of(magnitude) + 0.5f) - 0x3F000000;
  const std::uint32_t usual = (magnitude - 0x38000000 + 0xFFF + (magnitude >> 13 & 1)) >> 13;
  const std::uint32_t finite = magnitude < 0x38800000 ? tiny : usual;
  const std::uint32_t rounded = magnitude >= 0x477FF000 ? 0x7C00 : finite;
  return {static_cast<std::uint16_t>((bits >> 16 & 0x8000) | (magnitude > 0x7F800000 ? 0x7E00 : rounded))};
}
SINTER_INLINE BFloat16 to_bfloat16(float value) {
  const std::uint32_t bits = bits_of(value);
  const std::uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  const bool nan = (bits & 0x7FFFFFFF) > 0x7F800000;
  return {static_cast<std::uint16_t>(nan ? bits >> 16 | 0x40 : rounded)};
}

/// As many elements from the row's start as the instruction set converts at once; the caller converts the others.
SINTER_INLINE std::int64_t widen_row(float* to, const Half* from, std::int64_t n) {
  std::int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16)
    _mm512_storeu_ps(to + i,
                     _mm512_maskz_cvtph_ps(0xFFFF, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i))));
#elif defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
#else
  static_cast<void>(to), static_cast<void>(from), static_cast<void>(n);
#endif
  return i;
}
SINTER_INLINE std::int64_t narrow_row(Half* to, const float* from, std::int64_t n) {
  std::int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm512_maskz_cvtps_ph(0xFFFF, _mm512_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#else
  static_cast<void>(to), static_cast<void>(from), static_cast<void>(n);
#endif
  return i;
}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

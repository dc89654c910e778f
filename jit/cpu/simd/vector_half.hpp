// Conversions between 16-bit floats and float as in runtime/half.hpp, except for NaN payloads: by this instruction
// set's conversions, or by vector arithmetic.
#pragma once
#include "vector.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

struct Half {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

// Each function is for one element or for a vector: U holds the bits, those of 16-bit floats in its lower half.
template <class F, class U>
SINTER_INLINE F half_to_float(U bits) {
  const U magnitude = bits & 0x7FFFu;
  const U tiny = __builtin_bit_cast(U, __builtin_bit_cast(F, (magnitude << 13) + 0x38800000u) - 0x1p-14f);
  const U finite = magnitude < 0x400u ? tiny : (magnitude << 13) + 0x38000000u;
  return __builtin_bit_cast(F, (bits & 0x8000u) << 16 | (magnitude < 0x7C00u ? finite : magnitude << 13 | 0x7F800000u));
}
template <class U, class F>
SINTER_INLINE U float_to_half(F value) {
  const U bits = __builtin_bit_cast(U, value), magnitude = bits & 0x7FFFFFFFu;
  const U tiny = __builtin_bit_cast(U, __builtin_bit_cast(F, magnitude) + 0.5f) - 0x3F000000u;
  const U usual = (magnitude - 0x38000000u + 0xFFFu + (magnitude >> 13 & 1u)) >> 13;
  const U finite = magnitude < 0x38800000u ? tiny : usual;
  const U rounded = magnitude >= 0x477FF000u ? U{} + 0x7C00u : finite;
  return (bits >> 16 & 0x8000u) | (magnitude > 0x7F800000u ? U{} + 0x7E00u : rounded);
}
template <class U, class F>
SINTER_INLINE U float_to_bfloat16(F value) {
  const U bits = __builtin_bit_cast(U, value);
  const U rounded = (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16;
  return value == value ? rounded : bits >> 16 | 0x40u;
}

SINTER_INLINE float to_float(Half h) { return half_to_float<float>(std::uint32_t{h.bits}); }
SINTER_INLINE float to_float(BFloat16 b) { return __builtin_bit_cast(float, std::uint32_t{b.bits} << 16); }
SINTER_INLINE Half to_half(float value) { return {static_cast<std::uint16_t>(float_to_half<std::uint32_t>(value))}; }
SINTER_INLINE BFloat16 to_bfloat16(float value) {
  return {static_cast<std::uint16_t>(float_to_bfloat16<std::uint32_t>(value))};
}

SINTER_INLINE Native<float> load_wide(const Half* p) {
#if SINTER_HAS_FLOAT16
  return load_float16(p);
#else
  return half_to_float<Native<float> >(load_bits(p));
#endif
}
SINTER_INLINE Native<float> load_wide(const BFloat16* p) { return (Native<float>)(load_bits(p) << 16); }

SINTER_INLINE void store_narrow(Half* p, Native<float> v) {
#if SINTER_HAS_FLOAT16
  store_float16(p, v);
#else
  store_bits(p, float_to_half<FloatBits>(v));
#endif
}
SINTER_INLINE void store_narrow(BFloat16* p, Native<float> v) {
#if defined(__AVX512F__)
  store_bits(p, rounded_bfloat16(v));
#else
  store_bits(p, float_to_bfloat16<FloatBits>(v));
#endif
}

/// The first `count` elements of a vector.
template <class H>
SINTER_INLINE Native<float> load_wide(const H* p, int count) {
  H first[Vec<float>::lanes] = {};
  for (int k = 0; k < count; ++k) first[k] = p[k];
  return load_wide(first);
}
template <class H>
SINTER_INLINE void store_narrow(H* p, Native<float> v, int count) {
  H first[Vec<float>::lanes];
  store_narrow(first, v);
  for (int k = 0; k < count; ++k) p[k] = first[k];
}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

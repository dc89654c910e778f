// What needs NEON's intrinsics: the functions of native_x86.hpp.
#pragma once
#include <arm_neon.h>

#include "native_types.hpp"

#define SINTER_HAS_FMA 1
#define SINTER_HAS_FLOAT16 1
#define SINTER_HAS_MASKED_MEMORY 0

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

template <class T>
SINTER_INLINE Native<T> load_first(const Stored<T>* p, int count) {
  Native<T> v{};
  copy_bytes(&v, p, count * static_cast<int>(sizeof(T)));
  return v;
}
template <class T>
SINTER_INLINE void store_first(Stored<T>* p, Native<T> v, int count) {
  copy_bytes(p, &v, count * static_cast<int>(sizeof(T)));
}

inline constexpr bool has_streams = false;
template <class V>
SINTER_INLINE void stream(void*, const V&) {}

template <class Part>
SINTER_INLINE void load_first_bytes(Part& to, const void* p, int bytes) {
  __builtin_memset(&to, 0, sizeof to);
  copy_bytes(&to, p, bytes);
}
template <class Part>
SINTER_INLINE void store_first_bytes(void* p, const Part& from, int bytes) {
  copy_bytes(p, &from, bytes);
}

template <class V, class HalfVector>
SINTER_INLINE V joined(HalfVector low, HalfVector high) {
  return (V)vcombine_s32((int32x2_t)low, (int32x2_t)high);
}
#define SINTER_VECTOR_OPERAND(v) "+w"(v)

SINTER_INLINE Native<std::uint8_t> native_min(Native<std::uint8_t> a, Native<std::uint8_t> b) {
  return (Native<std::uint8_t>)vminq_u8((uint8x16_t)a, (uint8x16_t)b);
}

template <class N>
SINTER_INLINE bool any_bit(N v) {
  return vmaxvq_u32((uint32x4_t)v) != 0;
}

template <class T>
SINTER_INLINE NativeMask<T> widened_bytes(const std::uint8_t* p) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  std::uint64_t bytes = 0;
  __builtin_memcpy(&bytes, p, vector_bytes / sizeof(T));
  const uint32x4_t words = vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(bytes))));
  if constexpr (sizeof(T) == 4)
    return (NativeMask<T>)words;
  else
    return (NativeMask<T>)vmovl_u32(vget_low_u32(words));
}
template <class T>
SINTER_INLINE void store_as_bytes(std::uint8_t* p, NativeMask<T> v) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  uint32x2_t low, high;
  if constexpr (sizeof(T) == 4)
    low = vget_low_u32((uint32x4_t)v), high = vget_high_u32((uint32x4_t)v);
  else
    low = high = vmovn_u64((uint64x2_t)v);
  const uint16x4_t halves = vmovn_u32(vcombine_u32(low, high));
  const uint8x8_t bytes = vand_u8(vmovn_u16(vcombine_u16(halves, halves)), vdup_n_u8(1));
  __builtin_memcpy(p, &bytes, vector_bytes / sizeof(T));
}

#define SINTER_NATIVE1(name, op)                                                                                 \
  SINTER_INLINE Native<float> native_##name(Native<float> a) { return (Native<float>)op##_f32((float32x4_t)a); } \
  SINTER_INLINE Native<double> native_##name(Native<double> a) { return (Native<double>)op##_f64((float64x2_t)a); }
SINTER_NATIVE1(sqrt, vsqrtq)
SINTER_NATIVE1(round, vrndnq)
SINTER_NATIVE1(floor, vrndmq)
SINTER_NATIVE1(ceil, vrndpq)
SINTER_NATIVE1(trunc, vrndq)
#undef SINTER_NATIVE1

// Not NEON's own, which return NaN if an operand is NaN.
template <class N>
SINTER_INLINE N native_max(N a, N b) {
  return a > b ? a : b;
}
template <class N>
SINTER_INLINE N native_min(N a, N b) {
  return a < b ? a : b;
}

#define SINTER_NATIVE3(name, op)                                                                     \
  SINTER_INLINE Native<float> native_##name(Native<float> a, Native<float> b, Native<float> c) {     \
    return (Native<float>)op##_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);                  \
  }                                                                                                  \
  SINTER_INLINE Native<double> native_##name(Native<double> a, Native<double> b, Native<double> c) { \
    return (Native<double>)op##_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);                 \
  }
SINTER_NATIVE3(fma, vfmaq)
SINTER_NATIVE3(fnma, vfmsq)
#undef SINTER_NATIVE3

/// The estimate's 8 bits, refined once.
SINTER_INLINE Native<float> reciprocal_estimate(Native<float> x) {
  const float32x4_t v = (float32x4_t)x, r = vrecpeq_f32(v);
  return (Native<float>)vmulq_f32(vrecpsq_f32(v, r), r);
}

template <class N>
SINTER_INLINE N select_unordered(N a, N b, N x, N y) {
  return ((a == a) & (b == b)) ? y : x;
}

template <class T>
struct NativeNans {
  NativeMask<T> seen{};
  SINTER_INLINE void add(Native<T> a, Native<T> b) { seen |= (NativeMask<T>)(a != a) | (NativeMask<T>)(b != b); }
  SINTER_INLINE bool any() const { return any_bit(seen); }
};

SINTER_INLINE Native<double> low_doubles(Native<float> a) {
  return (Native<double>)vcvt_f64_f32(vget_low_f32((float32x4_t)a));
}
SINTER_INLINE Native<double> high_doubles(Native<float> a) { return (Native<double>)vcvt_high_f64_f32((float32x4_t)a); }

using FloatBits = NativeVector<std::uint32_t>::type;
SINTER_INLINE FloatBits load_bits(const void* p) {
  return (FloatBits)vmovl_u16(vld1_u16(static_cast<const std::uint16_t*>(p)));
}
SINTER_INLINE void store_bits(void* p, FloatBits bits) {
  vst1_u16(static_cast<std::uint16_t*>(p), vmovn_u32((uint32x4_t)bits));
}
SINTER_INLINE Native<float> load_float16(const void* p) {
  return (Native<float>)vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(static_cast<const std::uint16_t*>(p))));
}
SINTER_INLINE void store_float16(void* p, Native<float> v) {
  vst1_u16(static_cast<std::uint16_t*>(p), vreinterpret_u16_f16(vcvt_f16_f32((float32x4_t)v)));
}

SINTER_INLINE Native<std::int64_t> multiply_words(Native<std::int64_t> a, Native<std::int64_t> b) {
  return (Native<std::int64_t>)vmull_u32(vmovn_u64((uint64x2_t)a), vmovn_u64((uint64x2_t)b));
}

SINTER_INLINE void clear_upper_halves() {}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

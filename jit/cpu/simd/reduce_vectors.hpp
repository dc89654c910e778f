// Reductions on vectors and on single elements: identity, combination, tracking of NaN.
#pragma once
#include "../loop_table.hpp"
#include "vector_math.hpp"
#include "vector_pairs.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

/// Tracks whether any element is NaN, which native_max and native_min do not propagate.
template <class T>
struct NanSeen {
  SINTER_INLINE void add(Vec<T>, Vec<T>) {}
  SINTER_INLINE bool any() const { return false; }
};
#if defined(__AVX512F__)
template <>
struct NanSeen<float> {
  __mmask16 seen = 0;
  SINTER_INLINE void add(Vec<float> a, Vec<float> b) {
    seen = _kor_mask16(seen, _mm512_cmp_ps_mask(a.v, b.v, _CMP_UNORD_Q));
  }
  SINTER_INLINE bool any() const { return seen != 0; }
};
template <>
struct NanSeen<double> {
  __mmask8 seen = 0;
  SINTER_INLINE void add(Vec<double> a, Vec<double> b) {
    seen = _kor_mask8(seen, _mm512_cmp_pd_mask(a.v, b.v, _CMP_UNORD_Q));
  }
  SINTER_INLINE bool any() const { return seen != 0; }
};
#else
template <Floating T>
struct NanSeen<T> {
  Mask<T> seen{};
  SINTER_INLINE void add(Vec<T> a, Vec<T> b) {
#if defined(__AVX2__)
    if constexpr (sizeof(T) == 4)
      seen = seen | Mask<T>{(NativeMask<T>)_mm256_cmp_ps((__m256)a.v, (__m256)b.v, _CMP_UNORD_Q)};
    else
      seen = seen | Mask<T>{(NativeMask<T>)_mm256_cmp_pd((__m256d)a.v, (__m256d)b.v, _CMP_UNORD_Q)};
#else
    if constexpr (sizeof(T) == 4)
      seen = seen | Mask<T>{(NativeMask<T>)_mm_cmpunord_ps((__m128)a.v, (__m128)b.v)};
    else
      seen = seen | Mask<T>{(NativeMask<T>)_mm_cmpunord_pd((__m128d)a.v, (__m128d)b.v)};
#endif
  }
  SINTER_INLINE bool any() const { return SINTER_ISA::any(seen); }
};
#endif

/// The lowest value, -infinity for floats, and the highest.
template <class T>
constexpr Stored<T> lowest() {
  if constexpr (std::is_same_v<T, bool>)
    return 0;
  else if constexpr (std::is_floating_point_v<T>)
    return -infinity<T>;
  else
    return static_cast<T>(std::make_unsigned_t<T>{1} << (8 * sizeof(T) - 1));
}
template <class T>
constexpr Stored<T> highest() {
  if constexpr (std::is_same_v<T, bool>)
    return 1;
  else if constexpr (std::is_floating_point_v<T>)
    return infinity<T>;
  else
    return static_cast<T>(~lowest<T>());
}
template <class T>
constexpr Stored<T> nan() {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(__builtin_nan(""));
  else
    return 0;
}

// combine(so_far, x) ignores a NaN x if `tracks_nan`, since NanSeen tracks it; combine_scalars() does not ignore it.
struct Sums {
  static constexpr bool tracks_nan = false;
  template <class T>
  static constexpr Stored<T> identity() {
    return 0;
  }
  template <class T>
  static SINTER_INLINE Vec<T> combine(Vec<T> so_far, Vec<T> x) {
    return so_far + x;
  }
  template <class T>
  static SINTER_INLINE T combine_scalars(T a, T b) {
    return a + b;
  }
};
struct Products {
  static constexpr bool tracks_nan = false;
  template <class T>
  static constexpr Stored<T> identity() {
    return 1;
  }
  template <class T>
  static SINTER_INLINE Vec<T> combine(Vec<T> so_far, Vec<T> x) {
    return so_far * x;
  }
  template <class T>
  static SINTER_INLINE T combine_scalars(T a, T b) {
    return a * b;
  }
};
struct Largest {
  static constexpr bool tracks_nan = true;
  template <class T>
  static constexpr Stored<T> identity() {
    return lowest<T>();
  }
  template <class T>
  static SINTER_INLINE Vec<T> combine(Vec<T> so_far, Vec<T> x) {
    if constexpr (std::is_same_v<T, bool>)
      return so_far | x;
    else if constexpr (std::is_floating_point_v<T>)
      return native_max(x, so_far);
    else
      return maximum(so_far, x);
  }
  template <class T>
  static SINTER_INLINE Mask<T> beats(Vec<T> x, Vec<T> so_far) {
    return x > so_far;
  }
  template <class T>
  static SINTER_INLINE bool beats(T x, T so_far) {
    return x > so_far;
  }
  template <class T>
  static SINTER_INLINE T combine_scalars(T a, T b) {
    const T larger = b > a ? b : a;  // one instruction; any branch but that on NaN would be mispredicted
    return b != b ? b : larger;
  }
};
struct Smallest {
  static constexpr bool tracks_nan = true;
  template <class T>
  static constexpr Stored<T> identity() {
    return highest<T>();
  }
  template <class T>
  static SINTER_INLINE Vec<T> combine(Vec<T> so_far, Vec<T> x) {
    if constexpr (std::is_same_v<T, bool>)
      return so_far & x;
    else if constexpr (std::is_floating_point_v<T>)
      return native_min(x, so_far);
    else
      return minimum(so_far, x);
  }
  template <class T>
  static SINTER_INLINE Mask<T> beats(Vec<T> x, Vec<T> so_far) {
    return x < so_far;
  }
  template <class T>
  static SINTER_INLINE bool beats(T x, T so_far) {
    return x < so_far;
  }
  template <class T>
  static SINTER_INLINE T combine_scalars(T a, T b) {
    const T smaller = b < a ? b : a;
    return b != b ? b : smaller;
  }
};

/// Rotates the lanes.
template <int by, class T, int... i>
SINTER_INLINE Vec<T> rotate_lanes(Lanes<i...>, Vec<T> v) {
  return {__builtin_shufflevector(v.v, v.v, ((i + by) % Vec<T>::lanes)...)};
}
/// The reduction of all lanes, in every lane.
template <class F, class T, int width = Vec<T>::lanes / 2>
SINTER_INLINE Vec<T> reduce_lanes(Vec<T> v) {
  const Vec<T> halves = F::combine(v, rotate_lanes<width>(AllLanes<T>{}, v));
  if constexpr (width == 1)
    return halves;
  else
    return reduce_lanes<F, T, width / 2>(halves);
}

/// The first `count` lanes of v, `rest` in the others.
template <class T>
SINTER_INLINE Vec<T> first_lanes(Vec<T> v, int count, Vec<T> rest) {
  NativeMask<T> lane;
  for (int i = 0; i < Vec<T>::lanes; ++i) lane[i] = static_cast<Bits<T>>(i);
  return select(Mask<T>{(NativeMask<T>)(lane < static_cast<Bits<T>>(count))}, v, rest);
}

/// The elements as doubles: the first half of the lanes, and the second one.
struct TwoDoubles {
  Vec<double> low, high;
};
SINTER_INLINE TwoDoubles to_doubles(Vec<float> a) {
#if defined(__AVX512F__)
  using Half __attribute__((vector_size(32))) = float;
  const Half low = __builtin_shufflevector(a.v, a.v, 0, 1, 2, 3, 4, 5, 6, 7);
  const Half high = __builtin_shufflevector(a.v, a.v, 8, 9, 10, 11, 12, 13, 14, 15);
  return {{__builtin_convertvector(low, Native<double>)}, {__builtin_convertvector(high, Native<double>)}};
#elif defined(__AVX2__)
  return {{(Native<double>)_mm256_cvtps_pd(_mm256_castps256_ps128(a.v))},
          {(Native<double>)_mm256_cvtps_pd(_mm256_extractf128_ps(a.v, 1))}};
#else
  return {{(Native<double>)_mm_cvtps_pd(a.v)}, {(Native<double>)_mm_cvtps_pd(_mm_movehl_ps(a.v, a.v))}};
#endif
}

/// sum + error += x, where `error` collects the rounding errors of the sum (D. E. Knuth's TwoSum).
template <class V>
SINTER_INLINE void compensated_add(V& sum, V& error, V x) {
  const V s = sum + x, t = s - sum;
  error = error + ((sum - (s - t)) + (x - t));
  sum = s;
}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

// Reductions on vectors and on single elements: identity, combination, tracking of NaN.
#pragma once
#include "vector.hpp"
#include "vector_basic.hpp"
#include "vector_float.hpp"
#include "vector_integer.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

/// Tracks whether any element is NaN, which native_max and native_min do not propagate.
template <class T>
struct NanSeen {
  SINTER_INLINE void add(Vec<T>, Vec<T>) {}
  SINTER_INLINE bool any() const { return false; }
};
template <Floating T>
struct NanSeen<T> {
  NativeNans<T> nans;
  SINTER_INLINE void add(Vec<T> a, Vec<T> b) { nans.add(a.v, b.v); }
  SINTER_INLINE bool any() const { return nans.any(); }
};

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
SINTER_INLINE TwoDoubles to_doubles(Vec<float> a) { return {{low_doubles(a.v)}, {high_doubles(a.v)}}; }

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

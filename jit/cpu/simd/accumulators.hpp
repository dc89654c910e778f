// Where the elements of a row are reduced: eight vectors, so that operations do not wait for each other.
#pragma once
#include "reduce_vectors.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

/// Elements whose sum is computed in float; the sums of such blocks are added in double, or exactly.
inline constexpr std::int64_t summed_block = 1024;

/// Vectors are added to the eight in turn, and, once these are joined, to one.
template <class F, class T>
struct Accumulators {
  using V = Vec<T>;
  static constexpr int count = 8;
  static constexpr std::int64_t elements = count * V::lanes;

  SINTER_INLINE Accumulators() { clear(); }
  SINTER_INLINE void clear() {
    for (V& a : each) a = none();
    all = none();
  }
  SINTER_INLINE void add(int k, V x, V y) {
    if constexpr (F::tracks_nan) nans.add(x, y);
    each[k] = F::combine(each[k], x);
    each[k + 1] = F::combine(each[k + 1], y);
  }
  SINTER_INLINE void join() {
    all = F::combine(F::combine(F::combine(each[0], each[1]), F::combine(each[2], each[3])),
                     F::combine(F::combine(each[4], each[5]), F::combine(each[6], each[7])));
  }
  SINTER_INLINE void add(V x) {
    if constexpr (F::tracks_nan) nans.add(x, x);
    all = F::combine(all, x);
  }
  SINTER_INLINE void add_first(V x, int n) { add(first_lanes(x, n, none())); }

  SINTER_INLINE Stored<T> value() const {
    const Stored<T> reduced = reduce_lanes<F>(all).v[0];
    return nans.any() ? nan<T>() : reduced;
  }

  static SINTER_INLINE V none() { return V(F::template identity<T>()); }

  V each[count], all;
  NanSeen<T> nans;
};

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

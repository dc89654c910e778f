// Vectors by the numbers of their lanes: interleaving, counting.
#pragma once
#include "vector.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

/// a0 b0 a1 b1 ...: the first half, or with half = 1 the second.
template <int half, class T, int... i>
SINTER_INLINE Vec<T> pairs(Lanes<i...>, Vec<T> a, Vec<T> b) {
  constexpr int n = Vec<T>::lanes;
  return {__builtin_shufflevector(a.v, b.v, (half * (n / 2) + i / 2 + i % 2 * n)...)};
}

/// Elements 0 0 2 2 ..., or with first = 1 elements 1 1 3 3 ...
template <int first, class T, int... i>
SINTER_INLINE Vec<T> repeated_in_pairs(Lanes<i...>, Vec<T> a) {
  return {__builtin_shufflevector(a.v, a.v, (i / 2 * 2 + first)...)};
}

template <int... i>
SINTER_INLINE Vec<std::int64_t> counted_from(Lanes<i...>, std::int64_t first) {
  return Vec<std::int64_t>(first) + Vec<std::int64_t>(Native<std::int64_t>{i...});
}
/// first, first + 1, ...
SINTER_INLINE Vec<std::int64_t> counted_from(std::int64_t first) {
  return counted_from(AllLanes<std::int64_t>{}, first);
}

/// Whether positions are consecutive.
SINTER_INLINE bool is_run(const std::int64_t* positions, std::int64_t n) {
  if (positions[n - 1] - positions[0] != n - 1) return false;
  std::int64_t differs = 0;
  for (std::int64_t i = 0; i < n; ++i) differs |= positions[i] - positions[0] - i;
  return differs == 0;
}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

// Rows that a compiled loop reduces while it computes them, in the order in which the reducers of reduce_loops.hpp do,
// so that the results are the same bits, but for those of a NaN. Rows have more than tiny_row elements.
#pragma once
#include "accumulators.hpp"
#include "blocks.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

/// Blocks that are added to the first and to the other accumulators, and those that are added vector by vector.
struct LowHalf : Whole {
  static constexpr int first = 0;
};
struct HighHalf : Whole {
  static constexpr int first = Whole::width;
};
struct InTurn : Whole {};

template <class F, class Range>
SINTER_INLINE void add_block(Accumulators<F, float>& a, Range range, const Block<float, Range::width>& b) {
  static_assert(Accumulators<F, float>::count == 2 * Whole::width);
  if constexpr (std::is_same_v<Range, First>)
    a.add_first(b.v[0], range.count);
  else if constexpr (std::is_same_v<Range, OneVector> || std::is_same_v<Range, InTurn>)
    for (const Vec<float>& v : b.v) a.add(v);
  else
    for (int k = 0; k < Range::width; k += 2) a.add(Range::first + k, b.v[k], b.v[k + 1]);
}

/// The sum of a row, in the order of FloatSum.
struct RowSum {
  template <class Range>
  SINTER_INLINE void add(Range range, const Block<float, Range::width>& b) {
    add_block(block, range, b);
  }
  SINTER_INLINE void end_halves(bool had_halves, [[maybe_unused]] bool is_last) {
    if (had_halves) block.join();
  }
  SINTER_INLINE void end_block(bool is_last) {
    if (is_last && is_first) return;
    const TwoDoubles d = to_doubles(block.all);
    low = low + d.low;
    high = high + d.high;
    block.clear();
    is_first = false;
  }
  SINTER_INLINE void end_row(void* state) const {
    *static_cast<double*>(state) += is_first ? static_cast<double>(block.value()) : reduce_lanes<Sums>(low + high).v[0];
  }

  Accumulators<Sums, float> block;
  Vec<double> low = Vec<double>(0), high = low;
  bool is_first = true;
};

/// The product, maximum or minimum of a row, in the order of PlainReduction.
template <class F>
struct RowValue {
  template <class Range>
  SINTER_INLINE void add(Range range, const Block<float, Range::width>& b) {
    add_block(row, range, b);
  }
  SINTER_INLINE void end_halves(bool had_halves, bool is_last) {
    has_halves = has_halves || had_halves;
    if (is_last && has_halves) row.join();
  }
  SINTER_INLINE void end_block([[maybe_unused]] bool is_last) {}
  SINTER_INLINE void end_row(void* state) const {
    float& value = *static_cast<float*>(state);
    value = F::combine_scalars(value, row.value());
  }

  Accumulators<F, float> row;
  bool has_halves = false;
};

/// Calls body(i, range) for all blocks of n elements, at least one, which adds them to `rows`.
template <class Body, class... Rows>
SINTER_INLINE void for_each_reduced_block(std::int64_t n, Body body, Rows&... rows) {
  constexpr int half = elements<Whole::width>, vector = elements<First::width>;
  for (std::int64_t i = 0; i < n;) {
    const std::int64_t first = i, end = n - i < summed_block ? n : i + summed_block;
    for (; i + 2 * half <= end; i += 2 * half) {
      body(i, LowHalf{});
      body(i + half, HighHalf{});
    }
    const bool had_halves = i > first, is_last = end == n;
    (rows.end_halves(had_halves, is_last), ...);
    for (; i + half <= end; i += half) body(i, InTurn{});
    for (; i + vector <= end; i += vector) body(i, OneVector{});
    if (i < end) body(i, First{static_cast<int>(end - i)});
    i = end;
    (rows.end_block(is_last), ...);
  }
}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

// Loops of random numbers: in[0] are indices, in[1] the numbers of draws, in[2] seeds. Adjacent indices share a
// counter, so one run of Philox gives several numbers.
#pragma once
#include "loops.hpp"
#include "vector_random.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

/// Numbers of one kind, from words or, where they have 8 bytes, from pairs of words.
template <class T>
struct UniformNumbers {
  using Number = T;
  static SINTER_INLINE Vec<T> of(Vec<Bits<T>> words) { return uniform(words); }
};
template <class T>
struct NormalNumbers {
  using Number = T;
  static SINTER_INLINE Vec<T> of(Vec<Bits<T>> words) { return normal(AllLanes<T>{}, uniform(words)); }
};
struct RandomBits {
  using Number = std::int64_t;
  static SINTER_INLINE Longs of(Longs bits) { return bits; }
};

template <class Kind>
struct RandomLoop {
  using T = typename Kind::Number;
  static constexpr int per_counter = 16 / static_cast<int>(sizeof(T)), per_vector = per_counter * Longs::lanes;
  static constexpr std::int64_t block = 4 * per_vector;

  /// The counters of indices: numbers of 32 and of 64 bits never share one.
  static SINTER_INLINE Longs groups_of(Longs indices) {
    if constexpr (per_counter == 4) return shifted_right<2>(indices);
    return shifted_right<1>(indices) | Longs(static_cast<std::int64_t>(std::uint64_t{1} << 63));
  }
  static SINTER_INLINE void put(T* to, Longs bits) { Kind::of({(Native<Bits<T>>)bits.v}).store(to); }
  static SINTER_INLINE void put_all(T* to, CounterWords words) {
    put(to, pairs<0>(AllLanes<std::int64_t>{}, words.low, words.high));
    put(to + per_vector / 2, pairs<1>(AllLanes<std::int64_t>{}, words.low, words.high));
  }
  /// Fills `to` with the numbers of n vectors of counters, from the index's counter on.
  template <int n>
  static SINTER_INLINE void fill_vectors(T* to, std::int64_t index, Longs draw, Longs seed) {
    Longs groups[n];
    CounterWords words[n];
    groups[0] = groups_of(Longs(index)) + counted_from(0);
    for (int v = 1; v < n; ++v) groups[v] = groups[v - 1] + Longs(Longs::lanes);
    philox(words, groups, draw, seed);
    for (int v = 0; v < n; ++v) put_all(to + v * per_vector, words[v]);
  }
  /// Fills `to` with at least n numbers, at most a block, from the first of the index's counter on. Several vectors of
  /// counters at a time hide the latency of multiplications.
  static SINTER_INLINE void fill(T* to, std::int64_t index, Longs draw, Longs seed, std::int64_t n) {
    if (n > 2 * per_vector) return fill_vectors<4>(to, index, draw, seed);
    if (n > per_vector) return fill_vectors<2>(to, index, draw, seed);
    fill_vectors<1>(to, index, draw, seed);
  }
  /// For each lane, the two adjacent numbers of which one is at its index.
  static SINTER_INLINE void fill_pairs(T* to, Longs indices, Longs draw, Longs seed) {
    const Longs groups[] = {groups_of(indices)};
    CounterWords words[1];
    philox(words, groups, draw, seed);
    if constexpr (per_counter == 2)
      put_all(to, words[0]);
    else
      put(to, select((indices & Longs(2)) == Longs(0), words[0].low, words[0].high));
  }
};

template <class Kind, int form>
void random_row(void* out, const void* const* in, std::int64_t n) {
  using Loop = RandomLoop<Kind>;
  using T = typename Kind::Number;
  constexpr std::int64_t index_step = (form & 1) == 0, draw_step = (form & 2) == 0, seed_step = (form & 4) == 0;
  const auto *indices = static_cast<const std::int64_t*>(in[0]), *draws = static_cast<const std::int64_t*>(in[1]),
             *seeds = static_cast<const std::int64_t*>(in[2]);
  auto* to = static_cast<T*>(out);
  alignas(64) T numbers[Loop::block];
  for (std::int64_t i = 0; i < n;) {
    const std::int64_t* const at = indices + i * index_step;
    const std::int64_t skipped = *at & (Loop::per_counter - 1), left = n - i;
    std::int64_t count = left < Loop::block - skipped ? left : Loop::block - skipped;
    while (form == 6 && count > Longs::lanes && !is_run(at, count)) count = (skipped + count) / 2 - skipped;
    if (form == 6 && count > Longs::lanes) {
      const bool is_whole =
          skipped == 0 && (count == Loop::block || count == Loop::block / 2 || count == Loop::block / 4);
      Loop::fill(is_whole ? to + i : numbers, *at, Longs(*draws), Longs(*seeds), skipped + count);
      if (!is_whole) __builtin_memcpy(to + i, numbers + skipped, static_cast<std::size_t>(count) * sizeof(T));
    } else {
      count = left < Longs::lanes ? left : Longs::lanes;
      const auto of_lanes = [&](const std::int64_t* p, std::int64_t step) SINTER_LAMBDA {
        return step == 0 ? Longs(*p) : Longs::load(p + i, static_cast<int>(count));
      };
      Loop::fill_pairs(numbers, of_lanes(indices, index_step), of_lanes(draws, draw_step), of_lanes(seeds, seed_step));
      for (std::int64_t k = 0; k < count; ++k) to[i + k] = numbers[2 * k + (at[k * index_step] & 1)];
    }
    i += count;
  }
}

template <class Kind>
inline constexpr LoopForms random_forms{{random_row<Kind, 0>, random_row<Kind, 1>, random_row<Kind, 2>,
                                         random_row<Kind, 3>, random_row<Kind, 4>, random_row<Kind, 5>,
                                         random_row<Kind, 6>}};

#define SINTER_RANDOM_OP(name, Kind)                                     \
  template <>                                                            \
  constexpr LoopForms loop_forms<functions::name##_op, std::int64_t>() { \
    return random_forms<Kind>;                                           \
  }
SINTER_RANDOM_OP(random_uniform, UniformNumbers<float>)
SINTER_RANDOM_OP(random_uniform_double, UniformNumbers<double>)
SINTER_RANDOM_OP(random_normal, NormalNumbers<float>)
SINTER_RANDOM_OP(random_normal_double, NormalNumbers<double>)
SINTER_RANDOM_OP(random_bits, RandomBits)
#undef SINTER_RANDOM_OP

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

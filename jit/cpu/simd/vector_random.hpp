// Philox4x32-10 (Salmon et al. 2011): element a of the sequence of seed b, independent of other elements.
#pragma once
#include "vector_sleef.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

using Longs = Vec<std::int64_t>;
using Doubles = Vec<double>;

/// As many int64 as a vector of floats has lanes.
struct LongPair {
  using element = std::int64_t;
  static constexpr int lanes = Floats::lanes;
  Longs low, high;

  static SINTER_INLINE LongPair load(const element* p) { return {Longs::load(p), Longs::load(p + Longs::lanes)}; }
  static SINTER_INLINE LongPair load(const element* p, int count) {
    if (count <= Longs::lanes) return {Longs::load(p, count), Longs(0)};
    return {Longs::load(p), Longs::load(p + Longs::lanes, count - Longs::lanes)};
  }
  static SINTER_INLINE LongPair broadcast(const element* p) { return {Longs::broadcast(p), Longs::broadcast(p)}; }
};

/// Four words for each lane, each in the low half of 64 bits.
struct Words {
  Longs w[4];
};

SINTER_INLINE Longs low_half(Longs a) { return a & Longs(0xFFFFFFFF); }
SINTER_INLINE Longs high_half(Longs a) {
  return {(Native<std::int64_t>)((typename NativeVector<std::uint64_t>::type)a.v >> 32)};
}
SINTER_INLINE Longs multiply_words(Longs a, Longs b) { return {multiply_words(a.v, b.v)}; }

/// In between, the upper halves of lanes hold anything: products do not read them.
SINTER_INLINE Words philox(Longs counter, Longs key) {
  Longs c0 = counter, c1 = high_half(counter), c2(0), c3(0), k0 = key, k1 = high_half(key);
  for (int round = 0; round < 10; ++round) {
    const Longs p0 = multiply_words(c0, Longs(0xD2511F53)), p1 = multiply_words(c2, Longs(0xCD9E8D57));
    c0 = high_half(p1) ^ c1 ^ k0;
    c1 = p1;
    c2 = high_half(p0) ^ c3 ^ k1;
    c3 = p0;
    k0 = k0 + Longs(0x9E3779B9);
    k1 = k1 + Longs(0xBB67AE85);
  }
  return {{low_half(c0), low_half(c1), low_half(c2), low_half(c3)}};
}

/// Two words as one of 64 bits.
SINTER_INLINE Longs joined(Longs low, Longs high) { return {low.v | (high.v << 32)}; }

/// The upper 24 bits of the words, as floats in [0, 1).
SINTER_INLINE Floats unit_floats(Longs low, Longs high) {
  Ints bits;
  for (int i = 0; i < Longs::lanes; ++i) {
    bits.v[i] = static_cast<std::int32_t>(low.v[i] >> 8);
    bits.v[i + Longs::lanes] = static_cast<std::int32_t>(high.v[i] >> 8);
  }
  return Floats(__builtin_convertvector(bits.v, Native<float>)) * Floats(0x1p-24f);
}
/// The upper 53 bits, as doubles in [0, 1).
SINTER_INLINE Doubles unit_doubles(Longs bits) {
  const auto upper = (Native<std::int64_t>)((typename NativeVector<std::uint64_t>::type)bits.v >> 11);
  return Doubles(__builtin_convertvector(upper, Native<double>)) * Doubles(0x1p-53);
}

SINTER_INLINE Floats random_uniform(LongPair a, LongPair b) {
  return unit_floats(philox(a.low, b.low).w[0], philox(a.high, b.high).w[0]);
}
SINTER_INLINE Doubles random_uniform_double(Longs a, Longs b) {
  const Words words = philox(a, b);
  return unit_doubles(joined(words.w[0], words.w[1]));
}
/// The Box-Muller transform.
template <Floating T>
SINTER_INLINE Vec<T> normal(Vec<T> u0, Vec<T> u1) {
  return sqrt(Vec<T>(-2) * log(Vec<T>(1) - u0)) * cos(Vec<T>(6.283185307179586477) * u1);
}
SINTER_INLINE Floats random_normal(LongPair a, LongPair b) {
  const Words low = philox(a.low, b.low), high = philox(a.high, b.high);
  return normal(unit_floats(low.w[0], high.w[0]), unit_floats(low.w[1], high.w[1]));
}
SINTER_INLINE Doubles random_normal_double(Longs a, Longs b) {
  const Words words = philox(a, b);
  return normal(unit_doubles(joined(words.w[0], words.w[1])), unit_doubles(joined(words.w[2], words.w[3])));
}
SINTER_INLINE Longs random_below(Longs a, Longs b, Longs c) {
  const Words words = philox(a, b);
  return by_lane<Longs>(
      [](std::int64_t bits, std::int64_t bound) {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(
            static_cast<Wide>(static_cast<std::uint64_t>(bits)) * static_cast<std::uint64_t>(bound) >> 64));
      },
      joined(words.w[0], words.w[1]), c);
}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

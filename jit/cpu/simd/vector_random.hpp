// Philox4x32-10 (Salmon et al. 2011): four random words for each counter.
#pragma once
#include "vector_pairs.hpp"
#include "vector_sleef.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

using Longs = Vec<std::int64_t>;

SINTER_INLINE Longs low_half(Longs a) { return a & Longs(0xFFFFFFFF); }
template <int n>
SINTER_INLINE Longs shifted_right(Longs a) {
  return {(Native<std::int64_t>)((typename NativeVector<std::uint64_t>::type)a.v >> n)};
}
SINTER_INLINE Longs multiply_words(Longs a, Longs b) { return {multiply_words(a.v, b.v)}; }
/// The lower halves as one number of 64 bits.
SINTER_INLINE Longs joined(Longs low, Longs high) { return {low_half(low).v | (high.v << 32)}; }

/// The four words of each lane's counter, two by two.
struct CounterWords {
  Longs low, high;
};

/// Of the counters {groups, draw}, in n vectors, whose multiplications overlap. Until the end, the upper halves of
/// lanes hold anything: products do not read them.
template <int n>
SINTER_INLINE void philox(CounterWords (&words)[n], const Longs (&groups)[n], Longs draw, Longs seed) {
  Longs c0[n], c1[n], c2[n], c3[n], k0 = seed, k1 = shifted_right<32>(seed);
  for (int v = 0; v < n; ++v) {
    c0[v] = groups[v], c1[v] = shifted_right<32>(groups[v]);
    c2[v] = draw, c3[v] = shifted_right<32>(draw);
  }
  for (int round = 0; round < 10; ++round) {
    for (int v = 0; v < n; ++v) {
      const Longs p0 = multiply_words(c0[v], Longs(0xD2511F53)), p1 = multiply_words(c2[v], Longs(0xCD9E8D57));
      c0[v] = shifted_right<32>(p1) ^ c1[v] ^ k0;
      c1[v] = p1;
      c2[v] = shifted_right<32>(p0) ^ c3[v] ^ k1;
      c3[v] = p0;
    }
    k0 = k0 + Longs(0x9E3779B9);
    k1 = k1 + Longs(0xBB67AE85);
  }
  for (int v = 0; v < n; ++v) words[v] = {joined(c0[v], c1[v]), joined(c2[v], c3[v])};
}

/// The upper 24 bits of words, in [0, 1).
SINTER_INLINE Floats uniform(Vec<std::int32_t> words) {
  const auto upper = (Native<std::int32_t>)((typename NativeVector<std::uint32_t>::type)words.v >> 8);
  return Floats(__builtin_convertvector(upper, Native<float>)) * Floats(0x1p-24f);
}
/// The upper 53 bits, in [0, 1).
SINTER_INLINE Vec<double> uniform(Longs bits) {
  return Vec<double>(__builtin_convertvector(shifted_right<11>(bits).v, Native<double>)) * Vec<double>(0x1p-53);
}

/// The Box-Muller transform of each two adjacent numbers. Both results have one radius; the angle of the second is a
/// quarter turn less, so that its cosine is the sine of the first.
template <Floating T, int... i>
SINTER_INLINE Vec<T> normal(Lanes<i...> lanes, Vec<T> uniforms) {
  const Vec<T> quarter = Vec<T>(Native<T>{(i % 2 * T(0.25))...});
  const Vec<T> angle = Vec<T>(6.283185307179586477) * (repeated_in_pairs<1>(lanes, uniforms) - quarter);
  return sqrt(Vec<T>(-2) * log(Vec<T>(1) - repeated_in_pairs<0>(lanes, uniforms))) * cos(angle);
}

/// The upper 64 bits of the product, of unsigned numbers.
SINTER_INLINE Longs mul_high(Longs a, Longs b) {
  return by_lane<Longs>(
      [](std::int64_t x, std::int64_t y) {
        __extension__ using Wide = unsigned __int128;
        const Wide product = static_cast<Wide>(static_cast<std::uint64_t>(x)) * static_cast<std::uint64_t>(y);
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(product >> 64));
      },
      a, b);
}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

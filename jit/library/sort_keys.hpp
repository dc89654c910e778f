// Order-preserving unsigned keys, and entries of key and position, which are sorted.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <sinter/runtime/half.hpp>

namespace sinter::inline v1::jit::cpu {

template <std::size_t size>
using UnsignedOf = std::conditional_t<
    size == 1, std::uint8_t,
    std::conditional_t<size == 2, std::uint16_t, std::conditional_t<size == 4, std::uint32_t, std::uint64_t>>>;

/// A key: NaN has the largest, whatever its sign; -0 and 0 have the same. (Floats' bits as ordered integers: M. Herf,
/// "Radix Tricks", 2001.)
template <class T>
constexpr auto sort_key(T value) noexcept {
  using Key = UnsignedOf<sizeof(T)>;
  constexpr auto sign = static_cast<Key>(Key{1} << (8 * sizeof(T) - 1));
  const Key bits = std::bit_cast<Key>(value);
  if constexpr (std::is_integral_v<T>) {
    return std::is_signed_v<T> ? static_cast<Key>(bits ^ sign) : bits;
  } else {
    constexpr Key infinity = std::bit_cast<Key>(std::numeric_limits<T>::infinity());
    const auto ordered = static_cast<Key>(bits & sign ? 0 - bits : bits | sign);  // sign - magnitude, sign + magnitude
    return static_cast<Key>(bits & (sign - 1)) > infinity ? std::numeric_limits<Key>::max() : ordered;
  }
}

/// A key of at most 32 bits and a position below 2^32, in one word.
struct PackedEntry {
  std::uint64_t word;

  static constexpr std::int64_t most = std::int64_t{1} << 32;  // elements in a row
  PackedEntry() = default;
  constexpr PackedEntry(std::uint64_t key, std::int64_t index) noexcept
      : word(key << 32 | static_cast<std::uint64_t>(index)) {}
  constexpr std::uint64_t key() const noexcept { return word >> 32; }
  constexpr std::int64_t index() const noexcept { return static_cast<std::int64_t>(word & 0xFFFFFFFF); }
  friend constexpr bool operator<(PackedEntry a, PackedEntry b) noexcept { return a.word < b.word; }
};

struct WideEntry {
  std::uint64_t key_bits;
  std::int64_t position;

  WideEntry() = default;
  constexpr WideEntry(std::uint64_t key, std::int64_t index) noexcept : key_bits(key), position(index) {}
  constexpr std::uint64_t key() const noexcept { return key_bits; }
  constexpr std::int64_t index() const noexcept { return position; }
  friend constexpr bool operator<(const WideEntry& a, const WideEntry& b) noexcept {
    return a.key_bits != b.key_bits ? a.key_bits < b.key_bits : a.position < b.position;
  }
};

}  // namespace sinter::inline v1::jit::cpu

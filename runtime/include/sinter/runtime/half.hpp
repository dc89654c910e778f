// The 16-bit floats: storage types that convert implicitly to float for arithmetic.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>

namespace sinter::inline v1 {

namespace detail {

/// Rounds to nearest, ties to even; values beyond the largest number give infinity.
constexpr std::uint16_t half_bits(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return static_cast<std::uint16_t>(sign | 0x7E00);   // NaN
  if (magnitude >= 0x477FF000) return static_cast<std::uint16_t>(sign | 0x7C00);  // 65520 and more
  if (magnitude < 0x38800000) {  // below 2^-14: adding 0.5 leaves multiples of 2^-24, rounded, in the lowest bits
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000));
  }
  const std::uint32_t odd = magnitude >> 13 & 1;
  return static_cast<std::uint16_t>(sign | (magnitude - 0x38000000 + 0xFFF + odd) >> 13);
}
constexpr float half_value(std::uint16_t bits) noexcept {
  const std::uint32_t sign = (bits & 0x8000u) << 16, magnitude = bits & 0x7FFFu;
  if (magnitude >= 0x7C00) return std::bit_cast<float>(sign | 0x7F800000 | magnitude << 13);
  if (magnitude >= 0x400) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000));
  const float value = std::bit_cast<float>((magnitude << 13) + 0x38800000) - 0x1p-14f;  // multiples of 2^-24
  return sign ? -value : value;
}

constexpr std::uint16_t bfloat16_bits(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<std::uint16_t>(bits >> 16 | 0x40);  // NaN
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
constexpr float bfloat16_value(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace detail

/// IEEE 754 binary16: 11 significant bits, up to 65504.
struct half {
  std::uint16_t bits;

  half() = default;  // uninitialized, like a float
  explicit constexpr half(float value) noexcept : bits(detail::half_bits(value)) {}
  constexpr operator float() const noexcept { return detail::half_value(bits); }
  static constexpr half from_bits(std::uint16_t bits) noexcept {
    half h{};
    h.bits = bits;
    return h;
  }
};

/// The upper half of a float: 8 significant bits, float's range.
struct bfloat16 {
  std::uint16_t bits;

  bfloat16() = default;  // uninitialized, like a float
  explicit constexpr bfloat16(float value) noexcept : bits(detail::bfloat16_bits(value)) {}
  constexpr operator float() const noexcept { return detail::bfloat16_value(bits); }
  static constexpr bfloat16 from_bits(std::uint16_t bits) noexcept {
    bfloat16 b{};
    b.bits = bits;
    return b;
  }
};

}  // namespace sinter::inline v1

namespace std {

template <>
struct numeric_limits<sinter::half> : numeric_limits<float> {
  static constexpr int digits = 11, digits10 = 3, max_digits10 = 5;
  static constexpr int min_exponent = -13, min_exponent10 = -4, max_exponent = 16, max_exponent10 = 4;
  static constexpr sinter::half min() noexcept { return sinter::half::from_bits(0x0400); }
  static constexpr sinter::half lowest() noexcept { return sinter::half::from_bits(0xFBFF); }
  static constexpr sinter::half max() noexcept { return sinter::half::from_bits(0x7BFF); }
  static constexpr sinter::half epsilon() noexcept { return sinter::half::from_bits(0x1400); }
  static constexpr sinter::half round_error() noexcept { return sinter::half::from_bits(0x3800); }
  static constexpr sinter::half infinity() noexcept { return sinter::half::from_bits(0x7C00); }
  static constexpr sinter::half quiet_NaN() noexcept { return sinter::half::from_bits(0x7E00); }
  static constexpr sinter::half signaling_NaN() noexcept { return sinter::half::from_bits(0x7D00); }
  static constexpr sinter::half denorm_min() noexcept { return sinter::half::from_bits(0x0001); }
};

template <>
struct numeric_limits<sinter::bfloat16> : numeric_limits<float> {
  static constexpr bool is_iec559 = false;
  static constexpr int digits = 8, digits10 = 2, max_digits10 = 4;
  static constexpr sinter::bfloat16 min() noexcept { return sinter::bfloat16::from_bits(0x0080); }
  static constexpr sinter::bfloat16 lowest() noexcept { return sinter::bfloat16::from_bits(0xFF7F); }
  static constexpr sinter::bfloat16 max() noexcept { return sinter::bfloat16::from_bits(0x7F7F); }
  static constexpr sinter::bfloat16 epsilon() noexcept { return sinter::bfloat16::from_bits(0x3C00); }
  static constexpr sinter::bfloat16 round_error() noexcept { return sinter::bfloat16::from_bits(0x3F00); }
  static constexpr sinter::bfloat16 infinity() noexcept { return sinter::bfloat16::from_bits(0x7F80); }
  static constexpr sinter::bfloat16 quiet_NaN() noexcept { return sinter::bfloat16::from_bits(0x7FC0); }
  static constexpr sinter::bfloat16 signaling_NaN() noexcept { return sinter::bfloat16::from_bits(0x7FA0); }
  static constexpr sinter::bfloat16 denorm_min() noexcept { return sinter::bfloat16::from_bits(0x0001); }
};

}  // namespace std

// Values of every dtype as bits, and conversions between dtypes, written from the definitions of the formats.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include <fmt/format.h>

#include <visit_real.hpp>

namespace sinter::test {

using Bits = std::uint64_t;  // a value of some dtype, zero-extended

template <class T>
T as(Bits bits) noexcept {
  if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(bits);
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
  else if constexpr (sizeof(T) == 2)
    return std::bit_cast<T>(static_cast<std::uint16_t>(bits));
  else if constexpr (std::is_same_v<T, bool>)
    return bits != 0;
  else
    return std::bit_cast<T>(static_cast<std::uint8_t>(bits));
}
template <class T>
Bits to_bits(T v) noexcept {
  if constexpr (sizeof(T) == 8)
    return std::bit_cast<Bits>(v);
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<std::uint32_t>(v);
  else if constexpr (sizeof(T) == 2)
    return std::bit_cast<std::uint16_t>(v);
  else if constexpr (std::is_same_v<T, bool>)
    return v ? 1 : 0;
  else
    return std::bit_cast<std::uint8_t>(v);
}

/// Rounds a float to 16 bits: to a number with this many significant bits, or for small numbers to multiples of
/// `least`. In double, which represents the midpoints; its own rounding breaks ties to even.
template <class H>
Bits narrow_float(float v) noexcept {
  constexpr bool is_half = std::is_same_v<H, half>;
  constexpr int significant = is_half ? 11 : 8, least = is_half ? -24 : -133, highest = is_half ? 15 : 127;
  const Bits sign = std::signbit(v) ? 0x8000 : 0, infinity = is_half ? 0x7C00 : 0x7F80;
  if (std::isnan(v)) return sign | infinity | 1;
  if (std::isinf(v)) return sign | infinity;
  const double magnitude = std::fabs(static_cast<double>(v));
  if (magnitude == 0) return sign;
  const int unit = std::max(std::ilogb(magnitude) - significant + 1, least);
  const double units = std::nearbyint(std::ldexp(magnitude, -unit)), value = std::ldexp(units, unit);
  if (units == 0) return sign;
  if (value >= std::ldexp(1.0, highest + 1)) return sign | infinity;
  // Bits in the order of the numbers: counts units from the smallest number.
  const int exponent = std::max(std::ilogb(value) - significant + 1, least);
  const auto digits = static_cast<Bits>(std::ldexp(value, -exponent));
  return sign | ((static_cast<Bits>(exponent - least) << (significant - 1)) + digits);
}
/// The reverse, from the definition of the format.
template <class H>
float widen_float(Bits bits) noexcept {
  constexpr bool is_half = std::is_same_v<H, half>;
  constexpr int fraction_bits = is_half ? 10 : 7, least = is_half ? -24 : -133, last = is_half ? 31 : 255;
  const int exponent = static_cast<int>(bits >> fraction_bits & last);
  const auto fraction = static_cast<double>(bits & ((Bits{1} << fraction_bits) - 1));
  double value = exponent == 0      ? std::ldexp(fraction, least)
                 : exponent == last ? (fraction == 0 ? HUGE_VAL : NAN)
                                    : std::ldexp(fraction + std::ldexp(1.0, fraction_bits), least + exponent - 1);
  return static_cast<float>(bits & 0x8000 ? -value : value);
}

template <class T>
inline constexpr bool is_16_bit_float = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

/// The compute dtype of a node's value: 16-bit floats are held in float, and rounded when written and by casts.
constexpr DType held(DType t) noexcept { return t == DType::Float16 || t == DType::BFloat16 ? DType::Float32 : t; }

template <class To, class From>
To convert_value(From v) noexcept {
  if constexpr (std::is_same_v<To, bool>) {
    return v != From(0);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if (std::isnan(v)) return 0;
    const long double wide = std::trunc(static_cast<long double>(v));
    if (wide <= static_cast<long double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (wide >= static_cast<long double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(wide);
  } else {
    return static_cast<To>(v);
  }
}

inline Bits convert_bits(Bits bits, DType from, DType to) {
  return sinter::test::visit_real(from, [&]<class From>(std::type_identity<From>) {
    if constexpr (is_16_bit_float<From>)
      return convert_bits(to_bits(widen_float<From>(bits)), DType::Float32, to);
    else
      return sinter::test::visit_real(to, [&]<class To>(std::type_identity<To>) {
        if constexpr (is_16_bit_float<To>)
          return narrow_float<To>(convert_value<float>(as<From>(bits)));
        else
          return to_bits(convert_value<To>(as<From>(bits)));
      });
  });
}

/// A value in a type that {fmt} supports.
template <class T>
auto shown(T value) {
  if constexpr (is_16_bit_float<T>)
    return static_cast<float>(value);
  else
    return value;
}

/// A value as text, for messages.
inline std::string show(DType dtype, Bits bits) {
  return sinter::test::visit_real(
      dtype, [&]<class T>(std::type_identity<T>) { return fmt::format("{} ({:#x})", shown(as<T>(bits)), bits); });
}

}  // namespace sinter::test

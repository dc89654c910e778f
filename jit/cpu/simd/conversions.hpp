// Conversions of single elements between dtypes.
#pragma once
#include "vector_half.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

template <class T>
inline constexpr bool is_half = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// Floats to integers truncate and saturate, NaN becomes 0; to bool, the result is x != 0; the rest rounds once or
/// wraps.
template <class To, class From>
SINTER_INLINE Stored<To> converted(Stored<From> x) {
  if constexpr (is_half<From>) {
    return to_float(x);
  } else if constexpr (std::is_same_v<From, bool>) {
    return x != 0;
  } else if constexpr (std::is_same_v<To, Half>) {
    return to_half(x);
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    return to_bfloat16(x);
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != 0;
  } else if constexpr (std::is_floating_point_v<From> && !std::is_floating_point_v<To>) {
    constexpr To highest =
        static_cast<To>(std::is_unsigned_v<To> ? -1 : static_cast<std::make_unsigned_t<To>>(-1) >> 1);
    constexpr To lowest = std::is_unsigned_v<To> ? To{0} : -highest - 1;
    constexpr From limit = static_cast<From>(highest / 2 + 1) * 2;  // 2^31, 2^63 or 2^64
    if (!(x >= static_cast<From>(lowest))) return x < static_cast<From>(lowest) ? lowest : To{0};
    return x >= limit ? highest : static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

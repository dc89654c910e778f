// Bools in memory. Memory from outside may hold any byte, and all but 0 are true; a C++ bool must be 0 or 1.
#pragma once
#include <cstddef>
#include <span>
#include <type_traits>

namespace sinter::inline v1::runtime {

/// An element's value, for a bool with any byte.
template <class T>
T element_at(const T* place) noexcept {
  if constexpr (std::is_same_v<T, bool>)
    return *reinterpret_cast<const std::byte*>(place) != std::byte{};
  else
    return *place;
}

/// Normalizes the bytes of bools to 0 or 1. Writes only to bytes that change.
inline void make_bools(std::span<std::byte> bytes) noexcept {
  for (std::byte& b : bytes)
    if (b > std::byte{1}) b = std::byte{1};
}

}  // namespace sinter::inline v1::runtime

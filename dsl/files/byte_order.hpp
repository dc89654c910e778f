// Numbers in the opposite byte order to this machine's.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

namespace sinter::inline v1::detail {

template <std::size_t size>
void reverse_each(std::span<std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); i += size) {
    std::byte number[size];
    std::memcpy(number, &bytes[i], size);
    std::reverse(number, number + size);
    std::memcpy(&bytes[i], number, size);
  }
}

/// Reverses the bytes of each number of `size` bytes.
inline void reverse_bytes(std::span<std::byte> bytes, std::size_t size) {
  if (size == 2) reverse_each<2>(bytes);
  if (size == 4) reverse_each<4>(bytes);
  if (size == 8) reverse_each<8>(bytes);
}

}  // namespace sinter::inline v1::detail

// Which leaves are the same array, so that a kernel reads it once.
#pragma once
#include <cstdint>

#include "leaves.hpp"

namespace sinter::inline v1::jit {

/// For any number of leaves, in linear time.
void find_equal_leaves_hashed(Leaves leaves, std::uint16_t* same_as);

/// same_as[i] = the first leaf that is the same array as leaf i.
inline void same_arrays(Leaves leaves, std::uint16_t* same_as) {
  constexpr std::size_t few = 16;  // up to here comparing every pair is fastest
  if (leaves.size() > few) return find_equal_leaves_hashed(leaves, same_as);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    std::size_t first = 0;
    while (leaves[first] != leaves[i]) ++first;
    same_as[i] = static_cast<std::uint16_t>(first);
  }
}

}  // namespace sinter::inline v1::jit

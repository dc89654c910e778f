#include "same_arrays.hpp"

#include <bit>
#include <unordered_map>

namespace sinter::inline v1::jit {

void find_equal_leaves_hashed(Leaves leaves, std::uint16_t* same_as) {
  // A hash table of leaf numbers by address, at most half full; typed trees have few enough leaves for the stack.
  constexpr std::size_t slots_on_stack = 1024;
  if (leaves.size() * 2 <= slots_on_stack) {
    std::uint16_t slots[slots_on_stack];
    const std::size_t size = std::bit_ceil(leaves.size() * 2);
    for (std::size_t s = 0; s < size; ++s) slots[s] = UINT16_MAX;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      std::size_t s = (reinterpret_cast<std::uintptr_t>(leaves[i]) * 0x9E3779B97F4A7C15u >> 40) & (size - 1);
      while (slots[s] != UINT16_MAX && leaves[slots[s]] != leaves[i]) s = (s + 1) & (size - 1);
      if (slots[s] == UINT16_MAX) slots[s] = static_cast<std::uint16_t>(i);
      same_as[i] = slots[s];
    }
    return;
  }
  std::unordered_map<const runtime::TensorImpl*, std::uint16_t> first;
  for (std::size_t i = 0; i < leaves.size(); ++i)
    same_as[i] = first.try_emplace(leaves[i], static_cast<std::uint16_t>(i)).first->second;
}

}  // namespace sinter::inline v1::jit

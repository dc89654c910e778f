// A hash map from addresses.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sinter::inline v1::jit {

/// Allocates nothing for up to 16 addresses, which is most expressions. Null is not an address.
template <class T>
class PointerMap {
 public:
  PointerMap() = default;
  PointerMap(const PointerMap&) = delete;
  PointerMap& operator=(const PointerMap&) = delete;

  /// Null if it is not there.
  T* find(const void* address) noexcept {
    Slot& slot = slot_of(address);
    return slot.address ? &slot.value : nullptr;
  }
  /// The value, and whether it is new.
  std::pair<T*, bool> try_emplace(const void* address) {
    Slot* slot = &slot_of(address);
    if (slot->address) return {&slot->value, false};
    if (2 * ++size_ > slots_.size()) {
      grow();
      slot = &slot_of(address);
    }
    slot->address = address;
    return {&slot->value, true};
  }

 private:
  struct Slot {
    const void* address = nullptr;
    T value{};
  };

  Slot& slot_of(const void* address) noexcept {
    const std::size_t mask = slots_.size() - 1;
    const auto key = reinterpret_cast<std::uintptr_t>(address);
    std::size_t i = (key * 0x9E3779B97F4A7C15u) >> (64 - std::countr_zero(slots_.size()));
    while (slots_[i].address && slots_[i].address != address) i = (i + 1) & mask;
    return slots_[i];
  }
  void grow() {
    std::vector<Slot> larger(2 * slots_.size());
    const std::span<const Slot> old = std::exchange(slots_, larger);
    for (const Slot& s : old)
      if (s.address) slot_of(s.address) = s;
    more_ = std::move(larger);
  }

  std::array<Slot, 32> first_{};
  std::vector<Slot> more_;  // instead of these
  std::span<Slot> slots_ = first_;
  std::size_t size_ = 0;
};

}  // namespace sinter::inline v1::jit

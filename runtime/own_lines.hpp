// Memory that shares no cache line with other allocations: without false sharing, however often one thread writes it.
#pragma once
#include <cstddef>
#include <new>
#include <vector>

#include <sinter/runtime/interference_size.hpp>

namespace sinter::inline v1::runtime {

/// An allocator.
template <class T>
struct OwnLines {
  using value_type = T;
  static constexpr std::align_val_t alignment{interference_size};

  OwnLines() = default;
  template <class U>
  OwnLines(const OwnLines<U>&) noexcept {}
  static T* allocate(std::size_t count) {
    const std::size_t lines = (count * sizeof(T) + interference_size - 1) / interference_size;
    return static_cast<T*>(::operator new(lines * interference_size, alignment));
  }
  static void deallocate(T* data, std::size_t) noexcept { ::operator delete(data, alignment); }
  friend bool operator==(OwnLines, OwnLines) noexcept { return true; }
};

/// A vector that one thread writes.
template <class T>
using OwnVector = std::vector<T, OwnLines<T>>;

}  // namespace sinter::inline v1::runtime

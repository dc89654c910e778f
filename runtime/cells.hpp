// Memory that shares no cache line with other allocations. A thread writes it often; next to it could be what other
// threads read, whose reads would then wait.
#pragma once
#include <cstddef>
#include <new>
#include <vector>

#include <sinter/runtime/shared_count.hpp>
#include "address_sanitizer.hpp"
#include "per_thread.hpp"

namespace sinter::inline v1::runtime {

template <class T>
struct OwnLines {
  using value_type = T;
  static constexpr std::align_val_t alignment{line_alignment};

  OwnLines() = default;
  template <class U>
  OwnLines(const OwnLines<U>&) noexcept {}
  static T* allocate(std::size_t count) {
    const std::size_t lines = (count * sizeof(T) + line_alignment - 1) / line_alignment;
    return static_cast<T*>(::operator new(lines * line_alignment, alignment));
  }
  static void deallocate(T* data, std::size_t) noexcept { ::operator delete(data, alignment); }
  friend bool operator==(OwnLines, OwnLines) noexcept { return true; }
};

/// A vector that one thread writes.
template <class T>
using OwnVector = std::vector<T, OwnLines<T>>;

/// Memory for objects that most evaluations make and destroy. Each thread keeps a few that are free.
template <class T>
class Cells {
 public:
  static void* allocate() {
    if constexpr (!has_address_sanitizer)
      if (Cells& mine = per_thread<Cells>(); mine.count_ > 0) return mine.free_[--mine.count_];
    return OwnLines<T>::allocate(1);
  }
  static void deallocate(void* cell) noexcept {
    if (!keep(cell)) OwnLines<T>::deallocate(static_cast<T*>(cell), 1);
  }

  Cells() = default;
  Cells(const Cells&) = delete;
  Cells& operator=(const Cells&) = delete;
  ~Cells() {
    while (count_ > 0) OwnLines<T>::deallocate(static_cast<T*>(free_[--count_]), 1);
  }

 private:
  static constexpr int most = 32;

  static bool keep(void* cell) noexcept try {
    if constexpr (has_address_sanitizer) return false;
    Cells& mine = per_thread<Cells>();
    if (mine.count_ == most) return false;
    mine.free_[mine.count_++] = cell;
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  int count_ = 0;
  void* free_[most];
};

}  // namespace sinter::inline v1::runtime

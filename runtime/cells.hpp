// A free list for each thread.
#pragma once
#include <new>

#include "address_sanitizer.hpp"
#include "own_lines.hpp"
#include "per_thread.hpp"

namespace sinter::inline v1::runtime {

/// Memory for objects that most evaluations make and destroy. Each thread keeps a few cells that are free.
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

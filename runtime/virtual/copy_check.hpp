// For the strict tier: checks that copies from, to and between virtual GPUs are ordered after earlier work.
#pragma once
#include <cstddef>
#include <string>

#include "arena.hpp"
#include "happens_before.hpp"

namespace sinter::inline v1::runtime::vgpu {

/// One copy on a stream, while it runs. Throws CudaError if nothing orders it after an earlier access.
class CopyCheck {
 public:
  CopyCheck(const StreamImpl& stream, std::string what) : what_(std::move(what)), order_(stream, what_) {}

  void read(Arena& arena, const void* from, std::size_t bytes);
  void write(Arena& arena, const void* to, std::size_t bytes);
  /// Bytes that were never written still count as unwritten after the copy.
  void copy(Arena& to_arena, const void* to, Arena& from_arena, const void* from, std::size_t bytes);

 private:
  [[noreturn]] void refuse(const char* access, const char* before, Work work, const void* at) const;

  std::string what_;
  StreamOrder order_;
};

}  // namespace sinter::inline v1::runtime::vgpu

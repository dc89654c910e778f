// Copies between arrays and host memory.
#pragma once
#include <memory>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::runtime {

inline std::size_t bytes_of(const TensorImpl& array) noexcept {
  return static_cast<std::size_t>(array.numel) * size_of(array.dtype);
}

/// Uninitialized memory for `bytes`. Throws std::bad_alloc.
inline std::unique_ptr<std::byte[]> scratch(std::size_t bytes) {
  return std::make_unique_for_overwrite<std::byte[]>(bytes);
}

/// Copies `bytes` bytes, from byte `offset` of an array; waits for its device.
void read(const TensorImpl& array, std::size_t offset, std::size_t bytes, std::byte* host);
/// A host pointer to the same bytes: into the array itself, or `host` after a copy.
const std::byte* read_or_borrow(const TensorImpl& array, std::size_t offset, std::size_t bytes, std::byte* host);
/// The reverse; `host` may be reused at once.
void write(const TensorImpl& array, std::size_t offset, std::size_t bytes, const std::byte* host);
/// From one array to another; they must share no memory, or all of it.
void copy(const TensorImpl& to, std::size_t to_offset, const TensorImpl& from, std::size_t from_offset,
          std::size_t bytes);

}  // namespace sinter::inline v1::runtime

// Elements of arrays in the memory of the host.
#pragma once
#include <memory>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::runtime {

inline std::size_t bytes_of(const TensorImpl& array) noexcept {
  return static_cast<std::size_t>(array.numel) * size_of(array.dtype);
}

/// Memory for `bytes`, uninitialised. Throws std::bad_alloc.
inline std::unique_ptr<std::byte[]> scratch(std::size_t bytes) {
  return std::make_unique_for_overwrite<std::byte[]>(bytes);
}

/// Copies `bytes` from `offset` bytes into an array; waits for its device.
void read(const TensorImpl& array, std::size_t offset, std::size_t bytes, std::byte* host);
/// Where the same bytes are on the host: in the array itself, or in `host`.
const std::byte* read_or_borrow(const TensorImpl& array, std::size_t offset, std::size_t bytes, std::byte* host);
/// The other way; `host` may be reused at once.
void write(const TensorImpl& array, std::size_t offset, std::size_t bytes, const std::byte* host);
/// From one array to another, which does not share memory with it, or all of it.
void copy(const TensorImpl& to, std::size_t to_offset, const TensorImpl& from, std::size_t from_offset,
          std::size_t bytes);

}  // namespace sinter::inline v1::runtime

// Caching of rows in shared memory if they do not fit in registers: the first pass over a row stores what it reads, and
// later passes read it from there. Each thread reads only what it stored itself, so no barrier is needed. Results do
// not depend on whether a GPU has enough shared memory.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "class_key.hpp"

namespace sinter::inline v1::jit {

/// The largest shared memory per block of all supported GPUs, in bytes.
inline constexpr std::int64_t largest_shared = 227 << 10;

/// An upper bound on the static shared memory that a kernel uses besides the row cache.
std::int64_t variable_bytes(const RowTraits& traits) noexcept;

/// The number of elements that the row cache holds of each cached input: `columns`, rounded up so that all arrays
/// are aligned. 0 if nothing is cached, or if the cache (column_bytes per column, for all cached inputs together) and
/// the block's `variables` do not fit into `shared` bytes.
std::int64_t row_cache_extent(std::int64_t columns, int column_bytes, std::int64_t variables,
                              std::int64_t shared) noexcept;

/// The layout of the row cache of kernels of one class: one array for each input that several passes read.
class RowCache {
 public:
  RowCache() = default;  // caches nothing
  RowCache(const KernelTraits& traits, const KernelClass& c);

  /// The offset of an operand's elements, in bytes per column; nullopt if the operand is not cached. Operands are
  /// numbered as in a kernel: outputs, then inputs.
  std::optional<int> offset(std::size_t operand) const noexcept {
    return offsets_.empty() ? std::nullopt : offsets_[operand];
  }
  /// row_cache_extent on a GPU with this much shared memory per block.
  std::int64_t extent(std::int64_t columns, std::int64_t shared_per_block) const noexcept {
    return row_cache_extent(columns, column_bytes_, variables_, shared_per_block);
  }
  /// The kernel's dynamic shared memory.
  std::int64_t bytes(std::int64_t extent) const noexcept { return extent * column_bytes_; }

 private:
  std::vector<std::optional<int>> offsets_;
  int column_bytes_ = 0;
  std::int64_t variables_ = 0;
};

}  // namespace sinter::inline v1::jit

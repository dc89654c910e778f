// Rows that registers do not hold, but shared memory does: what the first pass through a row reads from memory stays
// there, and later passes read it from there. A thread reads only what it left itself, so no barrier is needed, and
// results do not depend on whether a GPU has room.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "class_key.hpp"

namespace sinter::inline v1::jit {

/// Bytes of shared memory that a block may have on the GPUs with the most of it.
inline constexpr std::int64_t largest_shared = 227 << 10;

/// How much shared memory a block's variables take for rows that are not kept, at most.
std::int64_t variable_bytes(const RowTraits& traits) noexcept;

/// Elements that each input has room for in a row cache of so many bytes a column, beside a block's variables: the
/// columns, rounded up so that all parts are aligned. 0 where nothing is cached, or not all of it fits into `shared`
/// bytes.
std::int64_t row_cache_extent(std::int64_t columns, int column_bytes, std::int64_t variables,
                              std::int64_t shared) noexcept;

/// What a block caches of a row, in kernels of one class: a part for each input that several passes read.
class RowCache {
 public:
  RowCache() = default;  // nothing
  RowCache(const KernelTraits& traits, const KernelClass& c);

  /// Bytes of a column that lie before an operand's part, as operands are numbered in a kernel: outputs, then inputs.
  /// Nothing where it is not cached.
  std::optional<int> place(std::size_t operand) const noexcept {
    return places_.empty() ? std::nullopt : places_[operand];
  }
  /// As row_cache_extent, where a block may have so many bytes of shared memory.
  std::int64_t extent(std::int64_t columns, std::int64_t shared_per_block) const noexcept {
    return row_cache_extent(columns, column_bytes_, variables_, shared_per_block);
  }
  /// Of dynamic shared memory.
  std::int64_t bytes(std::int64_t extent) const noexcept { return extent * column_bytes_; }

 private:
  std::vector<std::optional<int>> places_;
  int column_bytes_ = 0;
  std::int64_t variables_ = 0;
};

}  // namespace sinter::inline v1::jit

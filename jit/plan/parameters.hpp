// The words that a kernel receives.
#pragma once
#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

#include "class_key.hpp"

namespace sinter::inline v1::jit {

/// Parameter words; those of ordinary kernels are kept inline.
using Words = boost::container::small_vector<std::uint64_t, 160>;

/// How many words a nest takes in a class.
std::size_t nest_word_count(const KernelClass& c) noexcept;

/// Writes the words of a nest for a class that holds it: pointers, count, extents and divisors, strides (the order is
/// stated at KernelClass). Returns the end.
std::uint64_t* write_nest(std::uint64_t* words, const KernelClass& c, const LoopNest& nest) noexcept;

/// One launch of a kernel that reduces.
struct RowLaunch {
  RowGrid grid;
  std::int64_t rows = 0, columns = 0;
  std::int64_t splits_in_launch = 1;  // blocks that process a row in this launch
  std::int64_t pass = 0;              // the launch's pass, if blocks share rows
  std::int64_t row_cache = 0;         // elements of each cached input that the row cache holds; 0: there is no cache
  std::span<std::byte* const> partials = {};  // by stage
};

/// The words of a kernel that reduces.
std::size_t row_word_count(const KernelClass& c, std::size_t stages) noexcept;
std::uint64_t* write_row_nest(std::uint64_t* words, const KernelClass& c, const LoopNest& nest,
                              const RowLaunch& launch) noexcept;

/// Writes an extent (> 0) and its FastDivisor64, three words. Returns the end.
std::uint64_t* write_wide_extent(std::uint64_t* words, std::int64_t extent) noexcept;

/// Threads that have work.
inline std::int64_t thread_count(const KernelClass& c, const LoopNest& nest) noexcept {
  const int elements = c.is_tiled() ? c.vector_width * c.vector_width : c.vector_width;
  return nest.numel >= elements ? nest.numel / elements : nest.numel;
}

/// A scalar's value in the dtype that the kernel uses it in, zero-extended; converts as kernels do.
inline std::uint64_t scalar_word(Scalar value, Category arrives_as, DType dtype) noexcept {
  return convert_bits(value.bits, arriving_dtype(arrives_as), dtype);
}

}  // namespace sinter::inline v1::jit

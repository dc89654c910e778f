// Sorting and selection within rows, on the CPU's threads.
#pragma once
#include <cstddef>
#include <cstdint>

#include <sinter/runtime/dtype.hpp>

namespace sinter::inline v1::jit::cpu {

/// Contiguous rows of a dtype that is not complex.
struct RowArray {
  const std::byte* data;
  DType dtype;
  std::int64_t count, length;
};

/// The first `first` elements of each row in order, and their positions. Stable. `values` may be null.
void sort(const RowArray& rows, bool descending, std::int64_t first, std::byte* values, std::int64_t* indices);

/// Which element of a row in ascending order: the one at a position; the median, or the first NaN if there is one; the
/// median of the elements that are not NaN.
enum class Statistic : std::uint8_t { Kth, Median, NanMedian };

/// One element of each row, and its position. The rows must not be empty.
void pick(const RowArray& rows, Statistic statistic, std::int64_t position, std::byte* values, std::int64_t* indices);

}  // namespace sinter::inline v1::jit::cpu

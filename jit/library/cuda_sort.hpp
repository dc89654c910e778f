// Sorting and selection within rows, on a GPU.
#pragma once
#include <sinter/jit/sort.hpp>
#include "cpu_sort.hpp"

namespace sinter::inline v1::jit::cuda {

/// The first elements of each row of x in order, and their positions: as many as the results' last extent. x is
/// contiguous, the results are not empty, and their values may be null.
void sort(const runtime::TensorImpl& x, bool descending, const ValuesAndIndices& to);

/// One element of each row of x, which is contiguous and not empty, and its position.
void pick(const runtime::TensorImpl& x, cpu::Statistic statistic, std::int64_t position, const ValuesAndIndices& to);

}  // namespace sinter::inline v1::jit::cuda

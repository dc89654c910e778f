// The limit on a kernel's size, in operations per element (weight() of each).
#pragma once
#include <cstddef>

namespace sinter::inline v1::jit {

/// Beyond 50 to 100 operations per element a kernel is compute-bound, so longer kernels save little memory traffic,
/// while compile time grows (about 3 ms per operation on 4 elements). A call or a division counts as several
/// operations.
inline constexpr int max_weight = 512;
/// Limits of a kernel that reduces.
inline constexpr int max_row_inputs = 48;
inline constexpr std::size_t max_row_reductions = 48;

}  // namespace sinter::inline v1::jit

// How much work a kernel may hold, in operations for each element (weight() of each).
#pragma once
#include <cstddef>

namespace sinter::inline v1::jit {

/// Past some 50 to 100 operations per element a kernel is bound by arithmetic, so a longer one saves little memory
/// traffic, while its compilation grows (some 3 ms for an operation on 4 elements). A call or division counts for
/// several.
inline constexpr int max_weight = 512;
/// Of a kernel that reduces.
inline constexpr int max_row_inputs = 48;
inline constexpr std::size_t max_row_reductions = 48;

}  // namespace sinter::inline v1::jit

// How much work a kernel holds, in operations for each element.
#pragma once
#include "plan.hpp"

namespace sinter::inline v1::jit {

/// Past some 50 to 100 operations per element a kernel is bound by arithmetic, so a longer one saves little memory
/// traffic, while its compilation grows (some 3 ms for an operation on 4 elements). A call or division counts for
/// several.
inline constexpr int max_weight = 512;
inline constexpr int call_weight = 8;
/// Of a kernel that reduces.
inline constexpr int max_row_inputs = 48;
inline constexpr std::size_t max_row_reductions = 48;

inline int weight(Op op) noexcept { return is_function(op) ? call_weight : 1; }

}  // namespace sinter::inline v1::jit

// Estimated time, which determines the number of threads.
#pragma once
#include <cstdint>

#include "../ops/traits.hpp"

namespace sinter::inline v1::jit::cpu {

/// Nanoseconds per element of an operation that computes in `compute`.
inline double nanoseconds(Op op, DType compute) noexcept {
  constexpr double of_instruction = 0.01;  // per byte
  const double slower = compute == DType::Float64 && is_function(op) ? 2 : 1;
  return of_instruction * slower * static_cast<double>(traits_of(op).cost) * static_cast<double>(size_of(compute));
}

/// Nanoseconds per element of the loads and stores of so many bytes.
inline double nanoseconds(std::int64_t bytes) noexcept { return 0.05 * static_cast<double>(bytes); }

}  // namespace sinter::inline v1::jit::cpu

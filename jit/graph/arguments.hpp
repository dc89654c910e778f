// Value checks of numbers that are operands.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include <sinter/jit/ops.hpp>

namespace sinter::inline v1::jit {

/// Whether an operation has such checks.
bool limits_arguments(Op op) noexcept;
/// The value of an element from its bits.
double number_of(std::uint64_t bits, DType dtype) noexcept;
/// Throws Error if an integer does not fit the dtype that an operation converts it to.
void check_fits(std::int64_t value, DType dtype);
/// Throws Error if the operation does not accept a number. Operands that are not numbers are empty.
void check_arguments(Op op, std::span<const std::optional<double>> operands);

}  // namespace sinter::inline v1::jit

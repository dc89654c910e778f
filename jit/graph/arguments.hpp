// What operations ask of numbers among their operands, beside a dtype that holds them.
#pragma once
#include <optional>
#include <span>

#include <sinter/jit/ops.hpp>

namespace sinter::inline v1::jit {

/// Whether an operation asks anything.
bool limits_arguments(Op op) noexcept;
/// The bits of an element as a number.
double number_of(std::uint64_t bits, DType dtype) noexcept;
/// Throws Error where the operation does not take its numbers. Operands that are none are empty.
void check_arguments(Op op, std::span<const std::optional<double>> operands);

}  // namespace sinter::inline v1::jit

// Values that an operation cannot compute with, which only the data can tell.
#pragma once
#include <optional>
#include <string>

#include <sinter/jit/graph.hpp>
#include "plan.hpp"

namespace sinter::inline v1::jit {

/// Whether an operation divides by its second operand, which must not be 0 if it is an integer.
bool has_divisor(Op op) noexcept;

/// The operand that must not be 0: the divisor of integers, unless it is a constant that is not 0.
std::optional<Operand> nonzero_operand(const Graph& graph, const Node& node) noexcept;

/// Whether some value may stop the kernel's result from being right.
bool may_fault(const Graph& graph) noexcept;

/// "ZeroDivisionError: an integer was divided by zero (remainder of int64 in kernel ...); ...", and what to do.
std::string fault_message(const Kernel& kernel);

}  // namespace sinter::inline v1::jit

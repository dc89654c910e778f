// Errors that depend on the data: a division by zero, an index out of range.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <sinter/jit/graph.hpp>
#include "plan.hpp"

namespace sinter::inline v1::jit {

enum class Fault : std::uint8_t { DivisionByZero, IndexOutOfRange };
inline constexpr std::array all_faults{Fault::DivisionByZero, Fault::IndexOutOfRange};

/// The faults that a kernel may find.
struct Faults {
  bool division_by_zero = false, index_out_of_range = false;

  bool any() const noexcept { return division_by_zero || index_out_of_range; }
  bool has(Fault f) const noexcept { return f == Fault::DivisionByZero ? division_by_zero : index_out_of_range; }
  std::size_t count() const noexcept { return std::size_t{division_by_zero} + std::size_t{index_out_of_range}; }
};

/// The faults that a run on the CPU has found, and one of the positions that were out of range.
struct RunFaults : Faults {
  std::int64_t value = 0, extent = 0;
};

/// The operand that must not be 0: an integer divisor, unless it is a nonzero constant.
std::optional<Operand> nonzero_operand(const Graph& graph, const Node& node) noexcept;

/// The faults that a kernel with this graph may find.
Faults faults_of(const Graph& graph) noexcept;

/// The message: "ZeroDivisionError: an integer was divided by zero (remainder of int64 in kernel ...); ...", and what
/// to do. `faults` describes the position, if known.
std::string fault_message(const Kernel& kernel, Fault fault, const RunFaults* faults = nullptr);

/// Throws Error, or IndexError for a position out of range.
[[noreturn]] void throw_fault(const Kernel& kernel, const RunFaults& faults);

}  // namespace sinter::inline v1::jit

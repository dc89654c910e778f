// How far two evaluations of a value of a random program may differ.
#pragma once
#include <optional>
#include <span>

#include "step.hpp"

namespace sinter::fuzz {

struct Extent {
  double largest = 0;  // of the finite magnitudes
  bool has_nan = false, has_infinity = false;
  bool is_whole = true;  // each finite element and the next integer are representable in the dtype
};
Extent extent_of(const Plain& x);

/// The error of a step's result, given its operands' errors; nullopt if it cannot be bounded, for example if a value
/// overflows in one compute dtype and not in another.
std::optional<double> error_of(const Step& step, const Plain& result, std::span<const Plain> operands,
                               std::span<const double> errors);
/// The bound between a step and its reference, on the same operands.
double reference_bound(const Step& step, const Plain& result, std::span<const Plain> operands);

}  // namespace sinter::fuzz

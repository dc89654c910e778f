// How far a value of a random program may lie from itself, evaluated in another way.
#pragma once
#include <optional>
#include <span>

#include "step.hpp"

namespace sinter::fuzz {

struct Extent {
  double largest = 0;  // of the finite magnitudes
  bool has_nan = false, has_infinity = false;
  bool is_whole = true;  // each finite element is an integer that the dtype has, and the next one, too
};
Extent extent_of(const Plain& x);

/// The error of a step's result, of operands with these errors; nothing where it is no number that could go on: what
/// overflows in one dtype, say, and not in another that a kernel computes in.
std::optional<double> error_of(const Step& step, const Plain& result, std::span<const Plain> operands,
                               std::span<const double> errors);
/// Between a step and its reference, on the same operands.
double reference_bound(const Step& step, const Plain& result, std::span<const Plain> operands);

}  // namespace sinter::fuzz

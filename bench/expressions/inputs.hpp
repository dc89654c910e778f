// The inputs of every library: float elements, the same numbers for all; narrower dtypes are converted from them.
#pragma once
#include <cstddef>
#include <vector>

namespace bench {

/// The shape of n elements as a matrix: as square as n's divisors allow, no taller than wide.
struct Extent {
  std::size_t rows;
  std::size_t columns;
};
Extent extent(std::size_t n);

/// Operands by purpose, with n elements unless stated otherwise. Each is generated on first use.
enum class Operand { X, Y, Spot, Strike, Time, Wide, Row, Column, Mean, Variance, Gain, Shift, Pixels };

/// Wide has 2 n elements; Row, Gain and Shift have one per column; Column, Mean and Variance one per row.
std::size_t length(Operand operand, std::size_t n);
std::size_t length(Operand operand, const Extent& of);

/// Uniform numbers, integers for pixels. Never constant, since some processors' functions are faster for zeros and
/// ones. Only one thread may call it at a time.
const std::vector<float>& input(Operand operand, std::size_t n);
const std::vector<float>& input(Operand operand, const Extent& of);

}  // namespace bench

// What every library computes on: float elements, the same numbers for all; narrower dtypes are made of them.
#pragma once
#include <cstddef>
#include <vector>

namespace bench {

/// The matrix that n elements are: as square as n's divisors allow, no taller than wide.
struct Extent {
  std::size_t rows;
  std::size_t columns;
};
Extent extent(std::size_t n);

/// Operands by what they are for, n elements unless said otherwise. Each is drawn when it is first asked for.
enum class Operand { X, Y, Spot, Strike, Time, Wide, Row, Column, Mean, Variance, Gain, Shift, Pixels };

/// Wide has 2 n elements, Row, Gain and Shift one for each column, Column, Mean and Variance one for each row.
std::size_t length(Operand operand, std::size_t n);
std::size_t length(Operand operand, const Extent& of);

/// Uniform numbers, whole ones of pixels; they are never constant, since zeros and ones are cheaper to some processors'
/// functions. One thread may ask at a time.
const std::vector<float>& input(Operand operand, std::size_t n);
const std::vector<float>& input(Operand operand, const Extent& of);

}  // namespace bench

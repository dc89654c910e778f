// Correct results of products and networks, in double precision, by loops that share no code with any library.
#pragma once
#include <cstddef>
#include <vector>

#include "cases.hpp"

namespace bench {

/// Rows of a matrix.
struct Lines {
  std::size_t rows = 0, columns = 0;
  std::vector<double> values;
  double* row(std::size_t i) { return &values[i * columns]; }
  const double* row(std::size_t i) const { return &values[i * columns]; }
};

/// The rows that are checked, for operands rounded to the dtype.
Lines right_of(const ProductCase& c, bool bfloat16, const ProductShape& of);

}  // namespace bench

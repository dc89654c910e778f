// Operations along the rows or columns of a matrix: the bytes that they move, and correct results.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "../expressions/inputs.hpp"

namespace bench {

/// The kind of result. A scan is a matrix of running results, Gathered one of rows selected by indices; the last two
/// are a single number for all rows.
enum class Kind { Matrix, Scan, Gathered, Rows, Columns, Mean, Sum };
inline bool is_matrix(Kind kind) { return kind <= Kind::Gathered; }

/// A row or column in double precision, rounded to the dtype, with its other operands.
struct Line {
  std::vector<double> x, gain, shift;
  std::size_t of_class;
};

struct RowCase {
  const char* name;
  Kind result;
  int vectors;                                  // number of operands with one element per column
  std::vector<double> (*right)(const Line& l);  // as long as the line, or one number; independent of all libraries
  bool cancels;                                 // values may be nearly 0 compared with their terms
  bool drops = false;                           // elements may randomly be 0 instead

  std::size_t elements(const Extent& of) const;
  /// Inputs once and the result once: elements of this many bytes, classes and indices of eight.
  double bytes(const Extent& of, std::size_t element) const;
};
const std::vector<RowCase>& row_cases();
const RowCase& find_row_case(const std::string& name);

/// The target class of a row.
inline std::size_t class_of(std::size_t row, std::size_t columns) { return row * 7919 % columns; }

/// Rows 0, step, 2 step ... of a matrix are checked.
std::size_t step_of_rows(const Extent& of);

/// What is wrong with a result; empty if nothing is. For a matrix, `result` holds the rows to check.
std::string fault_of(const RowCase& c, bool bfloat16, const Extent& of, std::span<const float> result);

}  // namespace bench

// What goes along the rows or columns of a matrix: what must cross memory, and what is right.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "../expressions/inputs.hpp"

namespace bench {

/// Of the result. A scan is a matrix of running results, Gathered one of the rows that indices choose; the last two are
/// one number of all rows.
enum class Kind { Matrix, Scan, Gathered, Rows, Columns, Mean, Sum };
inline bool is_matrix(Kind kind) { return kind <= Kind::Gathered; }

/// A row or column in double precision, as the dtype holds it, with what stands beside it.
struct Line {
  std::vector<double> x, gain, shift;
  std::size_t of_class;
};

struct RowCase {
  const char* name;
  Kind result;
  int vectors;                                  // operands with an element for each column
  std::vector<double> (*right)(const Line& l);  // as long as the line, or one number; independent of all libraries
  bool cancels;                                 // values may be nearly 0 beside what they are made of
  bool drops = false;                           // elements may be 0 instead, by chance

  std::size_t elements(const Extent& of) const;
  /// Inputs once and the result once: elements of so many bytes, classes and indices of eight.
  double bytes(const Extent& of, std::size_t element) const;
};
const std::vector<RowCase>& row_cases();
const RowCase& find_row_case(const std::string& name);

/// The class that a row's target says.
inline std::size_t class_of(std::size_t row, std::size_t columns) { return row * 7919 % columns; }

/// Of a matrix, the rows 0, step, 2 step ... are looked at.
std::size_t step_of_rows(const Extent& of);

/// What is wrong with a result, empty if nothing is. Of a matrix, `result` has the rows that are looked at.
std::string fault_of(const RowCase& c, bool bfloat16, const Extent& of, std::span<const float> result);

}  // namespace bench

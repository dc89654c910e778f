// Where the vectors of a row are: expressions that read operands at vector c.
#pragma once
#include "row_lines.hpp"

namespace sinter::inline v1::jit::cuda {

class RowVectors {
 public:
  explicit RowVectors(const RowLayout& layout) : layout_(layout), c_(layout.c) {}

  /// The place along the row of what lies at vector c, where some operand of the pass asks for it.
  void coordinates(RowLines& out, int lanes) const;
  /// The type of so many elements of an operand.
  std::string type(const RowOperand& a, int lanes) const;
  /// The first element's place from the row's beginning.
  std::string offset(const RowOperand& a, int lanes) const;
  /// The vector of an operand in memory.
  std::string at(const RowOperand& a, int lanes) const;
  /// The vector of an input.
  std::string fetched(const RowOperand& a, int lanes) const;
  /// Its place in the row cache.
  std::string cached(const RowOperand& a, int lanes) const;

 private:
  /// Whether c counts vectors of neighbours in a row, not elements.
  bool counts_vectors(int lanes) const noexcept { return lanes > 1 && !c_.rows.across; }

  const RowLayout& layout_;
  const KernelClass& c_;
};

}  // namespace sinter::inline v1::jit::cuda

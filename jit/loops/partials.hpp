// Partial results of rows that several blocks share, in global memory between launches.
#pragma once
#include "parts.hpp"

namespace sinter::inline v1::jit::loops {

/// Of each stage, an array for each value of its parts; the widest values first, so that all are aligned.
class Partials {
 public:
  Partials(const Frame& frame, Builder& b, const Operands& operands) : frame_(frame), b_(b), operands_(operands) {}

  void store(const Parts& parts, int stage, const Part& part, Value row, Value split) const;
  Part load(const Parts& parts, int stage, Value row, Value split) const;

 private:
  std::vector<Value> arrays(const Parts& parts, int stage) const;
  Value position(Value row, Value split) const;

  const Frame& frame_;
  Builder& b_;
  const Operands& operands_;
};

}  // namespace sinter::inline v1::jit::loops

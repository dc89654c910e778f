// The nodes of a kernel's graph as instructions: for a vector of its domain, or for a row.
#pragma once
#include <functional>

#include "operands.hpp"

namespace sinter::inline v1::jit::loops {

/// By node; none where it is not computed yet.
using Values = std::vector<Value>;

class Elements {
 public:
  Elements(const Frame& frame, Builder& b, const Operands& operands) : frame_(frame), b_(b), operands_(operands) {}

  /// What does not depend on where it is: constants, scalars, arrays, the number of elements.
  Values uniform() const;
  /// Computes the nodes that are `needed` and have no value. `input` gives an operand's elements; flags are raised and
  /// arrays are read where the guard is true.
  void compute(const std::vector<bool>& needed, Values& values, Value guard,
               const std::function<Value(std::size_t)>& input) const;

 private:
  Value node(const Node& n, const Values& values, Value guard) const;
  Value gather(const Node& n, const Values& values, Value guard) const;
  void flag(const Node& n, const Values& values, Value guard) const;

  const Frame& frame_;
  Builder& b_;
  const Operands& operands_;
};

}  // namespace sinter::inline v1::jit::loops

// The nodes of a kernel's graph as instructions: for a vector of its domain, or for a row.
#pragma once
#include <functional>

#include "builder.hpp"

namespace sinter::inline v1::jit::loops {

/// By node; none where it is not computed yet.
using Values = std::vector<Value>;

class Elements {
 public:
  Elements(const Graph& graph, Builder& b) : graph_(graph), b_(b) {}

  /// Values that are the same for all elements: constants, scalars by node, arrays by input, the number of elements.
  Values uniform(Value columns, const std::function<Value(std::size_t)>& scalar,
                 const std::function<Value(std::size_t)>& array) const;
  /// Computes the nodes that are `needed` and have no value. `input` gives an operand's elements; faults are recorded
  /// and arrays are read where the guard is true.
  void compute(const std::vector<bool>& needed, Values& values, Value guard,
               const std::function<Value(std::size_t)>& input) const;

 private:
  Value node(const Node& n, const Values& values, Value guard) const;
  Value gather(const Node& n, const Values& values, Value guard) const;
  void record_faults(const Node& n, const Values& values, Value guard) const;

  const Graph& graph_;
  Builder& b_;
};

}  // namespace sinter::inline v1::jit::loops

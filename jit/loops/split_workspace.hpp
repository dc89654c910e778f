// Partial results of rows that several blocks share, in global memory between launches.
#pragma once
#include "operands.hpp"
#include "reducer.hpp"

namespace sinter::inline v1::jit::loops {

/// For each stage, an array for each value of its partial results; the widest values first, so that all are aligned.
class SplitWorkspace {
 public:
  SplitWorkspace(const LoweringContext& context, Builder& b, const Operands& operands)
      : context_(context), b_(b), operands_(operands) {}

  void store(const Reducer& reducer, int stage, const Partial& partial, Value row, Value split) const;
  Partial load(const Reducer& reducer, int stage, Value row, Value split) const;

 private:
  std::vector<Value> arrays(const Reducer& reducer, int stage) const;
  Value position(Value row, Value split) const;

  const LoweringContext& context_;
  Builder& b_;
  const Operands& operands_;
};

}  // namespace sinter::inline v1::jit::loops

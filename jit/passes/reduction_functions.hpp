// Functions that the bodies of composite reductions call besides the operations; like those of terms.hpp, on the nodes
// of a graph.
#pragma once
#include "terms.hpp"

namespace sinter::inline v1::jit::terms {

/// Reductions along the axes of the composite one.
class Reducer {
 public:
  Reducer(ReduceAxes along, const Constants& numbers) : along_(along), numbers_(numbers) {}

  Term sum(Term a) const { return reduce(Op::sum, a); }
  Term prod(Term a) const { return reduce(Op::prod, a); }
  Term amax(Term a) const { return reduce(Op::amax, a); }
  Term all(Term bools) const { return reduce(Op::all, bools); }
  /// In the operand's dtype, but not rounded to 16 bits, which do not hold large counts.
  Term count(Term a) const { return in_dtype_of(a, reduce(Op::count, a)); }
  /// A reduction's result with its axes kept as extents of 1, so that it broadcasts against the elements.
  Term keep_dims(Term result) const {
    const Node n = (*result.graph)[result.operand];
    const Operand operand = result.graph->operands(n)[0];
    return {result.graph, result.graph->node(n.op, n.dtype, {&operand, 1}, ReduceAxes{along_.axes, true}.bits())};
  }
  /// The number of true bools.
  Term ones(Term bools) const { return sum({bools.graph, bools.graph->cast(bools.operand, DType::Int64)}); }
  /// The sum of the squared distances from the mean, divided by the number of elements minus `correction`.
  Term variance(Term a, Term correction) const {
    const Term mean = keep_dims(sum(a)) / count_with_dims(a);
    const Term freedom = count(a) - correction;
    return sum(square(a - mean)) / maximum(freedom, numbers_(0));
  }

 private:
  Term reduce(Op op, Term a) const {
    const OperandType type{a.dtype()};
    const OpTypes t = op_types(op, {&type, 1});
    return {a.graph, a.graph->node(op, t.result, {&a.operand, 1}, along_.bits())};
  }
  Term count_with_dims(Term a) const { return in_dtype_of(a, keep_dims(reduce(Op::count, a))); }
  static Term in_dtype_of(Term a, Term n) {
    if (!is_stored_only(a.dtype())) return {a.graph, a.graph->cast(n.operand, a.dtype())};
    return {a.graph, a.graph->node(Op::cast, a.dtype(), {&n.operand, 1}, weak_result)};
  }

  ReduceAxes along_;
  const Constants& numbers_;
};

/// The value, or 0 for infinities and NaN.
inline Term finite(Term a) { return select(isfinite(a), a, a.number(0)); }

}  // namespace sinter::inline v1::jit::terms

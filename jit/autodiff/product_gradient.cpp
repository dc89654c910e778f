// Gradients of matrix products.
#include "differentiator.hpp"

namespace sinter::inline v1::jit {

Operand Differentiator::emit_matmul(Operand a, Operand b, Transposed transposes) {
  const Operand factors[] = {a, b};
  return made(Op::matmul, node(a).dtype, factors, transposes.bits());
}

Operand Differentiator::emit_mul(Operand a, Operand b) {
  const Operand factors[] = {a, b};
  return made(Op::mul, node(a).dtype, factors);
}

Operand Differentiator::emit_conj(Operand a) {
  return is_complex(node(a).dtype) ? made(Op::conj, node(a).dtype, {&a, 1}) : a;
}

/// Of c = a b: g b^T for a, and a^T g for b, summed over the batches along which they broadcast.
void Differentiator::visit_product(Operand value, Operand g) {
  g = broadcast_to(g, shape(value));
  const Operand a = operand(value, 0), b = operand(value, 1);
  const Transposed t = Transposed::of(node(value).attribute);
  if (shape(a).ndim() == 1 || shape(b).ndim() == 1) {
    for (std::size_t i = 0; i < 2; ++i)
      if (needed_[static_cast<std::size_t>(operand(value, i).node)])
        add(operand(value, i), vector_product(value, g, i));
    return;
  }
  const auto add_to = [&](Operand to, Operand product) { add(to, sum_to_shape(shape(to), product, shape(product))); };
  // a is stored transposed if t.a: then its gradient is (g b^T)^T = b g^T.
  if (needed_[static_cast<std::size_t>(a.node)])
    add_to(a, t.a ? emit_matmul(emit_conj(b), g, {t.b, true}) : emit_matmul(g, emit_conj(b), {false, !t.b}));
  if (needed_[static_cast<std::size_t>(b.node)])
    add_to(b, t.b ? emit_matmul(g, emit_conj(a), {true, t.a}) : emit_matmul(emit_conj(a), g, {!t.a, false}));
}

/// The gradient of an operand of a product of which one operand, or both, is a vector: as products of elements, summed
/// over all axes but the operand's. g lacks the axis of the vector.
Operand Differentiator::vector_product(Operand value, Operand g, std::size_t which) {
  const bool row = shape(operand(value, 0)).ndim() == 1, column = shape(operand(value, 1)).ndim() == 1;
  const Transposed t = Transposed::of(node(value).attribute);
  const Operand to = operand(value, which), other = emit_conj(operand(value, 1 - which));
  if (row && column) return emit_mul(g, other);
  const Operand whole = apply_axis_map(g, AxisMap::restoring(column ? 1 : 2, shape(g).ndim() + 1));
  const auto transposed_if = [&](Operand o, bool transposes) {
    return transposes ? apply_axis_map(o, AxisMap::swapping(shape(o).ndim())) : o;
  };
  if (shape(to).ndim() > 1) {
    const Operand vector = column ? other : apply_axis_map(other, AxisMap::restoring(1, 2));
    const Operand outer = transposed_if(emit_mul(whole, vector), which == 0 ? t.a : t.b);
    return sum_to_shape(shape(to), outer, shape(outer));
  }
  Operand terms = emit_mul(whole, transposed_if(other, column ? t.a : t.b));
  if (row) terms = made(Op::sum, node(terms).dtype, {&terms, 1}, ReduceAxes{1, false}.bits());
  return sum_to_shape(shape(to), terms, shape(terms));
}

}  // namespace sinter::inline v1::jit

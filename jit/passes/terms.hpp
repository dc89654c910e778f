// The bodies of composite operations as functions on the nodes of a graph: T, a vector in the CPU's loops and an
// element in kernels, is a node here.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include <sinter/jit/graph.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::jit::terms {

/// A value in a graph; operators and functions append to it.
struct Term {
  Graph* graph;
  Operand operand;

  DType dtype() const noexcept { return (*graph)[operand].dtype; }
  /// A constant of this dtype; in 16 bits it takes the precision that it is used in, like a C++ number.
  Term number(double value) const {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    if (is_stored_only(dtype()) && category(dtype()) == Category::Float)
      return {graph, graph->cast(graph->constant(DType::Float64, bits), dtype())};
    return {graph, graph->constant(dtype(), convert_bits(bits, DType::Float64, dtype()))};
  }
};

/// T(2) in a body: a constant in the body's compute dtype.
struct Constants {
  Term like;
  Term operator()(double value) const { return like.number(value); }
};

/// One operation on operands that already have its dtype, as in a body.
inline Term apply(Op op, std::initializer_list<Term> terms) {
  std::array<Operand, max_arity> operands;
  std::array<OperandType, max_arity> types;
  std::size_t count = 0;
  for (const Term& t : terms) {
    types[count] = {t.dtype()};
    operands[count++] = t.operand;
  }
  const OpTypes t = op_types(op, std::span(types).first(count));
  if (!t.ok || t.compute != types[count - 1].dtype)
    throw Error(std::string(name(op)) + " does not support the dtype of the body that calls it");
  Graph& graph = *terms.begin()->graph;
  return {&graph, graph.node(op, t.result, std::span(operands).first(count))};
}

#define SINTER_TERM_1(name) \
  inline Term name(Term a) { return apply(Op::name, {a}); }
#define SINTER_TERM_2(name) \
  inline Term name(Term a, Term b) { return apply(Op::name, {a, b}); }
#define SINTER_TERM_3(name) \
  inline Term name(Term a, Term b, Term c) { return apply(Op::name, {a, b, c}); }
#define SINTER_OP(name, arity, rule) SINTER_TERM_##arity(name)
#include <sinter/jit/op_list.def>
#undef SINTER_TERM_1
#undef SINTER_TERM_2
#undef SINTER_TERM_3

inline Term select(Term condition, Term a, Term b) { return where(condition, a, b); }

inline Term operator+(Term a, Term b) { return add(a, b); }
inline Term operator-(Term a, Term b) { return sub(a, b); }
inline Term operator*(Term a, Term b) { return mul(a, b); }
inline Term operator/(Term a, Term b) { return div(a, b); }
inline Term operator-(Term a) { return neg(a); }
inline Term operator==(Term a, Term b) { return eq(a, b); }
inline Term operator!=(Term a, Term b) { return ne(a, b); }
inline Term operator<(Term a, Term b) { return lt(a, b); }
inline Term operator<=(Term a, Term b) { return le(a, b); }
inline Term operator>(Term a, Term b) { return gt(a, b); }
inline Term operator>=(Term a, Term b) { return ge(a, b); }
inline Term operator&(Term a, Term b) { return bitwise_and(a, b); }
inline Term operator|(Term a, Term b) { return bitwise_or(a, b); }
inline Term operator!(Term a) { return logical_not(a); }

/// The largest and the smallest finite number of a term's dtype.
inline Term extreme(Term like, bool highest) {
  const auto limit = [&](std::uint64_t bits) { return Term{like.graph, like.graph->constant(like.dtype(), bits)}; };
  if (like.dtype() == DType::Float16) return limit(highest ? 0x7BFF : 0xFBFF);
  if (like.dtype() == DType::BFloat16) return limit(highest ? 0x7F7F : 0xFF7F);
  return visit(like.dtype(), [&]<class T>(std::type_identity<T>) {
    std::uint64_t bits = 0;
    if constexpr (!complex_element<T>) {  // complex numbers have no order
      const T value = highest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
      __builtin_memcpy(&bits, &value, sizeof value);
    }
    return limit(bits);
  });
}
inline Term highest(Term like) { return extreme(like, true); }
inline Term lowest(Term like) { return extreme(like, false); }

/// Whether the sign bit is set; for integers, whether they are negative.
inline Term sign_bit(Term a) {
  return (category(a.dtype()) == Category::Float ? copysign(a.number(1), a) : a) < a.number(0);
}

}  // namespace sinter::inline v1::jit::terms

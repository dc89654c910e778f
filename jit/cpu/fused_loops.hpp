// Several operations in one pass over memory, for float and double. Each result has the bits that the operations one by
// one give: x + s is fma(x, 1, s), x * s is fma(x, s, -0), and so on.
#pragma once
#include "row_loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

template <Inner f, class T>
SINTER_INLINE Vec<T> inner(Vec<T> x) {
  switch (f) {
#define SINTER_INNER(name) \
  case Inner::name: return functions::name##_op::template apply<Vec<T>>(x, x, x);
    SINTER_INNER(exp)
    SINTER_INNER(log)
    SINTER_INNER(tanh)
    SINTER_INNER(erf)
    SINTER_INNER(sqrt)
    SINTER_INNER(sigmoid)
    SINTER_INNER(reciprocal)
    SINTER_INNER(square)
    SINTER_INNER(abs)
    SINTER_INNER(relu)
#undef SINTER_INNER
    default: return x;
  }
}

/// in: x, s, t, p, q. Bit 0 of the form: p is uniform; bit 1: q is.
template <Inner f, class T, int form>
void wrapped_row(void* out, const void* const* in, std::int64_t n) {
  using V = Vec<T>;
  const V s = Source<V, true>(in[1]).v, t = Source<V, true>(in[2]).v;
  loop(out, n, [s, t](V x, V p, V q) SINTER_LAMBDA { return fma(inner<f>(fma(x, s, t)), p, q); },
       Source<V, false>(in[0]), Source<V, (form & 1) != 0>(in[3]), Source<V, (form & 2) != 0>(in[4]));
}
template <Inner f, class T>
constexpr Rows wrapped_rows() {
  return {{wrapped_row<f, T, 0>, wrapped_row<f, T, 1>, wrapped_row<f, T, 2>, wrapped_row<f, T, 3>}};
}

/// in: x, r, c1, c2, ... Bit 0 of the form: r is uniform.
template <class T, int steps, int form>
void horner_row(void* out, const void* const* in, std::int64_t n) {
  using V = Vec<T>;
  V c[steps];
  for (int k = 0; k < steps; ++k) c[k] = Source<V, true>(in[2 + k]).v;
  const auto step = [&c](V x, V r) SINTER_LAMBDA {
#pragma GCC unroll 4
    for (int k = 0; k < steps; ++k) r = fma(r, x, c[k]);
    return r;
  };
  loop(out, n, step, Source<V, false>(in[0]), Source<V, (form & 1) != 0>(in[1]));
}
template <class T, int steps>
constexpr Rows horner_rows() {
  return {{horner_row<T, steps, 0>, horner_row<T, steps, 1>}};
}

template <Cheap op, class V>
SINTER_INLINE V cheap(V a, V b) {
  if constexpr (op == Cheap::add) return a + b;
  if constexpr (op == Cheap::sub) return a - b;
  if constexpr (op == Cheap::mul) return a * b;
  if constexpr (op == Cheap::rsub) return b - a;
}
/// in: a, b, c. The form as of other operations.
template <Cheap first, Cheap second, class T, int form>
void pair_row(void* out, const void* const* in, std::int64_t n) {
  using V = Vec<T>;
  loop(out, n, [](V a, V b, V c) SINTER_LAMBDA { return cheap<second>(cheap<first>(a, b), c); },
       Source<V, (form & 1) != 0>(in[0]), Source<V, (form & 2) != 0>(in[1]), Source<V, (form & 4) != 0>(in[2]));
}
template <Cheap f, Cheap s, class T>
constexpr Rows pair_rows() {
  return {{pair_row<f, s, T, 0>, pair_row<f, s, T, 1>, pair_row<f, s, T, 2>, pair_row<f, s, T, 3>, pair_row<f, s, T, 4>,
           pair_row<f, s, T, 5>, pair_row<f, s, T, 6>}};
}
/// in: a, b, c. The form as of other operations.
template <bool factor, class T, int form>
void negated_row(void* out, const void* const* in, std::int64_t n) {
  using V = Vec<T>;
  loop(out, n, [](V a, V b, V c) SINTER_LAMBDA { return factor ? fma(-a, b, c) : fma(a, b, -c); },
       Source<V, (form & 1) != 0>(in[0]), Source<V, (form & 2) != 0>(in[1]), Source<V, (form & 4) != 0>(in[2]));
}
template <bool factor, class T>
constexpr Rows negated_rows() {
  return {{negated_row<factor, T, 0>, negated_row<factor, T, 1>, negated_row<factor, T, 2>, negated_row<factor, T, 3>,
           negated_row<factor, T, 4>, negated_row<factor, T, 5>, negated_row<factor, T, 6>}};
}
#define SINTER_PAIRS(first, T)                                                                             \
  pair_rows<Cheap::first, Cheap::add, T>(), pair_rows<Cheap::first, Cheap::sub, T>(),                      \
      pair_rows<Cheap::first, Cheap::mul, T>(), pair_rows<Cheap::first, Cheap::rsub, T>()

#if defined(__FMA__)
#define SINTER_FUSED_ROWS(T)                                                                               \
  {wrapped_rows<Inner::none, T>(), wrapped_rows<Inner::exp, T>(), wrapped_rows<Inner::log, T>(),           \
   wrapped_rows<Inner::tanh, T>(), wrapped_rows<Inner::erf, T>(), wrapped_rows<Inner::sqrt, T>(),          \
   wrapped_rows<Inner::sigmoid, T>(), wrapped_rows<Inner::reciprocal, T>(),                                \
   wrapped_rows<Inner::square, T>(), wrapped_rows<Inner::abs, T>(), wrapped_rows<Inner::relu, T>(),        \
   horner_rows<T, 2>(), horner_rows<T, 3>(), horner_rows<T, 4>(), SINTER_PAIRS(add, T),                    \
   SINTER_PAIRS(sub, T), SINTER_PAIRS(mul, T), negated_rows<true, T>(), negated_rows<false, T>()}
#else  // where fma is emulated the operations one by one are faster
#define SINTER_FUSED_ROWS(T) {}
#endif

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

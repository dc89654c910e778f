// Makes an operation's loops from its tokens.
#pragma once
#include <sinter/jit/dtype_rule.hpp>
#include "../loop_table.hpp"
#include "vector_math.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

/// The table's tokens as functions on vectors.
namespace functions {
#define SINTER_OP(name, arity_, rule_, cost, traits, body, derivative, doc)                             \
  struct name##_op {                                                                                    \
    static constexpr int arity = arity_;                                                                \
    static constexpr DTypeRule rule = DTypeRule::rule_;                                                 \
    template <class T, class A, class B, class C>                                                       \
    static SINTER_INLINE auto apply([[maybe_unused]] A a, [[maybe_unused]] B b, [[maybe_unused]] C c) { \
      return body;                                                                                      \
    }                                                                                                   \
  };
#include "../../ops/ops.def"
}  // namespace functions

/// Whether an operation of this rule computes in T.
template <class T>
constexpr bool takes(DTypeRule rule) {
  constexpr bool is_bool = std::is_same_v<T, bool>, is_float = std::is_floating_point_v<T>;
  switch (rule) {
    case DTypeRule::Same:
    case DTypeRule::First:
    case DTypeRule::Compare:
    case DTypeRule::Select: return true;
    case DTypeRule::FirstNumber:
    case DTypeRule::Number: return !is_bool;
    case DTypeRule::Integer: return !is_float;
    case DTypeRule::IntegerOnly: return !is_bool && !is_float;
    case DTypeRule::Float:
    case DTypeRule::FloatOnly:
    case DTypeRule::WideFloat:
    case DTypeRule::FloatCompare: return is_float;
    case DTypeRule::Float64: return std::is_same_v<T, double>;
    case DTypeRule::Logical: return is_bool;
    case DTypeRule::Int64:
    case DTypeRule::Int64ToFloat32:
    case DTypeRule::Int64ToFloat64: return std::is_same_v<T, std::int64_t>;
    case DTypeRule::RealPart:
    case DTypeRule::Complex:
    case DTypeRule::ComplexParts:
    case DTypeRule::Sum:  // of reductions
    case DTypeRule::Index:
    case DTypeRule::Count:
    case DTypeRule::Nonzero:
    case DTypeRule::Product:
    case DTypeRule::None: break;
  }
  return false;
}

/// The type of operand k of F.
template <class F, class T, int k>
using Held = std::conditional_t<F::rule == DTypeRule::Select && k == 0, Mask<T>, Vec<T>>;

/// An operand in memory: a row, or one element for all.
template <class V, bool uniform>
struct Source {
  const typename V::element* p;
  explicit SINTER_INLINE Source(const void* data) : p(static_cast<const typename V::element*>(data)) {}
  SINTER_INLINE V at(std::int64_t i) const { return V::load(p + i); }
  SINTER_INLINE V at(std::int64_t i, int count) const { return V::load(p + i, count); }
};
template <class V>
struct Source<V, true> {
  V v;
  explicit SINTER_INLINE Source(const void* data) : v(V::broadcast(static_cast<const typename V::element*>(data))) {}
  SINTER_INLINE V at(std::int64_t) const { return v; }
  SINTER_INLINE V at(std::int64_t, int) const { return v; }
};

/// out[i] = f(sources.at(i)...), the last elements by masked loads and stores.
template <class F, class... S>
SINTER_INLINE void loop(void* out, std::int64_t n, F f, S... sources) {
  using R = decltype(f(sources.at(0)...));
  auto* o = static_cast<typename R::element*>(out);
  std::int64_t i = 0;
#pragma GCC unroll 2
  for (; i + R::lanes <= n; i += R::lanes) f(sources.at(i)...).store(o + i);
  if (const int rest = static_cast<int>(n - i); rest > 0) f(sources.at(i, rest)...).store(o + i, rest);
}

template <class F, class T, int form>
void row(void* out, const void* const* in, std::int64_t n) {
  const Source<Held<F, T, 0>, (form & 1) != 0> a(in[0]);
  if constexpr (F::arity == 1) {
    loop(out, n, [](auto x) SINTER_LAMBDA { return F::template apply<Vec<T>>(x, x, x); }, a);
  } else {
    const Source<Held<F, T, 1>, (form & 2) != 0> b(in[1]);
    if constexpr (F::arity == 2) {
      loop(out, n, [](auto x, auto y) SINTER_LAMBDA { return F::template apply<Vec<T>>(x, y, y); }, a, b);
    } else {
      const Source<Held<F, T, 2>, (form & 4) != 0> c(in[2]);
      loop(out, n, [](auto x, auto y, auto z) SINTER_LAMBDA { return F::template apply<Vec<T>>(x, y, z); }, a, b, c);
    }
  }
}

/// All forms except that with only uniform operands, which is one element of form 0.
template <class F, class T>
constexpr LoopForms loop_forms() {
  if constexpr (!takes<T>(F::rule))
    return {};
  else if constexpr (F::arity == 1)
    return {{row<F, T, 0>}};
  else if constexpr (F::arity == 2)
    return {{row<F, T, 0>, row<F, T, 1>, row<F, T, 2>}};
  else
    return {{row<F, T, 0>, row<F, T, 1>, row<F, T, 2>, row<F, T, 3>, row<F, T, 4>, row<F, T, 5>, row<F, T, 6>}};
}

extern const LoopForms bool_loops[loop_op_count], int32_loops[loop_op_count], int64_loops[loop_op_count];
extern const LoopForms float32_loops[loop_op_count], float64_loops[loop_op_count];
extern const LoopForms cast_loops[cast_count], complex_loops[complex_op_count],
    memory_loops[static_cast<int>(Memory::count)];
extern const LoopForms chain_loops[chain_count];

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

// The machine that runs chains.
#pragma once
#include "chain.hpp"
#include "row_loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

template <int... i>
struct Indices {};

/// Runs a program on `lanes...` registers of the accumulator, or, where it has but one, on its first `count` lanes.
template <class T, int... i>
SINTER_INLINE void run_block(Indices<i...>, const ChainCall& call, std::int64_t offset, int count) {
  using V = Vec<T>;
  constexpr bool partial = sizeof...(i) == 1;
  V acc[sizeof...(i)] = {};
  const auto place = [&](int operand, int k) SINTER_LAMBDA {
    const ChainOperand& o = call.operands[operand];
    return reinterpret_cast<T*>(o.p + (offset & o.moves)) + k * V::lanes;
  };
  const auto vector = [&](int operand, int k) SINTER_LAMBDA {
    return partial ? V::load(place(operand, k), count) : V::load(place(operand, k));
  };
  const auto uniform = [&](int operand) SINTER_LAMBDA {
    return V::broadcast(reinterpret_cast<const T*>(call.operands[operand].p));
  };
  const auto each = [&](auto f) SINTER_LAMBDA { ((acc[i] = f(acc[i], i)), ...); };
  for (const Micro *m = call.code, *end = m + call.count; m != end; ++m) {
    switch (m->code) {
      case Code::load: each([&](V, int k) SINTER_LAMBDA { return vector(m->x, k); }); break;
      case Code::load_uniform: {
        const V x = uniform(m->x);
        each([&](V, int) SINTER_LAMBDA { return x; });
        break;
      }
      case Code::store:
        if constexpr (partial)
          acc[0].store(place(m->x, 0), count);
        else
          (acc[i].store(place(m->x, i)), ...);
        break;
#define SINTER_UNARY(name) \
  case Code::name: each([&](V a, int) SINTER_LAMBDA { return functions::name##_op::template apply<V>(a, a, a); }); break;
        SINTER_CHAIN_UNARY(SINTER_UNARY)
#undef SINTER_UNARY
#define SINTER_UNARY(name)                                                                                        \
  case Code::name:                                                                                                \
    if constexpr (sizeof(T) == 4)                                                                                 \
      each([&](V a, int) SINTER_LAMBDA { return functions::name##_op::template apply<V>(a, a, a); });             \
    break;
        SINTER_CHAIN_UNARY_FLOAT(SINTER_UNARY)
#undef SINTER_UNARY
#define SINTER_BINARY(name, value)                                           \
  case Code::name:                                                           \
    each([&](V a, int k) SINTER_LAMBDA {                                     \
      const V x = vector(m->x, k);                                           \
      return value;                                                          \
    });                                                                      \
    break;                                                                   \
  case Code::name##_uniform: {                                               \
    const V x = uniform(m->x);                                               \
    each([&](V a, int) SINTER_LAMBDA { return value; });                     \
    break;                                                                   \
  }
        SINTER_CHAIN_BINARY(SINTER_BINARY)
#undef SINTER_BINARY
#define SINTER_TERNARY(name, value)                                          \
  case Code::name:                                                           \
    each([&](V a, int k) SINTER_LAMBDA {                                     \
      const V x = vector(m->x, k), y = vector(m->y, k);                      \
      return value;                                                          \
    });                                                                      \
    break;                                                                   \
  case Code::name##_uniform_x: {                                             \
    const V x = uniform(m->x);                                               \
    each([&](V a, int k) SINTER_LAMBDA {                                     \
      const V y = vector(m->y, k);                                           \
      return value;                                                          \
    });                                                                      \
    break;                                                                   \
  }                                                                          \
  case Code::name##_uniform_y: {                                             \
    const V y = uniform(m->y);                                               \
    each([&](V a, int k) SINTER_LAMBDA {                                     \
      const V x = vector(m->x, k);                                           \
      return value;                                                          \
    });                                                                      \
    break;                                                                   \
  }                                                                          \
  case Code::name##_uniform: {                                               \
    const V x = uniform(m->x), y = uniform(m->y);                            \
    each([&](V a, int) SINTER_LAMBDA { return value; });                     \
    break;                                                                   \
  }
        SINTER_CHAIN_TERNARY(SINTER_TERNARY)
#undef SINTER_TERNARY
    }
  }
}

template <class T>
void chain_row(void*, const void* const* in, std::int64_t n) {
  const ChainCall call = *static_cast<const ChainCall*>(in[0]);
  constexpr std::int64_t lanes = Vec<T>::lanes, size = sizeof(T);
  std::int64_t i = 0;
  for (; i + 8 * lanes <= n; i += 8 * lanes) run_block<T>(Indices<0, 1, 2, 3, 4, 5, 6, 7>{}, call, i * size, 0);
  for (; i < n; i += lanes) run_block<T>(Indices<0>{}, call, i * size, static_cast<int>(n - i < lanes ? n - i : lanes));
}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

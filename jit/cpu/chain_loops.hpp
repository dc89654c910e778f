// The machine that runs chains.
#pragma once
#include "chain.hpp"
#include "row_loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

template <int... i>
struct Indices {};

inline constexpr int ahead = 256;  // bytes between what is read and what is fetched into the cache

/// The accumulator, the two registers, and the operands of a block of so many vectors; or, where it is `partial`, of
/// its first `count` elements.
template <class T, int vectors, bool partial>
struct Block {
  using V = Vec<T>;
  const ChainOperand* operands;
  std::int64_t offset;
  int count;
  V a[vectors] = {}, first[vectors] = {}, second[vectors] = {};

  SINTER_INLINE T* place(int operand, int k) const {
    const ChainOperand& o = operands[operand];
    return reinterpret_cast<T*>(o.p + (offset & o.moves)) + k * V::lanes;
  }
  /// How many elements vector k has.
  SINTER_INLINE int elements(int k) const {
    const int left = count - k * V::lanes;
    return left < 0 ? 0 : left > V::lanes ? V::lanes : left;
  }
  template <Place where>
  SINTER_INLINE V get(int operand, int k) const {
    if constexpr (where == Place::First) return first[k];
    if constexpr (where == Place::Second) return second[k];
    if constexpr (where == Place::Uniform) return V::broadcast(reinterpret_cast<const T*>(operands[operand].p));
    if constexpr (where == Place::Memory && partial) return V::load(place(operand, k), elements(k));
    if constexpr (where == Place::Memory && !partial) return V::load(place(operand, k));
  }
  SINTER_INLINE void store(int operand, int k) const {
    if constexpr (partial)
      a[k].store(place(operand, k), elements(k));
    else
      a[k].store(place(operand, k));
  }
};

/// Once for each line of 64 bytes.
template <int offset>
SINTER_INLINE void fetch_line(const char* p) {
  if constexpr (offset % 64 == 0) _mm_prefetch(p, _MM_HINT_T0);
}

template <class T, bool partial, int... i>
SINTER_INLINE void run_block(Indices<i...>, const ChainCall& call, std::int64_t offset, int count) {
  using V = Vec<T>;
  Block<T, sizeof...(i), partial> block{call.operands, offset, count};
  for (const Micro* m = call.code; m->code != MicroOp::next_block; ++m) {
    switch (static_cast<int>(m->code)) {  // forms have no names
#define SINTER_CASE(code_, x_place, y_place, value)                                                   \
  case static_cast<int>(form(code_, x_place, y_place)):                                               \
    ((block.a[i] =                                                                                    \
          [&](V a, V x, V y) SINTER_LAMBDA {                                                          \
            static_cast<void>(a), static_cast<void>(x), static_cast<void>(y);                         \
            return value;                                                                             \
          }(block.a[i], block.template get<x_place>(m->x, i), block.template get<y_place>(m->y, i))), \
     ...);                                                                                            \
    break;
#define SINTER_PLACES(code_, y_place, value)         \
  SINTER_CASE(code_, Place::Memory, y_place, value)  \
  SINTER_CASE(code_, Place::Uniform, y_place, value) \
  SINTER_CASE(code_, Place::First, y_place, value)   \
  SINTER_CASE(code_, Place::Second, y_place, value)
#define SINTER_UNARY_CASE(name)                                                      \
  case static_cast<int>(MicroOp::name):                                              \
    ((block.a[i] = functions::name##_op::template apply<V>(block.a[i], 0, 0)), ...); \
    break;
      SINTER_CHAIN_UNARY(SINTER_UNARY_CASE)
#undef SINTER_UNARY_CASE
#define SINTER_UNARY_CASE(name)                                                                                    \
  case static_cast<int>(MicroOp::name):                                                                            \
    if constexpr (sizeof(T) == 4) ((block.a[i] = functions::name##_op::template apply<V>(block.a[i], 0, 0)), ...); \
    break;
      SINTER_CHAIN_UNARY_FLOAT(SINTER_UNARY_CASE)
#undef SINTER_UNARY_CASE
#define SINTER_BINARY(name, value) SINTER_BINARY_CASES(MicroOp::name, value)
#define SINTER_BINARY_CASES(code_, value)  \
  SINTER_ONE(code_, Place::Memory, value)  \
  SINTER_ONE(code_, Place::Uniform, value) \
  SINTER_ONE(code_, Place::First, value)   \
  SINTER_ONE(code_, Place::Second, value)
#define SINTER_ONE(code_, x_place, value)                       \
  case static_cast<int>(form(code_, x_place)):                  \
    ((block.a[i] =                                              \
          [](V a, V x) SINTER_LAMBDA {                          \
            static_cast<void>(a);                               \
            return value;                                       \
          }(block.a[i], block.template get<x_place>(m->x, i))), \
     ...);                                                      \
    break;
      SINTER_BINARY_CASES(MicroOp::load, x)
      SINTER_CHAIN_BINARY(SINTER_BINARY)
#undef SINTER_BINARY
#undef SINTER_BINARY_CASES
#undef SINTER_ONE
#define SINTER_TERNARY(name, value)                   \
  SINTER_PLACES(MicroOp::name, Place::Memory, value)  \
  SINTER_PLACES(MicroOp::name, Place::Uniform, value) \
  SINTER_PLACES(MicroOp::name, Place::First, value)   \
  SINTER_PLACES(MicroOp::name, Place::Second, value)
      SINTER_CHAIN_TERNARY(SINTER_TERNARY)
#undef SINTER_TERNARY
#undef SINTER_PLACES
#undef SINTER_CASE
      case static_cast<int>(MicroOp::store): (block.store(m->x, i), ...); break;
      case static_cast<int>(MicroOp::to_first): ((block.first[i] = block.a[i]), ...); break;
      case static_cast<int>(MicroOp::to_second): ((block.second[i] = block.a[i]), ...); break;
      case static_cast<int>(MicroOp::prefetch):
        if constexpr (!partial)
          (fetch_line<i * vector_bytes>(reinterpret_cast<const char*>(block.place(m->x, i)) + ahead), ...);
        break;
      default: __builtin_unreachable();
    }
  }
}

// As many vectors as three times fit the registers, with some left to work with.
#if defined(__AVX512F__)
using BlockVectors = Indices<0, 1, 2, 3, 4, 5, 6, 7>;
inline constexpr int block_vectors = 8;
#else
using BlockVectors = Indices<0, 1, 2, 3>;
inline constexpr int block_vectors = 4;
#endif
static_assert(block_vectors * vector_bytes <= largest_block);

template <class T>
void chain_row(void*, const void* const* in, std::int64_t n) {
  const ChainCall call = *static_cast<const ChainCall*>(in[0]);
  constexpr std::int64_t lanes = Vec<T>::lanes, block = block_vectors * lanes, size = sizeof(T);
  std::int64_t i = 0;
  for (; i + block <= n; i += block) run_block<T, false>(BlockVectors{}, call, i * size, 0);
  const int rest = static_cast<int>(n - i);
  if (rest > 4 * lanes)
    run_block<T, true>(BlockVectors{}, call, i * size, rest);
  else if (rest > lanes)
    run_block<T, true>(Indices<0, 1, 2, 3>{}, call, i * size, rest);
  else if (rest > 0)
    run_block<T, true>(Indices<0>{}, call, i * size, rest);
}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

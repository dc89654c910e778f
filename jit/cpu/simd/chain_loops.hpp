// The interpreter of chains. Each operation is a function that receives the accumulator in vector registers and ends
// with a tail call to the next one, so each has its own jump, which the processor predicts by its predecessor.
#pragma once
#include "../chain.hpp"
#include "loops.hpp"
#include "vector_half.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

template <int... i>
struct Indices {};

inline constexpr int ahead = 256;  // prefetch distance in bytes
// As many vectors as are passed in registers.
using BlockVectors = Indices<0, 1, 2, 3, 4, 5, 6, 7>;
inline constexpr int block_vectors = 8;
static_assert(block_vectors * vector_bytes <= largest_block);

/// Operations of two and three operands as functions on vectors.
namespace micro {
#define SINTER_BINARY(name, value)                            \
  struct name##_op {                                          \
    template <class V>                                        \
    static SINTER_INLINE V apply([[maybe_unused]] V a, V x) { \
      return value;                                           \
    }                                                         \
  };
SINTER_BINARY(load, x)
SINTER_CHAIN_BINARY(SINTER_BINARY)
#undef SINTER_BINARY
#define SINTER_TERNARY(name, value)               \
  struct name##_op {                              \
    template <class V>                            \
    static SINTER_INLINE V apply(V a, V x, V y) { \
      return value;                               \
    }                                             \
  };
SINTER_CHAIN_TERNARY(SINTER_TERNARY)
#undef SINTER_TERNARY
}  // namespace micro

// Without masked loads and stores they are too long to inline in every operation.
#if SINTER_HAS_MASKED_MEMORY
#define SINTER_PARTIAL SINTER_INLINE
#else
#define SINTER_PARTIAL inline __attribute__((noinline))
#endif
template <class T>
SINTER_PARTIAL Native<T> load_partial(const T* p, int count) {
  return Vec<T>::load(p, count).v;
}
template <class T>
SINTER_PARTIAL void store_partial(T* p, Native<T> v, int count) {
  Vec<T>(v).store(p, count);
}
template <class H>
SINTER_PARTIAL Native<float> load_wide_partial(const H* p, int count) {
  return load_wide(p, count);
}
template <class H>
SINTER_PARTIAL void store_narrow_partial(H* p, Native<float> v, int count) {
  store_narrow(p, v, count);
}
#undef SINTER_PARTIAL

/// The elements of each vector of a partial block.
struct Counts {
  int of[block_vectors];
};

/// The interpreter for blocks of this many vectors.
template <class T, class>
struct ChainInterpreter;

template <class T, int... i>
struct ChainInterpreter<T, Indices<i...>> {
  using V = Vec<T>;
  struct Frame;
  template <int>
  using Lanes = Native<T>;
  using Handler = void (*)(const ChainInstruction* m, const std::uintptr_t* operands, std::int64_t offset,
                           const Frame& frame, Lanes<i>... a);
  /// Functions that only compute serve both full and partial blocks, so the block carries its table.
  struct Frame {
    const Handler* handlers;
    Counts counts;
  };
  static constexpr int vectors = sizeof...(i);

#define SINTER_MICRO_PARAMETERS                                                                \
  [[maybe_unused]] const ChainInstruction *m, [[maybe_unused]] const std::uintptr_t *operands, \
      [[maybe_unused]] std::int64_t offset, [[maybe_unused]] const Frame &frame, [[maybe_unused]] Lanes<i>... a
#define SINTER_NEXT(...) return frame.handlers[static_cast<int>(m[1].code)](m + 1, operands, offset, frame, __VA_ARGS__)

  static SINTER_INLINE T* place(const std::uintptr_t* operands, int x, std::int64_t offset, int k) {
    return reinterpret_cast<T*>(operands[x] + static_cast<std::uintptr_t>(offset)) + k * V::lanes;
  }
  template <bool partial, Place where>
  static SINTER_INLINE V get(const std::uintptr_t* operands, int x, std::int64_t offset, const Frame& frame, int k) {
    if constexpr (where == Place::Uniform)
      return V::broadcast(reinterpret_cast<const T*>(operands[x]));
    else if constexpr (partial)
      return load_partial(place(operands, x, offset, k), frame.counts.of[k]);
    else
      return V::load(place(operands, x, offset, k));
  }

  template <class F>
  static void unary(SINTER_MICRO_PARAMETERS) {
    SINTER_NEXT(F::template apply<V>(V(a), V(a), V(a)).v...);
  }
  template <class F, bool partial, Place x>
  static void binary(SINTER_MICRO_PARAMETERS) {
    SINTER_NEXT(F::apply(V(a), get<partial, x>(operands, m->x, offset, frame, i)).v...);
  }
  template <class F, bool partial, Place x, Place y>
  static void ternary(SINTER_MICRO_PARAMETERS) {
    SINTER_NEXT(F::apply(V(a), get<partial, x>(operands, m->x, offset, frame, i),
                         get<partial, y>(operands, m->y, offset, frame, i))
                    .v...);
  }
  /// Reads everything before anything is written, since the compiler cannot rule out aliasing.
  template <bool partial>
  static void store(SINTER_MICRO_PARAMETERS) {
    T* const to = place(operands, m->x, offset, 0);
    const Handler next = frame.handlers[static_cast<int>(m[1].code)];
    if constexpr (partial) {
      const Counts counts = frame.counts;
      (store_partial<T>(to + i * V::lanes, a, counts.of[i]), ...);
    } else {
      (V(a).store(to + i * V::lanes), ...);
    }
    return next(m + 1, operands, offset, frame, a...);
  }
  /// The address of 16-bit floats: half as far from the operand's start as that of floats.
  template <class H>
  static SINTER_INLINE H* narrow_place(const std::uintptr_t* operands, int x, std::int64_t offset) {
    return reinterpret_cast<H*>(operands[x] + static_cast<std::uintptr_t>(offset) / 2);
  }
  template <class H, bool partial>
  static void load_narrow(SINTER_MICRO_PARAMETERS) {
    if constexpr (sizeof(T) == 4) {
      const H* const from = narrow_place<H>(operands, m->x, offset);
      if constexpr (partial)
        SINTER_NEXT(load_wide_partial(from + i * V::lanes, frame.counts.of[i])...);
      else
        SINTER_NEXT(load_wide(from + i * V::lanes)...);
    }
  }
  template <class H, bool partial>
  static void store_narrow(SINTER_MICRO_PARAMETERS) {
    if constexpr (sizeof(T) == 4) {
      H* const to = narrow_place<H>(operands, m->x, offset);
      const Handler next = frame.handlers[static_cast<int>(m[1].code)];
      if constexpr (partial) {
        const Counts counts = frame.counts;
        (store_narrow_partial(to + i * V::lanes, a, counts.of[i]), ...);
      } else {
        (SINTER_ISA::store_narrow(to + i * V::lanes, a), ...);
      }
      return next(m + 1, operands, offset, frame, a...);
    }
  }
  /// Once for each cache line of 64 bytes.
  template <bool partial>
  static void prefetch(SINTER_MICRO_PARAMETERS) {
    if constexpr (!partial)
      for (int at = ahead; at < ahead + vectors * vector_bytes; at += 64)
        __builtin_prefetch(reinterpret_cast<const char*>(place(operands, m->x, offset, 0)) + at);
    SINTER_NEXT(a...);
  }
  static void end_block(SINTER_MICRO_PARAMETERS) {}
#undef SINTER_NEXT
#undef SINTER_MICRO_PARAMETERS

  /// Numbered by ChainOpcode.
  template <bool partial>
  static constexpr Handler table[] = {
#define SINTER_BINARY(name, value) \
  binary<micro::name##_op, partial, Place::Memory>, binary<micro::name##_op, partial, Place::Uniform>,
#define SINTER_TERNARY(name, value)                                      \
  ternary<micro::name##_op, partial, Place::Memory, Place::Memory>,      \
      ternary<micro::name##_op, partial, Place::Uniform, Place::Memory>, \
      ternary<micro::name##_op, partial, Place::Memory, Place::Uniform>, \
      ternary<micro::name##_op, partial, Place::Uniform, Place::Uniform>,
#define SINTER_UNARY(name) unary<functions::name##_op>,
      SINTER_BINARY(load, x) store<partial>,
      prefetch<partial>,
      end_block,
      load_narrow<Half, partial>,
      load_narrow<BFloat16, partial>,
      store_narrow<Half, partial>,
      store_narrow<BFloat16, partial>,
      SINTER_CHAIN_UNARY(SINTER_UNARY)
#undef SINTER_UNARY
#define SINTER_UNARY(name) unary<std::conditional_t<sizeof(T) == 4, functions::name##_op, functions::neg_op>>,
          SINTER_CHAIN_UNARY_FLOAT(SINTER_UNARY)
#undef SINTER_UNARY
              SINTER_CHAIN_BINARY(SINTER_BINARY) SINTER_CHAIN_TERNARY(SINTER_TERNARY)
#undef SINTER_TERNARY
#undef SINTER_BINARY
  };
  static_assert(sizeof table<false> / sizeof(Handler) == micro_op_count);

  static SINTER_INLINE void run(const ChainCall& call, std::int64_t offset, const Frame& frame) {
    frame.handlers[static_cast<int>(call.code->code)](call.code, call.operands, offset, frame,
                                                      (static_cast<void>(i), Native<T>{})...);
  }
  /// A block of the first `count` elements.
  static void run_partial(const ChainCall& call, std::int64_t offset, int count) {
    Frame frame{table<true>, {}};
    for (int k = 0; k < vectors; ++k, count -= V::lanes)
      frame.counts.of[k] = count < 0 ? 0 : count < V::lanes ? count : V::lanes;
    run(call, offset, frame);
  }
};

template <class T>
void chain_loop(void*, const void* const* in, std::int64_t n) {
  using Full = ChainInterpreter<T, BlockVectors>;
  const ChainCall call = *static_cast<const ChainCall*>(in[0]);
  constexpr int lanes = Vec<T>::lanes, block = block_vectors * lanes;
  constexpr std::int64_t size = sizeof(T);
  const typename Full::Frame frame{Full::template table<false>, {}};
  std::int64_t i = 0;
  for (; i + block <= n; i += block) {
    Full::run(call, i * size, frame);
    for (std::uint32_t k = 1; k <= call.blocks; ++k) call.operands[chain_operands - k] -= block * size;
  }
  const int rest = static_cast<int>(n - i);
  if (rest > 4 * lanes)
    Full::run_partial(call, i * size, rest);
  else if (rest > lanes)
    ChainInterpreter<T, Indices<0, 1, 2, 3>>::run_partial(call, i * size, rest);
  else if (rest > 0)
    ChainInterpreter<T, Indices<0>>::run_partial(call, i * size, rest);
  clear_upper_halves();  // the compiler assumes that the operations did this
}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA

// Several operations in one pass: a small program for an interpreter whose accumulator is a block of vectors. The
// accumulator stays in registers, and other values that are read again in L1; the cost is one jump for each operation
// and block.
#pragma once
// clang-format off: it lays these tables out anew each time.
#include <cstdint>

namespace sinter::inline v1::jit::cpu {

// Operations on the accumulator a. Those with more operands read x and y.
// SINTER_UNARY(name): the operation of that name. Those of the second list are fast only for float.
#define SINTER_CHAIN_UNARY(SINTER_UNARY) \
  SINTER_UNARY(neg)                      \
  SINTER_UNARY(abs)                      \
  SINTER_UNARY(square) SINTER_UNARY(sqrt) SINTER_UNARY(rsqrt) SINTER_UNARY(reciprocal) SINTER_UNARY(relu)
#define SINTER_CHAIN_UNARY_FLOAT(SINTER_UNARY) \
  SINTER_UNARY(exp) SINTER_UNARY(log) SINTER_UNARY(tanh) SINTER_UNARY(erf) SINTER_UNARY(sigmoid) SINTER_UNARY(silu)
// SINTER_BINARY(name, value)
#define SINTER_CHAIN_BINARY(SINTER_BINARY)                                                          \
  SINTER_BINARY(add, a + x)                                                                         \
  SINTER_BINARY(sub, a - x)                                                                         \
  SINTER_BINARY(reverse_sub, x - a)                                                                 \
  SINTER_BINARY(mul, a* x)                                                                          \
  SINTER_BINARY(div, a / x) SINTER_BINARY(reverse_div, x / a) SINTER_BINARY(maximum, maximum(a, x)) \
      SINTER_BINARY(minimum, minimum(a, x)) SINTER_BINARY(square_add, fma(a, a, x))
// SINTER_TERNARY(name, value)
#define SINTER_CHAIN_TERNARY(SINTER_TERNARY) SINTER_TERNARY(fma, fma(a, x, y)) SINTER_TERNARY(fma_onto, fma(x, y, a))

/// Where x or y is.
enum class Place : std::uint8_t { Memory, Uniform };
inline constexpr int places = 2;

/// The forms of an operation are consecutive: code + place of x + places * place of y.
enum class ChainOpcode : std::uint8_t {
  load,
  load_last = load + places - 1,
  store,
  prefetch,
  end_block,  // the last of every program
  // Between float and 16-bit floats in memory.
  load_half,
  load_bfloat16,
  store_half,
  store_bfloat16,
#define SINTER_UNARY(name) name,
  SINTER_CHAIN_UNARY(SINTER_UNARY) SINTER_CHAIN_UNARY_FLOAT(SINTER_UNARY)
#undef SINTER_UNARY
#define SINTER_BINARY(name, value) name, name##_last = name + places - 1,
      SINTER_CHAIN_BINARY(SINTER_BINARY)
#undef SINTER_BINARY
#define SINTER_TERNARY(name, value) name, name##_last = name + places * places - 1,
          SINTER_CHAIN_TERNARY(SINTER_TERNARY)
#undef SINTER_TERNARY
          count
};
inline constexpr int micro_op_count = static_cast<int>(ChainOpcode::count);

constexpr ChainOpcode form(ChainOpcode code, Place x, Place y = Place::Memory) {
  return static_cast<ChainOpcode>(static_cast<int>(code) + static_cast<int>(x) + places * static_cast<int>(y));
}

/// One operation; x and y number the chain's operands.
struct ChainInstruction {
  ChainOpcode code;
  std::uint8_t x, y;
};

/// As many operands as a byte can number. The chain's own blocks are numbered from the last downwards.
inline constexpr int chain_operands = 256;

/// The operands' addresses as integers. The chain's own blocks are moved backward while the other operands advance, so
/// that one offset addresses all of them.
struct ChainCall {
  const ChainInstruction* code;
  std::uintptr_t* operands;
  std::uint32_t blocks;  // of its own
};

/// A chain that was compiled, for rows of n elements: operand k of row r is at operands[k] + r * steps[k]. If `streams`,
/// its result is written past the caches. `ahead`: as RunOptions::ahead.
using ChainLoop = void (*)(void* const* operands, const std::int64_t* steps, std::int64_t rows, std::int64_t n,
                           bool streams, const std::int64_t* ahead);

/// Bytes of a block in the widest instruction set.
inline constexpr int largest_block = 8 * 64;

}  // namespace sinter::inline v1::jit::cpu
// clang-format on

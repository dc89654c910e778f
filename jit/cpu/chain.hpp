// Several operations in one pass: a small program for a machine with an accumulator and two registers more, each of
// them a block of vectors. What a fused loop would keep in registers mostly stays there; the price is one jump for each
// operation and block.
#pragma once
// clang-format off: it lays these tables out anew each time.
#include <cstdint>

namespace sinter::inline v1::jit::cpu {

// Operations on the accumulator a. Those of more operands read x and y.
// SINTER_UNARY(name): the operation of that name. Those of the second list are fast for float only.
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
      SINTER_BINARY(minimum, minimum(a, x))
// SINTER_TERNARY(name, value)
#define SINTER_CHAIN_TERNARY(SINTER_TERNARY) SINTER_TERNARY(fma, fma(a, x, y)) SINTER_TERNARY(fma_onto, fma(x, y, a))

/// Where x or y is.
enum class Place : std::uint8_t { Memory, Uniform, First, Second };
inline constexpr int places = 4;

/// The forms of an operation follow one another: code + place of x + places * place of y.
enum class MicroOp : std::uint8_t {
  load,
  load_last = load + places - 1,
  store,
  to_first,
  to_second,
  prefetch,
  next_block,  // the last of every program
#define SINTER_UNARY(name) name,
  SINTER_CHAIN_UNARY(SINTER_UNARY) SINTER_CHAIN_UNARY_FLOAT(SINTER_UNARY)
#undef SINTER_UNARY
#define SINTER_BINARY(name, value) name, name##_last = name + places - 1,
      SINTER_CHAIN_BINARY(SINTER_BINARY)
#undef SINTER_BINARY
#define SINTER_TERNARY(name, value) name, name##_last = name + places * places - 1,
          SINTER_CHAIN_TERNARY(SINTER_TERNARY)
#undef SINTER_TERNARY
};

constexpr MicroOp form(MicroOp code, Place x, Place y = Place::Memory) {
  return static_cast<MicroOp>(static_cast<int>(code) + static_cast<int>(x) + places * static_cast<int>(y));
}

/// One operation; x and y number the chain's operands where they are in memory.
struct Micro {
  MicroOp code;
  std::uint8_t x, y;
};

/// Where an operand is: an array (moves = -1), or one block that is used again and again (moves = 0).
struct ChainOperand {
  char* p;
  std::int64_t moves;
};

struct ChainCall {
  const Micro* code;
  const ChainOperand* operands;
};

/// Bytes of a block in the widest instruction set.
inline constexpr int largest_block = 8 * 64;

}  // namespace sinter::inline v1::jit::cpu
// clang-format on

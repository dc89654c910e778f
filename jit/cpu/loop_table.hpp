// The loops that the CPU executor calls: one for each operation, dtype and form of the operands, built once per
// instruction set. The loops' sources include this header and no code of the standard library, so that the linker
// cannot choose an inline function that was compiled for a newer instruction set.
#pragma once
#include <cstdint>

namespace sinter::inline v1::jit::cpu {

/// out[i] = f(in[0][i], in[1][i], ...) for 0 <= i < n; for a uniform operand k, only in[k][0] is read. Accesses nothing
/// past n. out may be the same array as an operand of the same element size.
using Loop = void (*)(void* out, const void* const* in, std::int64_t n);

/// The forms of one operation: bit k of the index is set if operand k is uniform. Null if there is none.
struct LoopForms {
  Loop forms[8] = {};
};

/// Only the operations of the table, in its order.
enum class LoopOp : std::uint8_t {
#define SINTER_OP(name, arity, rule) name,
#include <sinter/jit/op_list.def>
  count
};
inline constexpr int loop_op_count = static_cast<int>(LoopOp::count);

/// A part of an instruction set's table. The first five hold a LoopForms for each LoopOp, by the operands' dtype. The
/// loops of device functions are not in the table: the steps hold them.
enum class Group : std::uint8_t {
  Bool,
  Int32,
  Int64,
  Float32,
  Float64,
  Casts,
  Complex,
  Memory,
  Chains,
  Functions,
  count
};
inline constexpr int group_count = static_cast<int>(Group::count);

/// Casts: from * dtypes + to, in the order of the dtypes. One form; null where a conversion takes two steps.
inline constexpr int cast_dtypes = 13;  // those that are not complex
inline constexpr int cast_count = cast_dtypes * cast_dtypes;

/// Complex: of parts that are floats, then of doubles. The parts of in[0]; complex numbers of in[0] and in[1].
enum class ComplexOp : std::uint8_t { Real, Imag, Make, count };
inline constexpr int complex_op_count = 2 * static_cast<int>(ComplexOp::count);

/// Memory: copies of one element size, in form 1 a fill; every second element of in[0], up to the last one that is
/// taken; transposed rows; repeated elements; the int64 of in[0] and those that follow it; loads from the array in[0]
/// at the int64 offsets in[1], in either form; whether an int64 of in[0] is not a valid position of in[1], a single
/// extent, in form 1 also counted from the end, into a bool.
enum class Memory : std::uint8_t {
  Copy1,
  Copy2,
  Copy4,
  Copy8,
  Copy16,
  EverySecond2,
  EverySecond4,
  EverySecond8,
  Transpose2,  // in[0] is a PanelCall
  Transpose4,
  Transpose8,
  Repeat2,  // in[0] is a RepeatCall
  Repeat4,
  Repeat8,
  Count,
  Load1,
  Load2,
  Load4,
  Load8,
  Load16,
  Outside,
  count
};

/// Rows that are adjacent in memory, element by element: element i of row r is at array + (r + i * stride) elements,
/// and goes to element r * pitch + i.
struct PanelCall {
  const void* array;
  std::int64_t rows, stride, pitch;
};

/// Elements `stride` apart, each repeated `times` times; the loop begins at number `first` of this sequence.
struct RepeatCall {
  const void* array;
  std::int64_t stride, times, first;
};

/// Chains: of floats, of doubles. in[0] is a ChainCall.
inline constexpr int chain_count = 2;

/// Partial results of rows that are being reduced, one of each member per row. The reduction determines which members
/// are used, and their types. No element takes more than 8 bytes.
struct ReduceStates {
  void* first;
  void* second;
};

/// Rows of up to so many elements that follow each other are reduced element by element.
inline constexpr std::int64_t tiny_row = 8;

/// A reduction of one dtype. Null if there is none.
struct Reducer {
  /// Reduces rows of n elements, at least one, `pitch` elements apart, into their states. The first element of each has
  /// this position in its row, whose earlier parts have already been reduced.
  void (*along)(ReduceStates states, const void* in, std::int64_t rows, std::int64_t n, std::int64_t pitch,
                std::int64_t position) = nullptr;
  /// Reduces n adjacent rows: their first elements, then, `pitch` elements further, their second ones, `count` of
  /// each.
  void (*across)(ReduceStates states, const void* in, std::int64_t n, std::int64_t count, std::int64_t pitch,
                 std::int64_t position) = nullptr;
  /// The states of rows without elements.
  void (*start)(ReduceStates states, std::int64_t n) = nullptr;
  /// Merges the states of later parts of the rows into the states.
  void (*merge)(ReduceStates states, ReduceStates later, std::int64_t n) = nullptr;
  /// Writes the results.
  void (*finish)(void* out, ReduceStates states, std::int64_t n) = nullptr;
  std::int64_t first_size = 0;  // bytes of an element of ReduceStates::first; 8 for second
};

/// Reductions: sum prod amax amin any all argmax argmin, by the dtype of the elements in memory, in the order of the
/// groups, then float16 and bfloat16, which are reduced in float32.
inline constexpr int reduction_count = 8;
inline constexpr int reduce_dtypes = 7;

/// The loops of one instruction set.
struct LoopTable {
  const LoopForms* groups[group_count];
  const Reducer (*reducers)[reduce_dtypes];
};

#if defined(__aarch64__)
namespace neon {
extern const LoopTable loop_table;
}
#else
namespace sse4 {
extern const LoopTable loop_table;
}
namespace avx2 {
extern const LoopTable loop_table;
}
namespace avx512 {
extern const LoopTable loop_table;
}
#endif

}  // namespace sinter::inline v1::jit::cpu

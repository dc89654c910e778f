// The loops that the CPU executor calls: one for each operation, dtype and form of the operands, built once per
// instruction set. The loops' sources see this header and nothing of the standard library's code, so that no inline
// function of a newer instruction set can stand in for the same function elsewhere.
#pragma once
#include <cstdint>

namespace sinter::inline v1::jit::cpu {

/// out[i] = f(in[0][i], in[1][i], ...) for 0 <= i < n; of a uniform operand in[k][0] alone is read. Touches nothing
/// past n. out may be the same array as an operand of the same element size.
using Row = void (*)(void* out, const void* const* in, std::int64_t n);

/// The forms of one operation: bit k of the index says that operand k is uniform. Null where there is none.
struct Rows {
  Row forms[8] = {};
};

/// The operations of the table alone, in its order.
enum class RowOp : std::uint8_t {
#define SINTER_OP(name, arity, rule, body, doc) name,
#include <sinter/jit/ops.def>
  count
};
inline constexpr int row_op_count = static_cast<int>(RowOp::count);

/// A part of the table of one instruction set. The first five hold a Rows for each RowOp, by the operands' dtype.
enum class Group : std::uint8_t { Bool, Int32, Int64, Float32, Float64, Casts, Memory, Chains, count };
inline constexpr int group_count = static_cast<int>(Group::count);

/// Casts: from * dtypes + to, in the order of the dtypes. One form; null where a conversion takes two steps.
inline constexpr int cast_dtypes = 10;
inline constexpr int cast_count = cast_dtypes * cast_dtypes;

/// Memory: copies of one element size, in form 1 of one value; every second element of in[0], up to the last one that
/// is taken.
enum class Memory : std::uint8_t { Copy1, Copy2, Copy4, Copy8, EverySecond2, EverySecond4, EverySecond8, count };

/// Chains: of floats, of doubles. in[0] is a ChainCall.
inline constexpr int chain_count = 2;

/// The loops of one instruction set.
struct RowTable {
  const Rows* groups[group_count];
};

namespace sse4 {
extern const RowTable row_table;
}
namespace avx2 {
extern const RowTable row_table;
}
namespace avx512 {
extern const RowTable row_table;
}

}  // namespace sinter::inline v1::jit::cpu

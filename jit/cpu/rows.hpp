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

/// A number of the table of one instruction set: the first five hold a Rows for each RowOp, by the operands' dtype.
enum class Group : std::uint8_t { Bool, Int32, Int64, Float32, Float64, Casts, Memory, Fused32, Fused64, count };
inline constexpr int group_count = static_cast<int>(Group::count);

/// Casts: from * 5 + to, in the order of the dtypes. One form.
inline constexpr int cast_count = 25;

/// Memory: copies of one element size, in form 1 of one value; a copy of n bytes that passes the cache by.
enum class Memory : std::uint8_t { Copy1, Copy4, Copy8, Stream, count };

/// What a fused row computes between two multiply-adds: out = fma(f(fma(x, s, t)), p, q), where s and t are uniform.
enum class Inner : std::uint8_t { none, exp, log, tanh, erf, sqrt, sigmoid, reciprocal, square, abs, relu, count };
inline constexpr int inner_count = static_cast<int>(Inner::count);

/// Fused rows beside the Inner ones: a polynomial's steps, r = fma(r, x, c) for the uniform c1, c2, ...; pairs of cheap
/// operations on three operands, second(first(a, b), c) (rsub: c - first(a, b)); and fma with a negated operand.
inline constexpr int horner_longest = 4;  // 2, 3 or 4 steps
inline constexpr int first_horner = inner_count;
enum class Cheap : std::uint8_t { add, sub, mul, rsub };
inline constexpr int first_pair = first_horner + horner_longest - 1;
constexpr int pair_index(Cheap first, Cheap second) {
  return first_pair + static_cast<int>(first) * 4 + static_cast<int>(second);
}
inline constexpr int negated_factor = first_pair + 12;    // fma(-a, b, c)
inline constexpr int negated_addend = negated_factor + 1;  // fma(a, b, -c)
inline constexpr int fused_count = negated_addend + 1;

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

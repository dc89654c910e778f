// Properties of each operation that schedulers and executors use: columns of ops.def and reductions.def.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include <sinter/jit/ops.hpp>

namespace sinter::inline v1::jit {

enum Trait : std::uint8_t {
  Plain = 0,
  ReturnsOperand = 1,       // the result is an operand, lies between two, or has only bits that the operands have
  TruncationSafe = 2,       // the lowest bits of the result depend on the operands' lowest bits only
  Libm = 4,                 // the C library has a function of this name for float and double
  FaultsOnZeroDivisor = 8,  // an integer must not be divided by 0
  SlowToCompile = 16,       // code for rare operands makes it slow to compile
  BoundsChecked = 32,       // the first operand is an index, which must be below the second one
  AllowsNegativeIndex = 64  // and a negative index counts from the end
};

struct OpTraits {
  int cost = 0;  // instructions for one float32 element, roughly
  std::uint8_t traits = Plain;
  bool lacks_identity = false;  // of a reduction: an empty one has no value
  bool gives_position = false;  // of a reduction: the result is a position
};

namespace detail {
constexpr std::size_t number(Op op) noexcept { return static_cast<std::size_t>(op); }

inline constexpr std::array op_traits_table = [] {
  std::array<OpTraits, all_op_count> table{};
  for (OpTraits& f : table) f.cost = 1;
  table[number(Op::cast)].cost = 3;
  table[number(Op::load)].cost = 12;
  table[number(Op::call)] = {.cost = 200, .traits = SlowToCompile};  // whatever it does, once rather than twice
#define SINTER_OP(name, arity, rule, cost, traits, body, derivative, doc) table[number(Op::name)] = {cost, traits};
#include "ops.def"
#define SINTER_REDUCTION(name, arity, rule, identity, combine, derivative, doc) \
  table[number(Op::name)].lacks_identity = std::string_view(#identity) == "none";
#define SINTER_INDEX_REDUCTION(name, arity, rule, identity, combine, derivative, doc) \
  table[number(Op::name)].lacks_identity = std::string_view(#identity) == "none";     \
  table[number(Op::name)].gives_position = true;
#include "reductions.def"
  return table;
}();
}  // namespace detail

constexpr const OpTraits& traits_of(Op op) noexcept { return detail::op_traits_table[detail::number(op)]; }
constexpr bool has(Op op, Trait trait) noexcept { return traits_of(op).traits & trait; }

/// Whether the operation is a call or a division: several instructions.
constexpr bool is_function(Op op) noexcept { return traits_of(op).cost >= 8; }
/// Whether it is a function that needs many registers.
constexpr bool is_long_function(Op op) noexcept { return traits_of(op).cost > 10; }

/// The weight of a call or division in limits on kernels; any other operation weighs 1.
inline constexpr int call_weight = 8;
constexpr int weight(Op op) noexcept { return is_function(op) ? call_weight : 1; }

}  // namespace sinter::inline v1::jit

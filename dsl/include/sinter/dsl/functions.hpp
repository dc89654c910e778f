// The operations as functions: sn::exp(x), sn::where(x > 0, x, 0). One for each line of ops.def.
#pragma once
#include <array>
#include <utility>

#include <sinter/dsl/apply.hpp>

namespace sinter::inline v1 {

namespace detail {

/// The default values of an operation's last operands.
template <Op op>
inline constexpr std::array<Number, 0> defaults{};
#define SINTER_DEFAULTS(name, ...) \
  template <>                      \
  inline constexpr auto defaults<Op::name> = std::to_array<Number>({__VA_ARGS__});
#define SINTER_OP(name, arity, rule)
#include <sinter/jit/op_list.def>

/// The operation that a call with this many operands names.
template <Op op, std::size_t operands>
inline constexpr Op overload = op;
#define SINTER_OVERLOAD(name, arity, other) \
  template <>                               \
  inline constexpr Op overload<Op::name, arity> = Op::other;
#define SINTER_OP(name, arity, rule)
#include <sinter/jit/op_list.def>

template <Number number>
inline constexpr FixedNumber<number.category, number.scalar.bits> fixed{};

template <Op op, std::size_t... i, class... A>
constexpr auto apply_with_defaults(std::index_sequence<i...>, A&&... operands) {
  constexpr std::size_t skipped = defaults<op>.size() - sizeof...(i);
  return apply<op>(std::forward<A>(operands)..., fixed<defaults<op>[skipped + i]>...);
}

template <Op op>
template <class... A>
constexpr auto Function<op>::operator()(A&&... operands) const {
  constexpr bool are_operands = (operand<A> && ...);
  static_assert(are_operands, SINTER_NO_OPERAND);
  if constexpr (are_operands) {
    static_assert(same_device<device_of<A>...>, SINTER_DIFFERENT_DEVICES);
    constexpr std::size_t given = sizeof...(A), arity = info(op).arity;
    if constexpr (given < arity && given + defaults<op>.size() >= arity)
      return apply_with_defaults<op>(std::make_index_sequence<arity - given>(), std::forward<A>(operands)...);
    else
      return apply<overload<op, given>>(std::forward<A>(operands)...);
  } else {
    return ErrorExpression();
  }
}
template <Op op>
template <class A, class B, Op other>
constexpr auto Function<op>::operator()(A&& a, B&& b, Rounding<other>) const
  requires(op == Op::div)
{
  return Function<other>{}(std::forward<A>(a), std::forward<B>(b));
}

template <class T>
template <class A>
auto CastFunction<T>::operator()(A&& operand) const {
  static_assert(expression<A>, "cast<T>(x) takes a tensor or an expression");
  return apply_cast<T>(std::forward<A>(operand));
}

}  // namespace detail

#define SINTER_INTERNAL_OP(name, arity, rule)
#define SINTER_INTERNAL_COMPOSITE_OP(name, arity, rule)
#define SINTER_OP(name, arity, rule) inline constexpr detail::Function<Op::name> name{};
#define SINTER_COMPOSITE_OP SINTER_OP
#include <sinter/jit/op_list.def>

#define SINTER_ALIAS(alias, name) inline constexpr auto& alias = name;
#define SINTER_OP(name, arity, rule)
#include <sinter/jit/op_list.def>

// Argument-dependent lookup finds functions, not objects: generic code may write `using std::exp; exp(x)`. A user's
// function with the same name and equally good parameters is preferred to these.
namespace adl {

template <class... A>
concept operands = (expression<A> || ...) && (detail::operand<A> && ...);

#define SINTER_FUNCTION(function, name)               \
  template <class... A>                               \
    requires operands<A...>                           \
  constexpr auto function(const A&... operands) {     \
    return detail::Function<Op::name>{}(operands...); \
  }
#define SINTER_INTERNAL_OP(name, arity, rule)
#define SINTER_INTERNAL_COMPOSITE_OP(name, arity, rule)
#define SINTER_OP(name, arity, rule) SINTER_FUNCTION(name, name)
#define SINTER_COMPOSITE_OP SINTER_OP
#define SINTER_ALIAS(alias, name) SINTER_FUNCTION(alias, name)
#include <sinter/jit/op_list.def>
#undef SINTER_FUNCTION

}  // namespace adl

/// `x` converted to element type T, as an expression: floats truncate and saturate to integers, NaN gives 0.
template <element T>
inline constexpr detail::CastFunction<T> cast{};

}  // namespace sinter::inline v1

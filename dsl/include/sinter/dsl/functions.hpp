// The operations as functions: sn::exp(x), sn::where(x > 0, x, 0). One of each for every line of ops.def.
#pragma once
#include <sinter/dsl/apply.hpp>

namespace sinter::inline v1 {

namespace detail {

template <Op op>
template <class... A>
constexpr auto Function<op>::operator()(A&&... operands) const {
  static_assert(same_device<device_of<A>...>, SINTER_DIFFERENT_DEVICES);
  return apply<op>(std::forward<A>(operands)...);
}

template <class T>
template <class A>
auto CastFunction<T>::operator()(A&& operand) const {
  static_assert(expression<A>, "cast<T>(x) takes a tensor or an expression");
  return apply_cast<T>(std::forward<A>(operand));
}

}  // namespace detail

#define SINTER_INTERNAL_OP(name, arity, rule, body, doc)
#define SINTER_OP(name, arity, rule, body, doc) inline constexpr detail::Function<Op::name> name{};
#include <sinter/jit/ops.def>

/// `x` with elements of type T, as an expression: floats to integers truncate and saturate, NaN gives 0.
template <element T>
inline constexpr detail::CastFunction<T> cast{};

}  // namespace sinter::inline v1

// User-defined functions, used in trees like Sinter's own.
#pragma once
#include <tuple>
#include <utility>

#include <sinter/dsl/let.hpp>

namespace sinter::inline v1 {

namespace detail {

template <class F, class... A>
concept returns_expression = requires(F f, A... operands) {
  { f(operands...) } -> expression;
};

/// Whether an operand is more than a tensor or a number, and so worth naming.
template <class A>
inline constexpr bool computes = false;
template <expression A>
  requires(!is_lazy<lifted<A>>)
inline constexpr bool computes<A> = (lifted<A>::byte_count > leaf_bytes);

}  // namespace detail

/// Makes a function of tensors, expressions and numbers from a lambda with the formula:
///   inline constexpr sn::function swish([](auto x, auto beta) { return x * sn::sigmoid(beta * x); });
///   sn::Tensor r = swish(x + 1, 0.5) * y;  // one kernel
/// Each operand is computed once, however often the formula uses it. Operands are those that operations take, at least
/// one of them a tensor or an expression; mixed devices are the same compile-time error.
template <class F>
class function {
 public:
  explicit constexpr function(F body) : body_(std::move(body)) {}

  template <class... A>
    requires(detail::operand<A> && ...)
  auto operator()(A&&... operands) const {
    constexpr bool has_tensor = (expression<A> || ...);
    static_assert(has_tensor,
                  "a function takes at least one tensor or expression: for numbers only, call a C++ function");
    static_assert(detail::same_device<detail::device_of<A>...>, SINTER_DIFFERENT_DEVICES);
    if constexpr (has_tensor && detail::same_device<detail::device_of<A>...>)
      return call(std::tuple<>(), std::forward<A>(operands)...);
    else
      return detail::ErrorExpression();
  }

 private:
  /// Names the operands one after another; `named` holds those before.
  template <class Named, class A, class... Rest>
  auto call(const Named& named, A&& operand, Rest&&... rest) const {
    const auto with = [&](const auto& value) {
      return call(std::tuple_cat(named, std::tie(value)), std::forward<Rest>(rest)...);
    };
    if constexpr (detail::computes<A>)
      return let(std::forward<A>(operand), with);
    else
      return with(operand);
  }
  template <class... A>
  auto call(const std::tuple<A...>& named) const {
    constexpr bool is_formula = detail::returns_expression<const F&, A...>;
    static_assert(is_formula,
                  "the lambda of a function takes as many operands as the call, of any type, and returns an expression "
                  "of them: [](auto x) { return x * 2; }; a function of floats is a device_function, written in C");
    if constexpr (is_formula)
      return std::apply(body_, named);
    else
      return detail::ErrorExpression();
  }

  F body_;
};

}  // namespace sinter::inline v1

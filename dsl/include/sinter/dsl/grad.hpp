// Gradients of expressions, as expressions.
#pragma once
#include <tuple>
#include <vector>

#include <sinter/dsl/history.hpp>
#include <sinter/jit/grad.hpp>

namespace sinter::inline v1 {

/// What grad does for a tensor that the value does not depend on; the last argument.
namespace unused {
/// Throws Error.
inline constexpr struct Error {
  static constexpr jit::UnusedInput kind = jit::UnusedInput::Error;
} error;
/// Its gradient is 0.
inline constexpr struct Zeros {
  static constexpr jit::UnusedInput kind = jit::UnusedInput::Zeros;
} zeros;
}  // namespace unused

namespace detail {

#define SINTER_GRADIENT_OF "gradients are of floats and complex numbers: convert with cast<float>(x)"
#define SINTER_GRADIENT_VALUE "the gradient is taken of a tensor or expression: grad(loss, x)"
#define SINTER_GRADIENT_BY "gradients are taken with respect to tensors: grad(loss, x, w)"

template <class T>
inline constexpr bool has_gradient = category(dtype_of<T>) >= Category::Float;
template <class T>
  requires(!element<T>)
inline constexpr bool has_gradient<T> = true;  // known at run time

/// What is known about a value and what its gradient is taken with respect to.
template <class E, class X>
struct GradientCheck {
  static constexpr bool of_value = expression<E>, by_tensor = !expression<E> || !expression<X>;
  static constexpr bool reported = false, devices = true, dtypes = true;
};
template <expression E, class T, class D, class X>
struct GradientCheck<E, Tensor<T, D, X>> {
  static constexpr bool of_value = true, by_tensor = true, reported = is_error<E>;
  static constexpr bool devices = reported || same_device<device_of<E>, D>;
  static constexpr bool dtypes = reported || (has_gradient<value_type_of<E>> && has_gradient<T>);
};
template <class E>
struct GradientCheck<E, unused::Error> : GradientCheck<E, E> {
  static constexpr bool by_tensor = true;
};
template <class E>
struct GradientCheck<E, unused::Zeros> : GradientCheck<E, unused::Error> {};

/// GradientCheck for all tensors. Checked in the called function itself, so that an error message is one step deep.
template <class E, class... X>
struct GradientChecks {
  static constexpr bool of_value = (GradientCheck<E, X>::of_value && ...);
  static constexpr bool by_tensors = (GradientCheck<E, X>::by_tensor && ...);
  static constexpr bool devices = (GradientCheck<E, X>::devices && ...);
  static constexpr bool dtypes = (GradientCheck<E, X>::dtypes && ...);
  static constexpr bool reported = (GradientCheck<E, X>::reported || ...);
  static constexpr bool ok = of_value && by_tensors && devices && dtypes && !reported;
};

template <class E, class S>
inline constexpr bool fits_as_seed = cpp_scalar<S>;
template <expression E, expression S>
inline constexpr bool fits_as_seed<E, S> = same_dtype<value_type_of<E>, value_type_of<S>>;

template <class X>
inline constexpr bool is_unused = std::is_same_v<X, unused::Error> || std::is_same_v<X, unused::Zeros>;

template <class T, class D, class X>
std::tuple<Lazy<T, D>> gradient_from(jit::LazyRef*& node, const Tensor<T, D, X>&) {
  return {Lazy<T, D>(std::move(*node++))};
}
inline std::tuple<> gradient_from(jit::LazyRef*&, unused::Error) { return {}; }
inline std::tuple<> gradient_from(jit::LazyRef*&, unused::Zeros) { return {}; }

template <class X>
constexpr jit::UnusedInput unused_among(jit::UnusedInput fallback, const X&) {
  if constexpr (is_unused<X>) return X::kind;
  return fallback;
}
template <class T, class D, class X>
void add_target(std::vector<TensorImpl*>& wrt, const Tensor<T, D, X>& x) {
  wrt.push_back(&x.impl());
}
inline void add_target(std::vector<TensorImpl*>&, unused::Error) {}
inline void add_target(std::vector<TensorImpl*>&, unused::Zeros) {}

/// A tuple of the gradients with respect to the tensors among x.
template <class... X>
auto gradients(const jit::LazyRef& value, const jit::LazyRef& seed, const X&... x) {
  std::vector<TensorImpl*> wrt;
  (add_target(wrt, x), ...);
  jit::UnusedInput kind = jit::UnusedInput::Error;
  ((kind = unused_among(kind, x)), ...);
  std::vector<jit::LazyRef> found = jit::gradients(value, {wrt.data(), wrt.size()}, seed, kind);
  jit::LazyRef* next = found.data();
  return std::apply([](auto&&... parts) { return std::tuple_cat(std::move(parts)...); },
                    std::tuple<decltype(gradient_from(next, x))...>{gradient_from(next, x)...});
}

/// One gradient itself, several as a tuple.
template <class Tuple>
auto only_or_all(Tuple&& gradients) {
  if constexpr (std::tuple_size_v<std::remove_cvref_t<Tuple>> == 1)
    return std::get<0>(std::forward<Tuple>(gradients));
  else
    return std::forward<Tuple>(gradients);
}

}  // namespace detail

/// The gradient of a value of one element with respect to each of the tensors: an expression of the tensor's shape,
/// dtype and device, or a tuple of them: auto [gx, gw] = grad(loss, x, w). Evaluate them together, and with the value:
/// evaluate(loss, gx, gw) computes what they share once. They read the tensors when they are evaluated, and throw
/// Error if one was written to since.
///
/// A tensor also counts where the value reads a view of it, x.t() or x[0], or gathers from it. What was evaluated, a
/// Tensor made of x, is a constant, as are the results of functions that evaluate (sort, cumsum, masked_select); so is
/// stop_gradient(e). At kinks, ties and for complex numbers gradients are PyTorch's. A second derivative is the grad of
/// an expression of gradients.
///
/// Throws Error if the value has several elements, if it does not depend on a tensor (unless the last argument is
/// unused::zeros), or if an operation on the way has no derivative; DTypeError, ShapeError, DeviceError.
template <class E, class... X>
[[nodiscard]] auto grad(const E& value, const X&... wrt) {
  using Checks = detail::GradientChecks<E, X...>;
  static_assert(Checks::of_value, SINTER_GRADIENT_VALUE);
  static_assert(Checks::by_tensors, SINTER_GRADIENT_BY);
  static_assert(Checks::devices, SINTER_DIFFERENT_DEVICES);
  static_assert(Checks::dtypes, SINTER_GRADIENT_OF);
  if constexpr (Checks::ok)
    return detail::only_or_all(detail::gradients(detail::lazy_node(value), {}, wrt...));
  else
    return detail::ErrorExpression();
}

/// The value itself, as an expression, and its gradients: auto [loss, gx, gw] = value_and_grad(e, x, w).
template <class E, class... X>
[[nodiscard]] auto value_and_grad(const E& value, const X&... wrt) {
  using Checks = detail::GradientChecks<E, X...>;
  static_assert(Checks::of_value, SINTER_GRADIENT_VALUE);
  static_assert(Checks::by_tensors, SINTER_GRADIENT_BY);
  static_assert(Checks::devices, SINTER_DIFFERENT_DEVICES);
  static_assert(Checks::dtypes, SINTER_GRADIENT_OF);
  if constexpr (Checks::ok) {
    const Lazy lazy(value);
    return std::tuple_cat(std::tuple{lazy}, detail::gradients(lazy.node(), {}, wrt...));
  } else {
    return detail::ErrorExpression();
  }
}

/// The vector-Jacobian product: the gradients of sum(seed * value), where the seed, a tensor or expression of the
/// value's dtype, or a number, broadcasts to its shape.
template <class E, class S, class... X>
[[nodiscard]] auto vjp(const E& value, const S& seed, const X&... wrt) {
  using Checks = detail::GradientChecks<E, X...>;
  static_assert(Checks::of_value, SINTER_GRADIENT_VALUE);
  static_assert(Checks::by_tensors, SINTER_GRADIENT_BY);
  static_assert(Checks::devices, SINTER_DIFFERENT_DEVICES);
  static_assert(Checks::dtypes, SINTER_GRADIENT_OF);
  constexpr bool fits = detail::fits_as_seed<E, S>;
  static_assert(fits, "the seed has another dtype than the value: convert it with cast<T>(x)");
  if constexpr (fits && Checks::ok) {
    const jit::LazyRef of = detail::lazy_node(value);
    return detail::only_or_all(detail::gradients(of, jit::lazy_cast(detail::lazy_node(seed), of->dtype()), wrt...));
  } else {
    return detail::ErrorExpression();
  }
}

/// The Jacobian-vector product: how the value changes along a direction, the derivative of value(x + t * tangent) with
/// respect to t at 0, which is 0 if it does not depend on x. An expression of the value's shape and dtype. The tangent,
/// a tensor or expression of x's dtype, or a number, broadcasts to x's shape. For floats; several tensors' products add
/// up.
template <class E, class T, class D, class X, class S>
[[nodiscard]] auto jvp(const E& value, const Tensor<T, D, X>& x, const S& tangent) {
  using Checks = detail::GradientChecks<E, Tensor<T, D>>;
  static_assert(Checks::of_value, SINTER_GRADIENT_VALUE);
  static_assert(Checks::devices, SINTER_DIFFERENT_DEVICES);
  static_assert(Checks::dtypes, SINTER_GRADIENT_OF);
  constexpr bool fits = detail::fits_as_seed<Tensor<T, D>, S>;
  static_assert(fits, "the tangent has another dtype than x: convert it with cast<T>(x)");
  if constexpr (fits && Checks::ok)
    return Lazy<detail::deduced_element<E>, detail::deduced_device<E>>(
        jit::jvp(detail::lazy_node(value), x.impl(), detail::lazy_node(tangent)));
  else
    return detail::ErrorExpression();
}

/// The derivative of each element of the value with respect to each element of x: a tensor of the value's shape
/// followed by x's, 0 if it does not depend on x. It is evaluated row by row, one gradient for each element of the
/// value. The Hessian is jacobian(grad(loss, x), x).
template <class E, class T, class D, class X>
[[nodiscard]] auto jacobian(const E& value, const Tensor<T, D, X>& x) {
  using Checks = detail::GradientChecks<E, Tensor<T, D>>;
  static_assert(Checks::of_value, SINTER_GRADIENT_VALUE);
  static_assert(Checks::devices, SINTER_DIFFERENT_DEVICES);
  static_assert(Checks::dtypes, SINTER_GRADIENT_OF);
  if constexpr (Checks::ok)
    return Tensor<T, D>(jit::jacobian(detail::lazy_node(value), x.impl()));
  else
    return detail::ErrorExpression();
}

/// The value, evaluated now. A gradient through it computes again what the value was computed from, instead of keeping
/// it from the forward pass to the backward pass: less memory for more time.
template <expression E>
[[nodiscard]] auto checkpoint(const E& value) {
  return detail::in_memory(Lazy(value)).leaf;
}

namespace detail {

template <class Parts>
std::vector<jit::LazyRef> nodes_of(const Parts& parts) {
  if constexpr (requires { std::tuple_size<Parts>::value; })
    return std::apply([](const auto&... part) { return std::vector<jit::LazyRef>{lazy_node(part)...}; }, parts);
  else
    return {lazy_node(parts)};
}

}  // namespace detail

/// A result with a derivative of its own: what was computed from the inputs by any means, custom code included, or what
/// has a better derivative than its formula. `backward(gradient)` returns the gradients of sum(gradient * result) with
/// respect to the inputs, as expressions: one for one input, a std::tuple for several. The result is evaluated now.
///
///     auto y = sn::custom_vjp(sn::round(x), [](const auto& g) { return g; }, x);  // straight through
template <expression E, class F, expression... X>
  requires(sizeof...(X) > 0)
[[nodiscard]] auto custom_vjp(const E& result, F backward, const X&... inputs) {
  using Result = Lazy<detail::deduced_element<E>, detail::deduced_device<E>>;
  const auto pullback = [backward](const jit::LazyRef& gradient) {
    return detail::nodes_of(backward(Result(gradient)));
  };
  const runtime::TensorRef array = detail::array_of(result);
  // A leaf of its own, in case the result is an input.
  const runtime::TensorRef leaf = runtime::view(*array, array->shape, array->strides);
  return Result(detail::with_history(leaf, {detail::lazy_node(inputs)...}, pullback));
}

/// The gradients with respect to tensors in a list, such as parameters.
template <class E, class T, class D, class Unused = unused::Error>
  requires detail::is_unused<Unused>
[[nodiscard]] std::vector<Lazy<T, D>> grad(const E& value, const std::vector<Tensor<T, D>>& wrt, Unused = {}) {
  static_assert(detail::GradientChecks<E, Tensor<T, D>>::ok, SINTER_GRADIENT_OF);
  std::vector<runtime::TensorImpl*> targets;
  for (const Tensor<T, D>& x : wrt) targets.push_back(&x.impl());
  std::vector<Lazy<T, D>> gradients;
  for (jit::LazyRef& node : jit::gradients(detail::lazy_node(value), targets, {}, Unused::kind))
    gradients.emplace_back(std::move(node));
  return gradients;
}

}  // namespace sinter::inline v1

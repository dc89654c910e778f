// Combinations of reductions and elementwise operations: norms, and layers that normalize. Each is a short formula that
// fuses with the expression around it.
#pragma once
#include <optional>

#include <sinter/dsl/function.hpp>
#include <sinter/dsl/reduce.hpp>

namespace sinter::inline v1 {

namespace detail {

using Infinity = FixedNumber<Category::Float, 0x7FF0000000000000>;
using NegativeInfinity = decltype(-Infinity());

#define SINTER_FLOATS "this takes floats: convert with cast<float>(x)"
template <class T>
inline constexpr bool may_be_float = floating_element<T> || !element<T>;

/// Throws DTypeError for integers in a tensor whose dtype is known only at run time.
void check_floats(std::string_view operation, const OperandInfo& x);
/// Rejects complex numbers as well.
void check_real_floats(std::string_view operation, const OperandInfo& x);
/// Throws Error for an order that needs its own formula: 0, infinities, NaN.
double checked_order(double p);
/// x's magnitudes, which are real for complex numbers too.
template <class X>
auto magnitude(X&& x) {
  return apply<Op::abs>(std::forward<X>(x));
}

/// (sum |x|^p)^(1/p) along axes of a lifted operand.
template <class X, class P>
auto norm_along(jit::ReduceAxes along, const X& x, const P& p) {
  const auto sum_of = [&](auto&& terms) { return apply_along<Op::sum>(along, terms); };
  if constexpr (std::is_same_v<P, Infinity>) {
    return apply_along<Op::amax>(along, magnitude(x));
  } else if constexpr (std::is_same_v<P, NegativeInfinity>) {
    return apply_along<Op::amin>(along, magnitude(x));
  } else if constexpr (integral_constant<P>) {
    if constexpr (P::value == 0 && !element<value_type_of<X>>)  // its dtype is not known at compile time
      return sum_of(apply<Op::where>(apply<Op::ne>(x, p), apply<Op::pow>(magnitude(x), p), p));
    else if constexpr (P::value == 0)
      return sum_of(apply_cast<part_type<value_type_of<X>>>(apply<Op::ne>(x, p)));
    else if constexpr (P::value == 1)
      return sum_of(magnitude(x));
    else if constexpr (P::value == 2 && !element<value_type_of<X>>)  // which may be complex
      return apply<Op::norm_sqrt>(sum_of(apply<Op::real>(apply<Op::mul>(x, apply<Op::conj>(x)))));
    else if constexpr (P::value == 2 && !complex_element<value_type_of<X>>)
      return apply<Op::norm_sqrt>(sum_of(apply<Op::square>(x)));
    else
      return norm_along(along, x, static_cast<double>(P::value));
  } else {
    const double order = checked_order(static_cast<double>(p));
    return apply<Op::norm_root>(sum_of(apply<Op::norm_term>(magnitude(x), order)), order);
  }
}

/// The norm's reduce axes. For an infinite order the operand must have elements.
template <class P, class E>
jit::ReduceAxes norm_axes(const E& e, const Axes& axes, KeepDim keep) {
  const jit::ReduceAxes along = along_of("norm", e, axes, keep);
  if constexpr (!element<typename E::value_type> && !has_free_names<E>) check_floats("norm", info_of(e));
  if constexpr ((std::is_same_v<P, Infinity> || std::is_same_v<P, NegativeInfinity>) && !has_free_names<E>)
    if (operand_shape(e).numel() == 0) check_has_elements("norm", along, info_of(e));
  return along;
}

struct Norm {
  template <class X, class P>
  auto operator()(X&& x, P p, const Axes& axes = {}, KeepDim keep = false) const {
    static_assert(expression<X>, SINTER_REDUCED);
    static_assert(may_be_float<value_type_of<X>> || complex_element<value_type_of<X>>, SINTER_FLOATS);
    static_assert(!std::is_same_v<P, bool> && !std::is_same_v<P, KeepDim>,
                  "the order of the norm comes first: norm(x, 2_c, -1, keepdim)");
    if constexpr (is_error<X>) {
      return ErrorExpression();
    } else {
      auto&& e = lift(std::forward<X>(x));
      return norm_along(norm_axes<P>(e, axes, keep), e, p);
    }
  }
  /// Of order 2.
  template <class X>
  auto operator()(X&& x) const {
    return (*this)(std::forward<X>(x), std::integral_constant<int, 2>());
  }
};

/// The axes of `shape`, x's last ones. Throws ShapeError if x's last axes have another shape, or `shape` has no axes.
jit::ReduceAxes normalized_axes(std::string_view operation, const OperandInfo& x, const Shape& shape);
/// How a tensor (batch, channels, ...) is viewed as channel groups: (batch, groups, channels / groups, ...).
struct Groups {
  Shape split;           // what the channels axis is split into
  Shape of_channels;     // shape of one number per channel that broadcasts against the view
  jit::ReduceAxes axes;  // the axes of one group
};
/// Throws ShapeError.
Groups groups_of(const OperandInfo& x, std::int64_t groups);

/// x shifted and scaled to mean 0 and variance 1 along the axes.
template <class X>
auto standardized(jit::ReduceAxes along, X&& x, double eps) {
  along.keeps = true;
  const function scaled([&](const auto& v) {
    const auto mean = apply_along<Op::mean>(along, v);
    const auto variance = apply_along<Op::var>(along, v, FixedNumber<Category::Int, 0>());
    return (v - mean) * apply<Op::rsqrt>(variance + eps);
  });
  return scaled(std::forward<X>(x));
}
template <class X>
auto with_rms_of_one(jit::ReduceAxes along, X&& x, double eps) {
  along.keeps = true;
  const function scaled(
      [&](const auto& v) { return v * apply<Op::rsqrt>(apply_along<Op::mean>(along, apply<Op::square>(v)) + eps); });
  return scaled(std::forward<X>(x));
}
/// v divided by its norm, or by eps if that is larger.
template <class V, class P>
auto with_norm_of_one(jit::ReduceAxes along, const V& v, const P& p, double eps) {
  along.keeps = true;
  return v / apply<Op::maximum>(norm_along(along, v, p), eps);
}

#define SINTER_NORMALIZED_OUTSIDE                                                                                \
  "the shape of an operand of let or function is not known inside the body: normalize it outside, and pass the " \
  "result in"

/// Properties of an operand to normalize. Throws DTypeError.
template <class X>
OperandInfo normalizable(std::string_view operation, const X& x) {
  static_assert(may_be_float<value_type_of<X>>, SINTER_FLOATS);
  static_assert(!has_free_names<lifted<const X&>>, SINTER_NORMALIZED_OUTSIDE);
  const OperandInfo facts = info_of(lift(x));
  if constexpr (!element<value_type_of<X>>) check_real_floats(operation, facts);
  return facts;
}

/// Throws ShapeError if an operation's weight or bias does not have the shape it requires.
void check_parameter(std::string_view operation, std::string_view called, const OperandInfo& parameter,
                     const Shape& shape);
template <class W>
void check_parameter(std::string_view operation, std::string_view called, const W& parameter, const Shape& shape) {
  if constexpr (!has_free_names<lifted<const W&>>) check_parameter(operation, called, info_of(lift(parameter)), shape);
}

/// The distance from 1 to the next representable number.
double epsilon_of(DType dtype) noexcept;

}  // namespace detail

/// Infinity as a number, where(mask, x, -inf), and as the order of a norm, norm(x, inf).
inline constexpr detail::Infinity inf{};

/// The vector norm of order p along axes (all if none are given) in x's dtype: norm(x), norm(x, 1_c, -1), norm(x, inf).
/// The constants 0, 1 and 2 have formulas of their own; an order known only at run time computes (sum |x|^p)^(1/p) and
/// must not be 0. Throws IndexError, and Error for a run-time order of 0.
inline constexpr detail::Norm norm{};

/// x divided by its norm of order p along axes, or by eps if that is larger. Throws IndexError.
template <expression X, class P = std::integral_constant<int, 2>>
auto normalize(X&& x, P p = {}, const detail::Axes& axes = 1, double eps = 1e-12) {
  static_assert(detail::may_be_float<value_type_of<X>> || complex_element<value_type_of<X>>, SINTER_FLOATS);
  const jit::ReduceAxes along = detail::norm_axes<P>(detail::lift(x), axes, keepdim);
  const function divided([&](const auto& v) { return detail::with_norm_of_one(along, v, p, eps); });
  return divided(std::forward<X>(x));
}

/// sum(x * y) / (|x| |y|) along axes, each norm at least eps. For floats; shapes broadcast, and both operands have the
/// axes. Throws IndexError.
template <expression X, expression Y>
auto cosine_similarity(X&& x, Y&& y, const detail::Axes& axes = 1, double eps = 1e-8) {
  static_assert(detail::same_device<detail::device_of<X>, detail::device_of<Y>>, SINTER_DIFFERENT_DEVICES);
  if constexpr (detail::same_device<detail::device_of<X>, detail::device_of<Y>>) {
    static_assert(detail::may_be_float<value_type_of<X>> && detail::may_be_float<value_type_of<Y>>, SINTER_FLOATS);
    const auto product = detail::lift(x * y);
    const jit::ReduceAxes along = detail::along_of("cosine_similarity", product, axes, false);
    const function similarity([&](const auto& a, const auto& b) {
      const std::integral_constant<int, 2> two;
      return detail::apply_along<Op::sum>(
          along, detail::with_norm_of_one(along, a, two, eps) * detail::with_norm_of_one(along, b, two, eps));
    });
    if constexpr (detail::has_free_names<std::remove_cvref_t<decltype(product)>>) {
      return similarity(x, y);
    } else {  // the norms are those of the broadcast operands
      const Shape shape = detail::info_of(product).shape;
      return similarity(x.expand(shape), y.expand(shape));
    }
  } else {
    return detail::ErrorExpression();
  }
}

/// (x - mean) / sqrt(variance + eps) * weight + bias over the last axes, whose shape is `shape`; weight and bias have
/// that shape too. For floats. Throws ShapeError.
template <expression X>
auto layer_norm(X&& x, const Shape& shape, double eps = 1e-5) {
  const jit::ReduceAxes along = detail::normalized_axes("layer_norm", detail::normalizable("layer_norm", x), shape);
  return detail::standardized(along, std::forward<X>(x), eps);
}
template <expression X, expression W>
auto layer_norm(X&& x, const Shape& shape, W&& weight, double eps = 1e-5) {
  detail::check_parameter("layer_norm", "weight", weight, shape);
  return layer_norm(std::forward<X>(x), shape, eps) * std::forward<W>(weight);
}
template <expression X, expression W, expression B>
auto layer_norm(X&& x, const Shape& shape, W&& weight, B&& bias, double eps = 1e-5) {
  detail::check_parameter("layer_norm", "weight", weight, shape);
  detail::check_parameter("layer_norm", "bias", bias, shape);
  return layer_norm(std::forward<X>(x), shape, eps) * std::forward<W>(weight) + std::forward<B>(bias);
}

/// x / sqrt(mean(x^2) + eps) * weight over the last axes, whose shape is `shape`; eps defaults to the epsilon of x's
/// dtype. For floats. Throws ShapeError.
template <expression X>
auto rms_norm(X&& x, const Shape& shape, std::optional<double> eps = {}) {
  const detail::OperandInfo facts = detail::normalizable("rms_norm", x);
  const jit::ReduceAxes along = detail::normalized_axes("rms_norm", facts, shape);
  return detail::with_rms_of_one(along, std::forward<X>(x), eps ? *eps : detail::epsilon_of(facts.dtype));
}
template <expression X, expression W>
auto rms_norm(X&& x, const Shape& shape, W&& weight, std::optional<double> eps = {}) {
  detail::check_parameter("rms_norm", "weight", weight, shape);
  return rms_norm(std::forward<X>(x), shape, eps) * std::forward<W>(weight);
}

/// (x - mean) / sqrt(variance + eps) over each of `groups` groups of channels, the second axis of x, then * weight +
/// bias, with one number per channel. Evaluates, in one kernel with the expression x. Throws ShapeError.
template <expression X>
auto group_norm(const X& x, detail::Index groups, double eps = 1e-5) {
  const detail::Groups g = detail::groups_of(detail::normalizable("group_norm", x), groups);
  return Tensor(detail::standardized(g.axes, x.unflatten(1, g.split), eps)).flatten(1, 2);
}
template <expression X, expression W, expression B>
auto group_norm(const X& x, detail::Index groups, W&& weight, B&& bias, double eps = 1e-5) {
  const detail::Groups g = detail::groups_of(detail::normalizable("group_norm", x), groups);
  return Tensor(detail::standardized(g.axes, x.unflatten(1, g.split), eps) * weight.reshape(g.of_channels) +
                bias.reshape(g.of_channels))
      .flatten(1, 2);
}

}  // namespace sinter::inline v1

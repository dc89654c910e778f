// Reductions: sum(x), mean(x, -1), amax(x, {0, 1}, keepdim), softmax(x, 1). One for each line of reductions.def. They
// are parts of expressions like other operations and fuse with them.
//
// Axes are integers, constants such as 1_c, or several in braces or a range of int64; none means all. Negative ones
// count from the end. An axis out of range or repeated is an IndexError when the reduction is written. In the body of
// let and function, where shapes are unknown, all axes count from the end.
#pragma once
#include <sinter/dsl/indexing.hpp>
#include <sinter/dsl/values_and_indices.hpp>

namespace sinter::inline v1 {

namespace detail {

/// The axes as the mask of a ReduceAxes; false if one is out of range or repeated. A 0-d value counts as having one
/// axis.
bool find_axes(const Axes& axes, int ndim, std::uint8_t& mask) noexcept;
/// The mask of axes that are all counted from the end, where the number of dims is unknown. Throws IndexError.
std::uint8_t axes_from_end(std::string_view operation, const Axes& axes);
[[noreturn]] void throw_wrong_axes(std::string_view operation, const Axes& axes, const OperandInfo& x);
/// Throws IndexError if the reduce axes have no elements.
void check_has_elements(std::string_view operation, jit::ReduceAxes along, const OperandInfo& x);

constexpr bool needs_element(Op op) noexcept {
  return op == Op::amax || op == Op::amin || op == Op::argmax || op == Op::argmin;
}

/// Throws IndexError.
template <class E>
jit::ReduceAxes along_of(std::string_view operation, const E& e, const Axes& axes, KeepDim keep) {
  jit::ReduceAxes along{jit::ReduceAxes::all_axes, axes.keeps || keep.keeps};
  if constexpr (has_free_names<E>) {
    if (!axes.all()) along.axes = axes_from_end(operation, axes);
  } else if (!axes.all() && !find_axes(axes, operand_ndim(e), along.axes)) {
    throw_wrong_axes(operation, axes, info_of(e));
  }
  return along;
}
template <Op op, class E>
jit::ReduceAxes along_of(const E& e, const Axes& axes, KeepDim keep) {
  const jit::ReduceAxes along = along_of(name(op), e, axes, keep);
  if constexpr (needs_element(op) && !has_free_names<E>)
    if (operand_shape(e).numel() == 0) check_has_elements(name(op), along, info_of(e));
  return along;
}

#define SINTER_REDUCED "a reduction takes a tensor or an expression"

template <Op op, class X, class... Rest>
auto reduce(X&& x, const Axes& axes, KeepDim keep, const Rest&... rest) {
  auto&& e = lift(std::forward<X>(x));
  const jit::ReduceAxes along = along_of<op>(e, axes, keep);
  return apply_along<op>(along, std::forward<decltype(e)>(e), rest...);
}

template <Op op>
template <class X>
auto Reduces1<op>::operator()(X&& x, const Axes& axes, KeepDim keep) const {
  static_assert(expression<X>, SINTER_REDUCED);
  if constexpr (is_error<X>)
    return ErrorExpression();
  else
    return reduce<op>(std::forward<X>(x), axes, keep);
}

template <Op op>
template <class X>
auto Reduces2<op>::operator()(X&& x, const Axes& axes, KeepDim keep) const {
  return (*this)(std::forward<X>(x), axes, FixedNumber<Category::Int, 1>(), keep);
}
template <Op op>
template <class X, class C>
  requires(!std::is_same_v<C, KeepDim>)
auto Reduces2<op>::operator()(X&& x, const Axes& axes, C correction, KeepDim keep) const {
  static_assert(expression<X>, SINTER_REDUCED);
  static_assert(!std::is_same_v<C, bool>, "the correction is a number, 1 or 0, not a bool; keepdim keeps the axes");
  static_assert(std::is_same_v<C, bool> || !expression<C>, "the correction is a number");
  if constexpr (is_error<X>)
    return ErrorExpression();
  else
    return reduce<op>(std::forward<X>(x), axes, keep, correction);
}

template <Op op>
template <class X>
auto ShapePreserving1<op>::operator()(X&& x, const Axes& axes) const {
  static_assert(expression<X>, SINTER_REDUCED);
  if constexpr (is_error<X>)
    return ErrorExpression();
  else
    return reduce<op>(std::forward<X>(x), axes, false);
}

template <template <element_or_any, class> class Result, class A, class B>
auto evaluated_as(const A& a, const B& b) {
  auto [first, second] = evaluated(jit::Mode::Fused, a, b);
  return Result<deduced_element<A>, deduced_device<A>>{std::move(first), std::move(second)};
}

/// Calls use(x). The kernels that find positions do not order bools: these are converted to integers.
template <class E, class F>
auto with_order(const E& x, F use) {
  if constexpr (std::is_same_v<value_type_of<E>, bool>) {
    return use(apply_cast<std::int32_t>(x));
  } else {
    if constexpr (!element<value_type_of<E>>)
      if (info_of(x).dtype == DType::Bool) return use(apply_cast<std::int32_t>(x));
    return use(x);
  }
}

template <Op value, Op position>
template <class X>
auto Extreme<value, position>::operator()(X&& x) const {
  return Reduces1<value>{}(std::forward<X>(x));
}
template <Op value, Op position>
template <class X>
auto Extreme<value, position>::operator()(X&& x, const Axes& axes, KeepDim keep) const {
  static_assert(expression<X>, SINTER_REDUCED);
  if constexpr (is_error<X>) {
    return ErrorExpression();
  } else if constexpr (keeps_history<X>) {
    decltype(auto) source = in_memory(x);
    using T = Tensor<deduced_element<X>, deduced_device<X>>;
    auto found = (*this)(T(source.array), axes, keep);
    const auto along = axes.given();
    auto values = along.size() == 1 ? elements_at(source, along[0], found.indices)
                                    : view_of_result(Reduces1<value>{}(source.leaf, axes, keep), found.values.ref(),
                                                     found.values.impl());
    return ValuesAndIndices<deduced_element<X>, deduced_device<X>, decltype(values)>{std::move(values),
                                                                                     std::move(found.indices)};
  } else {
    auto&& e = lift(x);
    const auto values = Reduces1<value>{}(e, axes, keep);
    return with_order(e, [&](const auto& x_in_order) {
      return evaluated_as<ValuesAndIndices>(values, Reduces1<position>{}(x_in_order, axes, keep));
    });
  }
}

template <class X>
auto AMinMax::operator()(X&& x, const Axes& axes, KeepDim keep) const {
  static_assert(expression<X>, SINTER_REDUCED);
  if constexpr (is_error<X>) {
    return ErrorExpression();
  } else {
    auto&& e = lift(x);
    return evaluated_as<MinAndMax>(Reduces1<Op::amin>{}(e, axes, keep), Reduces1<Op::amax>{}(e, axes, keep));
  }
}

template <Op deviation>
template <class X>
auto WithMean<deviation>::operator()(X&& x, const Axes& axes, KeepDim keep) const {
  return (*this)(std::forward<X>(x), axes, 1, keep);
}
template <Op deviation>
template <class X, class C>
  requires(!std::is_same_v<C, KeepDim>)
auto WithMean<deviation>::operator()(X&& x, const Axes& axes, C correction, KeepDim keep) const {
  static_assert(expression<X>, SINTER_REDUCED);
  if constexpr (is_error<X>) {
    return ErrorExpression();
  } else {
    auto&& e = lift(x);
    const auto deviations = Reduces2<deviation>{}(e, axes, correction, keep);
    return evaluated_as<DeviationAndMean>(deviations, Reduces1<Op::mean>{}(e, axes, keep));
  }
}

}  // namespace detail

#define SINTER_INTERNAL_REDUCTION(name, arity, rule)
#define SINTER_REDUCTION(name, arity, rule) inline constexpr detail::Reduces1<Op::name> name{};
#define SINTER_COMPOSITE_REDUCTION(name, arity, rule, kind) inline constexpr detail::kind##arity<Op::name> name{};
#include <sinter/jit/reduction_list.def>

/// max(x) is amax(x). max(x, axis) evaluates the largest elements and their positions: auto [values, indices].
inline constexpr detail::Max max{};
inline constexpr detail::Min min{};
/// auto [min, max] = aminmax(x, axes), evaluated together.
inline constexpr detail::AMinMax aminmax{};
/// auto [var, mean] = var_mean(x, axes, correction), evaluated together.
inline constexpr detail::WithMean<Op::var> var_mean{};
inline constexpr detail::WithMean<Op::std> std_mean{};

// For argument-dependent lookup; see functions.hpp. Packs of one are less specialized than any user's function.
namespace adl {

#define SINTER_FUNCTION(name, function)                                  \
  template <class... X>                                                  \
    requires(sizeof...(X) == 1 && (expression<X> && ...))                \
  auto name(const X&... x) {                                             \
    return function{}(x...);                                             \
  }                                                                      \
  template <expression X, class... Rest>                                 \
  auto name(const X& x, const detail::Axes& axes, const Rest&... rest) { \
    return function{}(x, axes, rest...);                                 \
  }
#define SINTER_INTERNAL_REDUCTION(name, arity, rule)
#define SINTER_REDUCTION(name, arity, rule) SINTER_FUNCTION(name, detail::Reduces1<Op::name>)
#define SINTER_COMPOSITE_REDUCTION(name, arity, rule, kind) SINTER_FUNCTION(name, detail::kind##arity<Op::name>)
#include <sinter/jit/reduction_list.def>
#undef SINTER_FUNCTION

}  // namespace adl

}  // namespace sinter::inline v1

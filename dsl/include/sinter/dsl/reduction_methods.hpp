// Reductions as functions and as methods: sum(x, -1), x.sum({0, 1}, keepdim). Documented in reduce.hpp.
#pragma once
#include <type_traits>
#include <utility>

#include <sinter/dsl/axis.hpp>
#include <sinter/jit/ops.hpp>

namespace sinter::inline v1::detail {

struct ExpressionTag;
template <class>
struct ErrorExpressionOf;
/// ErrorExpression, which is not complete here; any X.
template <class X>
using ErrorOf = typename ErrorExpressionOf<X>::type;

/// sum(x), sum(x, axes), sum(x, axes, keepdim), sum(x, keepdim).
template <Op op>
struct Reduces1 {
  template <class X>
  auto operator()(X&& x, const Axes& axes = {}, KeepDim keep = false) const;
};
/// A reduction with a second operand, a number: var(x, axes, correction, keepdim).
template <Op op>
struct Reduces2 {
  template <class X>
  auto operator()(X&& x, const Axes& axes = {}, KeepDim keep = false) const;
  template <class X, class C>
    requires(!std::is_same_v<C, KeepDim>)
  auto operator()(X&& x, const Axes& axes, C correction, KeepDim keep = false) const;
};
/// softmax(x, axes).
template <Op op>
struct ShapePreserving1 {
  template <class X>
  auto operator()(X&& x, const Axes& axes) const;
  template <class X>
  auto operator()(X&&) const {
    static_assert(!std::is_same_v<X, X>, "the axis is missing: softmax(x, -1)");
    return ErrorOf<X>();
  }
};

/// max(x); and max(x, axis), which evaluates values and positions together.
template <Op value, Op position>
struct Extreme {
  template <class X>
  auto operator()(X&& x) const;
  template <class X>
  auto operator()(X&& x, const Axes& axes, KeepDim keep = false) const;
  template <class X, class Y>
    requires(std::is_base_of_v<ExpressionTag, std::remove_cvref_t<Y>> ||
             std::is_floating_point_v<std::remove_cvref_t<Y>>)
  auto operator()(X&&, Y&&) const {
    static_assert(!std::is_same_v<Y, Y>, "max and min reduce: for two operands use maximum(x, y), minimum(x, y)");
    return ErrorOf<X>();
  }
};
using Max = Extreme<Op::amax, Op::argmax>;
using Min = Extreme<Op::amin, Op::argmin>;
struct AMinMax {
  template <class X>
  auto operator()(X&& x, const Axes& axes = {}, KeepDim keep = false) const;
};
template <Op deviation>
struct WithMean {
  template <class X>
  auto operator()(X&& x, const Axes& axes = {}, KeepDim keep = false) const;
  template <class X, class C>
    requires(!std::is_same_v<C, KeepDim>)
  auto operator()(X&& x, const Axes& axes, C correction, KeepDim keep = false) const;
};

/// The methods. Axes are not deduced, so they may be given in braces.
template <class Self>
class ReductionMethods {
 public:
#define SINTER_METHOD_Reduces1(name, function) \
  auto name(const Axes& axes = {}, KeepDim keep = false) const { return function{}(self(), axes, keep); }
#define SINTER_METHOD_Reduces2(name, function)                            \
  SINTER_METHOD_Reduces1(name, function) template <class C>               \
    requires(!std::is_same_v<C, KeepDim>)                                 \
  auto name(const Axes& axes, C correction, KeepDim keep = false) const { \
    return function{}(self(), axes, correction, keep);                    \
  }
#define SINTER_METHOD_ShapePreserving1(name, function) \
  auto name(const Axes& axes) const { return function{}(self(), axes); }
#define SINTER_METHOD_Extreme(name, function)      \
  auto name() const { return function{}(self()); } \
  auto name(const Axes& axes, KeepDim keep = false) const { return function{}(self(), axes, keep); }
#define SINTER_INTERNAL_REDUCTION(name, arity, rule)
#define SINTER_REDUCTION(name, arity, rule) SINTER_METHOD_Reduces1(name, Reduces1<Op::name>)
#define SINTER_COMPOSITE_REDUCTION(name, arity, rule, kind) SINTER_METHOD_##kind##arity(name, kind##arity<Op::name>)
#include <sinter/jit/reduction_list.def>

 SINTER_METHOD_Extreme(max, Max) SINTER_METHOD_Extreme(min, Min) SINTER_METHOD_Reduces1(aminmax, AMinMax)
#undef SINTER_METHOD_Reduces1
#undef SINTER_METHOD_Reduces2
#undef SINTER_METHOD_ShapePreserving1
#undef SINTER_METHOD_Extreme

     private : const Self& self() const noexcept {
    return static_cast<const Self&>(*this);
  }
};

}  // namespace sinter::inline v1::detail

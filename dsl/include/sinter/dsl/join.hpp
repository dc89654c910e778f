// Tensors from parts: cat, stack and roll. Each part is computed at its place in the result, so nothing is copied.
#pragma once
#include <initializer_list>

#include <sinter/dsl/evaluate.hpp>
#include <sinter/dsl/history.hpp>

namespace sinter::inline v1 {

namespace detail {

/// Where parts are along one axis of a tensor.
struct JoinLayout {
  Shape shape;
  int axis;
  std::vector<std::int64_t> firsts;  // where each part begins
};
using JoinLayoutOf = JoinLayout(std::span<const Shape> parts, std::int64_t axis);
/// Throw ShapeError, naming the parts' shapes, and IndexError.
JoinLayout layout_of_cat(std::span<const Shape> parts, std::int64_t axis);
JoinLayout layout_of_stack(std::span<const Shape> parts, std::int64_t axis);

/// The view of `whole` to which a part of this shape is written.
TensorRef place_of(const TensorImpl& whole, const JoinLayout& layout, std::size_t part, const Shape& shape);

/// A part of a rolled tensor: its ranges of positions along each axis, and where these begin in the result.
struct RolledPart {
  std::vector<range> from, to;
};
/// Throws IndexError, ShapeError.
std::vector<RolledPart> rolled_parts(const Shape& shape, std::span<const std::int64_t> shifts,
                                     std::span<const std::int64_t> axes);
TensorRef slices(const TensorImpl& x, const std::vector<range>& ranges);
/// The gradient of a rolled value.
jit::Pullback rolled_back(const Shape& shifts, const Shape& axes);

/// An operand with a known dtype: an expression of AnyType becomes a Lazy.
template <class A>
auto with_dtype(A&& operand) {
  if constexpr (std::is_same_v<value_type_of<A>, AnyType> && !is_tensor<A> && !is_lazy<std::remove_cvref_t<A>>)
    return Lazy<AnyType, deduced_device<A>>(lazy_node(operand));
  else
    return lift(std::forward<A>(operand));
}
/// An operand with several views: if it reduces or multiplies matrices, it is evaluated once.
template <class E>
auto viewable(const E& e) {
  if constexpr (is_lazy<E>) {
    if (!has_reshaping(evaluation_of(e))) return e;
    const TensorRef result = evaluate_one(e);
    return view_of_result(e, result, *result);
  } else if constexpr (reshapes<E>) {
    return viewable(Lazy(e));
  } else {
    return e;
  }
}
template <class E>
DType dtype_of_value(const E& e) {
  if constexpr (element<value_type_of<E>>)
    return dtype_of<value_type_of<E>>;
  else if constexpr (is_lazy<E>)
    return e.node()->dtype();
  else
    return e.value.leaves[0]->dtype;
}
template <class E>
Device device_of_value(const E& e) {
  if constexpr (is_lazy<E>)
    return e.device();
  else
    return e.value.leaves[0]->device;
}

template <class... T>
struct PromotedElement {
  using type = typename TypeOf<common_type(std::array{operand_type<T>...}).dtype>::type;
};
template <class... T>
  requires(std::is_same_v<T, AnyType> || ...)
struct PromotedElement<T...> {
  using type = AnyType;
};
template <class... E>
using joined_tensor =
    Tensor<typename PromotedElement<value_type_of<E>...>::type, typename CommonDeviceOf<device_of<E>...>::type>;
/// A Lazy if gradients may flow to a part, else a tensor.
template <class... E>
using join_result = std::conditional_t<
    !(keeps_history<E> || ...), joined_tensor<E...>,
    Lazy<typename PromotedElement<value_type_of<E>...>::type, typename CommonDeviceOf<device_of<E>...>::type>>;

/// The gradients with respect to the parts.
std::vector<jit::LazyRef> parts_of_gradient(const jit::LazyRef& gradient, const JoinLayout& layout,
                                            std::span<const Shape> parts);

/// The parts, evaluated together into one array.
template <class Result, class... E>
Result join_expressions(JoinLayoutOf layout_of, std::int64_t axis, const E&... parts) {
  const std::array shapes{shape_from(parts)...};
  const JoinLayout layout = layout_of(shapes, axis);
  const DType dtypes[] = {dtype_of_value(parts)...};
  DType dtype = dtypes[0];
  for (const DType t : dtypes) dtype = promote(dtype, t);
  const Device devices[] = {device_of_value(parts)...};
  const TensorRef whole = runtime::empty(layout.shape, dtype, devices[0]);
  TensorRef places[sizeof...(E)];
  for (std::size_t i = 0; i < sizeof...(E); ++i) places[i] = place_of(*whole, layout, i, shapes[i]);
  evaluate_all(places, jit::Mode::Fused, parts...);
  if constexpr (is_tensor<Result>) {
    return Result(whole);
  } else {
    const auto pullback = [layout, shapes](const jit::LazyRef& gradient) {
      return parts_of_gradient(gradient, layout, shapes);
    };
    return Result(with_history(whole, {lazy_node(parts)...}, pullback));
  }
}
/// A braced list's element when the list does not hold tensors of one type.
struct AnyPart {
  template <class A>
  AnyPart(const A&) {}
};
#define SINTER_LIST_OF_PARTS                                                                                         \
  "a braced list holds tensors of one type: write expressions and other tensors without braces, after the axis, as " \
  "in cat(0, x + 1, y) and stack(0, x + 1, y)"

/// Any number of expressions, evaluated together into one array; gradients flow to them.
jit::LazyRef join_values(JoinLayoutOf layout_of, std::int64_t axis, std::span<const jit::LazyRef> parts,
                         std::span<const Shape> shapes);
/// Any number of tensors of one type.
TensorRef join_arrays(JoinLayoutOf layout_of, std::int64_t axis, std::span<TensorImpl* const> parts);

template <class T, class D, class X>
Tensor<T, D> join_tensors(JoinLayoutOf layout_of, std::int64_t axis, std::span<const Tensor<T, D, X>> parts) {
  std::vector<TensorImpl*> arrays;
  for (const Tensor<T, D, X>& part : parts) arrays.push_back(&part.impl());
  return Tensor<T, D>(join_arrays(layout_of, axis, arrays));
}

}  // namespace detail

/// Concatenates the parts along an existing axis: cat(0, x, y + 1). Their other extents must be equal; dtypes promote.
/// Parts of one shape are computed in one kernel, others each in its own; all are written directly to their place in
/// the result, which is a Lazy if a part is an expression of floats. Throws ShapeError, IndexError, DeviceError.
template <expression... E>
  requires(sizeof...(E) > 0)
detail::join_result<E...> cat(detail::Index axis, E&&... parts) {
  static_assert(detail::same_device<detail::device_of<E>...>, SINTER_DIFFERENT_DEVICES);
  if constexpr (detail::same_device<detail::device_of<E>...>)
    return detail::join_expressions<detail::join_result<E...>>(detail::layout_of_cat, axis,
                                                               detail::with_dtype(std::forward<E>(parts))...);
}
template <expression... E>
  requires(sizeof...(E) > 0)
void cat(E&&...) {
  static_assert(sizeof...(E) == 0,
                "the axis comes first: cat(0, x, y); a list, cat({x, y}), holds tensors of one type");
}
/// cat({x, y}, 1): any number of tensors of one type.
template <class T, class D, class X>
Tensor<T, D> cat(std::span<const Tensor<T, D, X>> parts, detail::Index axis = 0) {
  return detail::join_tensors(detail::layout_of_cat, axis, parts);
}
template <class T, class D, class X>
Tensor<T, D> cat(const std::vector<Tensor<T, D, X>>& parts, detail::Index axis = 0) {
  return cat(std::span(parts), axis);
}
template <class T, class D, class X>
Tensor<T, D> cat(std::initializer_list<Tensor<T, D, X>> parts, detail::Index axis = 0) {
  return cat(std::span(parts.begin(), parts.size()), axis);
}
template <class Braces = void>
detail::ErrorExpression cat(std::initializer_list<detail::AnyPart>, detail::Index = 0) {
  static_assert(!std::is_void_v<Braces>, SINTER_LIST_OF_PARTS);
  return {};
}

/// Stacks the parts along a new axis: stack(0, x, y + 1). Their shapes must be equal, so one kernel computes them;
/// dtypes promote. Throws ShapeError, IndexError, DeviceError.
template <expression... E>
  requires(sizeof...(E) > 0)
detail::join_result<E...> stack(detail::Index axis, E&&... parts) {
  static_assert(detail::same_device<detail::device_of<E>...>, SINTER_DIFFERENT_DEVICES);
  if constexpr (detail::same_device<detail::device_of<E>...>)
    return detail::join_expressions<detail::join_result<E...>>(detail::layout_of_stack, axis,
                                                               detail::with_dtype(std::forward<E>(parts))...);
}
template <expression... E>
  requires(sizeof...(E) > 0)
void stack(E&&...) {
  static_assert(sizeof...(E) == 0,
                "the axis comes first: stack(0, x, y); a list, stack({x, y}), holds tensors of one type");
}
template <class T, class D, class X>
Tensor<T, D> stack(std::span<const Tensor<T, D, X>> parts, detail::Index axis = 0) {
  return detail::join_tensors(detail::layout_of_stack, axis, parts);
}
template <class T, class D, class X>
Tensor<T, D> stack(const std::vector<Tensor<T, D, X>>& parts, detail::Index axis = 0) {
  return stack(std::span(parts), axis);
}
template <class T, class D, class X>
Tensor<T, D> stack(std::initializer_list<Tensor<T, D, X>> parts, detail::Index axis = 0) {
  return stack(std::span(parts.begin(), parts.size()), axis);
}
template <class Braces = void>
detail::ErrorExpression stack(std::initializer_list<detail::AnyPart>, detail::Index = 0) {
  static_assert(!std::is_void_v<Braces>, SINTER_LIST_OF_PARTS);
  return {};
}

/// Moves each axis's positions by its shift; elements that leave at the end of an axis come back at its start: roll(x,
/// 1, 0), roll(x, {2, -1}, {0, 1}). Throws IndexError, and ShapeError if there are not as many shifts as axes.
template <expression E>
detail::join_result<E> roll(E&& e, const Shape& shifts, const Shape& axes) {
  const auto value = detail::viewable(detail::with_dtype(std::forward<E>(e)));
  const Shape shape = detail::shape_from(value);
  const std::vector<detail::RolledPart> parts =
      detail::rolled_parts(shape, {shifts.begin(), shifts.end()}, {axes.begin(), axes.end()});
  const runtime::TensorRef whole = runtime::empty(shape, detail::dtype_of_value(value), detail::device_of_value(value));
  for (const detail::RolledPart& part : parts) {
    runtime::TensorRef place = detail::slices(*whole, part.to);
    evaluate_into(view_of(value, [&](runtime::TensorImpl& x) { return detail::slices(x, part.from); }), place);
  }
  if constexpr (!detail::keeps_history<E>)
    return detail::join_result<E>(whole);
  else
    return detail::join_result<E>(
        detail::with_history(whole, {detail::lazy_node(value)}, detail::rolled_back(shifts, axes)));
}
/// Rolls the elements as if they were one row.
template <expression E>
detail::joined_tensor<E> roll(E&& e, detail::Index shift) {
  const auto value = detail::viewable(detail::with_dtype(std::forward<E>(e)));
  return roll(value.flatten(), Shape(shift.value), Shape(0)).view(detail::shape_from(value));
}

}  // namespace sinter::inline v1

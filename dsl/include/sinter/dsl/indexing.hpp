// Gathers, that is, elements at computed positions: take, gather, index_select, embedding, x[indices]. Each returns an
// expression, so embedding(weight, ids) * scale + positions is one kernel. Indices are integers of any dtype, tensors
// or expressions; negative ones count from the end. An index out of range is an IndexError: on the CPU when the
// expression is evaluated, on a GPU at the next synchronization. No memory outside the tensor is read.
//
// A source that is an expression is evaluated when the gather is written.
#pragma once
#include <sinter/dsl/history.hpp>
#include <sinter/dsl/operand_info.hpp>

namespace sinter::inline v1 {

namespace detail {

/// How positions along an axis map to elements in memory.
struct Axis {
  std::int64_t extent;      // number of positions
  std::int64_t stride = 1;  // elements between consecutive positions
  TensorRef others{};       // a tensor without memory: element offsets of the other axes' positions
  int trailing = 0;         // axes of extent 1 to append to the indices; -1: remove their only axis
};

/// Throws IndexError for an axis that does not exist or is empty, ShapeError, DeviceError, DTypeError.
Axis axis_of(GatherKind how, const TensorImpl& x, std::int64_t axis, const OperandInfo& indices);
Axis flat_axis(std::int64_t stride, const TensorImpl& x, const OperandInfo& indices);
Axis class_axis(std::int64_t classes, const OperandInfo& indices);
inline constexpr std::int64_t max_classes = std::int64_t{1} << 31;
/// A view with `count` axes of extent 1 appended; for -1 a view without the only axis, which has one element.
TensorRef append_axes(TensorImpl& x, int count);

template <class X, class I>
struct GatherCheck {
  static constexpr bool integers = false, devices = true, ok = false;
};
template <class X, expression I>
struct GatherCheck<X, I> {
  using T = value_type_of<I>;
  static constexpr bool integers = !std::is_same_v<T, bool> && !floating_element<T>;
  static constexpr bool devices = same_device<device_of<X>, device_of<I>>;
  static constexpr bool ok = integers && devices && !is_error<X> && !is_error<I>;
};

template <class E>
auto with_trailing_axes(const E& e, int count) {
  const auto append = [&](TensorImpl& x) { return append_axes(x, count); };
  if constexpr (is_lazy<E>)
    return count == 0 ? e : view_of(e, append);
  else if constexpr (reshapes<E>)
    return lift(view_of(e, append));
  else
    return count == 0 ? e : view_of(e, append);
}

template <class E>
auto as_int64(E&& e) {
  if constexpr (std::is_same_v<value_type_of<E>, std::int64_t>)
    return std::forward<E>(e);
  else
    return apply_cast<std::int64_t>(std::forward<E>(e));
}

/// Whether classes, which have been checked, equal positions. There are at most max_classes: int32 compares faster.
template <class D, class C>
auto equals_class(C&& classes, TensorRef positions) {
  return apply<Op::eq>(apply_cast<std::int32_t>(std::forward<C>(classes)),
                       apply_cast<std::int32_t>(positions_on<D>(std::move(positions))));
}

/// The elements of x at `offset`, counted in elements from its first one.
template <class T, class D, class X, class O>
auto load(const Tensor<T, D, X>& x, O&& offset) {
  using Offset = std::remove_cvref_t<O>;
  using Joint = common_device<D, typename Offset::device_type>;
  if constexpr (is_lazy<Offset>) {
    return Lazy<T, Joint>(jit::lazy_load(x.impl(), offset.node()));
  } else {
    using Result = Expression<T, Joint, Load<T, typename Offset::tree>, 1 + Offset::leaf_count, Offset::scalar_count,
                              Offset::byte_count + load_bytes>;
    LeafExpression<T, D, X> array = x.leaf();
    return Result(FromOperands{}, array, offset);
  }
}

template <class T, class D, class O>
auto load(const Lazy<T, D>& x, O&& offset) {
  using Joint = common_device<D, typename std::remove_cvref_t<O>::device_type>;
  return Lazy<T, Joint>(jit::lazy_load(x.node(), lazy_node(offset)));
}
template <class T, class D, class O>
auto load(const Evaluated<T, D>& x, O&& offset) {
  return load(x.leaf, std::forward<O>(offset));
}

template <class X, class I>
auto gather_along(GatherKind how, const X& x, std::int64_t axis, I&& indices) {
  if constexpr (GatherCheck<X, I>::ok) {
    decltype(auto) source = in_memory(x);
    auto&& lifted = lift(std::forward<I>(indices));
    const Axis along = axis_of(how, source.impl(), axis, info_of(lifted));
    auto offset =
        apply<Op::axis_offset>(as_int64(with_trailing_axes(lifted, along.trailing)), along.extent, along.stride);
    return load(source, apply<Op::add>(std::move(offset), positions_on<device_of<X>>(along.others)));
  } else {
    return ErrorExpression();
  }
}

/// The elements of an evaluated expression at these positions along an axis, which they may lack.
template <class T, class D>
Lazy<T, D> elements_at(const Evaluated<T, D>& x, std::int64_t axis, const Tensor<std::int64_t, D>& positions) {
  const bool lacks_axis = positions.impl().ndim() < x.impl().ndim();
  if (!lacks_axis) return gather_along(GatherKind::Gather, x.leaf, axis, positions);
  const std::int64_t at = axis < 0 ? axis + x.impl().ndim() : axis;
  return gather_along(GatherKind::Gather, x.leaf, axis, positions.unsqueeze(at)).squeeze(at);
}

/// Elements between consecutive ones of a tensor in one dimension.
template <class X>
std::int64_t flat_stride(const X& flat) {
  if constexpr (is_tensor<X>)
    return flat.impl().strides[0];
  else
    return 1;  // it was evaluated
}

template <class X, class I>
auto read_flat(const X& x, I&& indices) {
  if constexpr (GatherCheck<X, I>::ok) {
    decltype(auto) source = in_memory(x);
    const auto flat = source.reshape(Shape(source.impl().numel));
    auto&& lifted = lift(std::forward<I>(indices));
    const Axis along = flat_axis(flat_stride(flat), source.impl(), info_of(lifted));
    return load(flat, apply<Op::axis_offset>(as_int64(lifted), along.extent, along.stride));
  } else {
    return ErrorExpression();
  }
}

/// Checks a mask and a fill value. The value is not checked if an operand's dtype is known only at run time.
template <class X, class M, class V>
struct FillCheck {
  static_assert(expression<M>, "a mask is a tensor or an expression of bools: x < 0");
  static constexpr bool known = false, mask = true, value = true, devices = true, ok = false;
};
template <class X, expression M, class V>
struct FillCheck<X, M, V> {
  using T = value_type_of<X>;
  using Value = typename lifted<V>::value_type;
  static constexpr bool known = element<T> && !std::is_same_v<Value, AnyType>;
  static constexpr bool mask = std::is_same_v<value_type_of<M>, bool> || std::is_same_v<value_type_of<M>, AnyType>;
  static constexpr bool value = !known || category(operand_type<Value>.dtype) <= category(operand_type<T>.dtype);
  static constexpr bool devices = same_device<device_of<X>, device_of<M>, device_of<V>>;
  static constexpr bool ok = mask && value && devices;
};

template <class X, class M, class V>
auto fill_where(const X& x, M&& mask, V&& value) {
  using Check = FillCheck<X, M, V>;
  const Function<Op::where> where{};
  if constexpr (!Check::ok)
    return ErrorExpression();
  else if constexpr (Check::known && expression<V>)
    return where(std::forward<M>(mask), apply_cast<value_type_of<X>>(std::forward<V>(value)), x);
  else
    return where(std::forward<M>(mask), std::forward<V>(value), x);
}

/// Whether each id equals each class.
template <class I>
auto classes_of(I&& ids, std::int64_t classes) {
  if constexpr (GatherCheck<I, I>::ok) {
    auto&& lifted = lift(std::forward<I>(ids));
    const Axis axis = class_axis(classes, info_of(lifted));
    auto checked = apply<Op::class_index>(as_int64(with_trailing_axes(lifted, 1)), classes);
    return equals_class<device_of<I>>(std::move(checked), axis.others);
  } else {
    return ErrorExpression();
  }
}

}  // namespace detail

/// The elements of x at row-major `positions`, whatever x's layout. Shape: that of `positions`. Throws IndexError for
/// positions in an x without elements.
template <expression X, class I>
auto take(const X& x, I&& positions) {
  static_assert(detail::GatherCheck<X, I>::integers, SINTER_NO_INDICES);
  static_assert(detail::GatherCheck<X, I>::devices, SINTER_DIFFERENT_DEVICES);
  return detail::read_flat(x, std::forward<I>(positions));
}

/// The positions of one axis of x listed in `positions`, which has at most one dimension; its extent replaces the
/// axis's. A 0-d x has one position and gives a 0-d result. Throws IndexError, ShapeError.
template <expression X, class I>
auto index_select(const X& x, detail::Index axis, I&& positions) {
  static_assert(detail::GatherCheck<X, I>::integers, SINTER_NO_INDICES);
  static_assert(detail::GatherCheck<X, I>::devices, SINTER_DIFFERENT_DEVICES);
  return detail::gather_along(detail::GatherKind::Select, x, axis, std::forward<I>(positions));
}

/// out[i][j] = x[positions[i][j]][j] for axis 0, and so on. `positions` has x's number of dims and, along the other
/// axes, at most x's extents; its shape is the result's. A 0-d x or `positions` counts as one-dimensional. Throws
/// IndexError, ShapeError.
template <expression X, class I>
auto gather(const X& x, detail::Index axis, I&& positions) {
  static_assert(detail::GatherCheck<X, I>::integers, SINTER_NO_INDICES);
  static_assert(detail::GatherCheck<X, I>::devices, SINTER_DIFFERENT_DEVICES);
  return detail::gather_along(detail::GatherKind::Gather, x, axis, std::forward<I>(positions));
}

/// As gather, after x and `positions` are broadcast against each other along the other axes.
template <expression X, class I>
auto take_along_dim(const X& x, I&& positions, detail::Index axis) {
  static_assert(detail::GatherCheck<X, I>::integers, SINTER_NO_INDICES);
  static_assert(detail::GatherCheck<X, I>::devices, SINTER_DIFFERENT_DEVICES);
  return detail::gather_along(detail::GatherKind::TakeAlongDim, x, axis, std::forward<I>(positions));
}

/// The rows of a matrix selected by `ids`. Shape: that of `ids`, then the columns. Throws ShapeError, IndexError.
template <expression X, class I>
auto embedding(const X& weight, I&& ids) {
  static_assert(detail::GatherCheck<X, I>::integers, SINTER_NO_INDICES);
  static_assert(detail::GatherCheck<X, I>::devices, SINTER_DIFFERENT_DEVICES);
  return detail::gather_along(detail::GatherKind::Embedding, weight, 0, std::forward<I>(ids));
}

/// One-hot encoding as int64: 1 where the class equals the id, else 0. Shape: that of `ids`, then `classes`. Throws
/// IndexError if `classes` is less than 1. An id outside the classes, including every negative one, is an IndexError.
template <class I>
auto one_hot(I&& ids, detail::Index classes) {
  static_assert(detail::GatherCheck<I, I>::integers, SINTER_NO_INDICES);
  static_assert(detail::GatherCheck<I, I>::devices, SINTER_DIFFERENT_DEVICES);
  return detail::apply_cast<std::int64_t>(detail::classes_of(std::forward<I>(ids), classes));
}

/// x with `value` (a number, a tensor or an expression) where the mask is true, in x's dtype. If an operand's dtype is
/// known only at run time, dtypes promote as in where().
template <expression X, class M, class V>
  requires detail::operand<V>
auto masked_fill(const X& x, M&& mask, V&& value) {
  static_assert(detail::FillCheck<X, M, V>::mask, SINTER_NO_MASK);
  static_assert(detail::FillCheck<X, M, V>::value, SINTER_HIGHER_VALUE);
  static_assert(detail::FillCheck<X, M, V>::devices, SINTER_DIFFERENT_DEVICES);
  return detail::fill_where(x, std::forward<M>(mask), std::forward<V>(value));
}

}  // namespace sinter::inline v1

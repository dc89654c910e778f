// Evaluated values that gradients flow through: the results of functions that evaluate, such as sort or cat, of
// expressions. Of tensors, and of integers, they are tensors, and constants to grad.
#pragma once
#include <utility>
#include <vector>

#include <sinter/dsl/lazy.hpp>
#include <sinter/dsl/mask.hpp>

namespace sinter::inline v1::detail {

/// Whether the results of functions that evaluate are Lazy for an X: it is an expression that may have gradients.
template <class X>
inline constexpr bool keeps_history = !is_tensor<X> && !has_free_names<X>;
template <class X>
  requires(!is_tensor<X> && !has_free_names<X> && element<value_type_of<X>>)
inline constexpr bool keeps_history<X> = category(dtype_of<value_type_of<X>>) >= Category::Float;

/// A lazy leaf for a result of the inputs.
inline jit::LazyRef with_history(const TensorRef& result, std::vector<jit::LazyRef> inputs, jit::Pullback pullback) {
  return jit::lazy(*result, jit::Origin{std::move(inputs), std::move(pullback), result});
}

/// The value of an expression in memory.
template <class T, class D>
struct Evaluated {
  TensorRef array;
  Lazy<T, D> leaf;

  TensorImpl& impl() const noexcept { return *array; }
  Lazy<T, D> reshape(const Shape& shape) const {
    const TensorRef view = Tensor<T, D>(array).reshape(shape).ref();
    return Lazy<T, D>(jit::lazy(*view, jit::Origin{{leaf.node()}, {}, array}));
  }
};

/// A tensor itself, or the value of an expression.
template <class X>
decltype(auto) in_memory(const X& x) {
  if constexpr (is_tensor<X>) {
    return (x);
  } else if constexpr (!keeps_history<X>) {
    return tensor_from(x);
  } else {
    using Value = Lazy<deduced_element<X>, deduced_device<X>>;
    const Value value(lazy_node(x));
    const TensorRef array = evaluate_one(value);
    return Evaluated<deduced_element<X>, deduced_device<X>>{array, view_of_result(value, array, *array)};
  }
}

template <class T, class D, class X>
jit::LazyRef leaf_of(const Tensor<T, D, X>& x) {
  return lazy_node(x);
}
template <class T, class D>
jit::LazyRef leaf_of(const Evaluated<T, D>& x) {
  return x.leaf.node();
}

/// The value on another device. Throws what jit::to() throws.
jit::LazyRef move_to(Device device, const jit::LazyRef& value);

template <class E, class Target>
auto moved(const E& e, const Target& device) {
  if constexpr (is_error<E>)
    return Tensor<AnyType>();
  else if constexpr (!keeps_history<E>)
    return tensor_from(e).to(device);
  else
    return Lazy<deduced_element<E>, device_type_of<Target>>(move_to(Device(device), lazy_node(e)));
}

}  // namespace sinter::inline v1::detail

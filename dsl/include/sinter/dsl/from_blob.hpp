// Tensors on host memory that the caller owns.
#pragma once
#include <memory>
#include <optional>
#include <span>

#include <sinter/dsl/tensor.hpp>

namespace sinter::inline v1 {

namespace detail {

/// The first element is at `first`, and all are in [begin, end) if these are given.
struct Borrowed {
  std::byte* first;
  std::byte* begin = nullptr;
  std::byte* end = nullptr;
};
TensorRef borrow(const char* what, Borrowed memory, DType dtype, const Shape& shape,
                 const std::optional<Shape>& strides, std::shared_ptr<const void> owner);

/// What keeps the memory alive: nothing, a shared_ptr, or a function called with the pointer when the last tensor is
/// gone.
template <class T>
std::shared_ptr<const void> owner_of(T*, std::nullptr_t) {
  return nullptr;
}
template <class T, class U>
std::shared_ptr<const void> owner_of(T*, const std::shared_ptr<U>& owner) {
  return owner;
}
template <class T, class F>
  requires std::is_invocable_v<F&, T*>
std::shared_ptr<const void> owner_of(T* data, F deleter) {
  return std::shared_ptr<const void>(data,
                                     [data, deleter = std::move(deleter)](const void*) mutable { deleter(data); });
}

}  // namespace detail

/// A row-major tensor on the caller's array: nothing is copied, and a write through either is seen by both. The array
/// must stay in place while tensors use it. `owner` can ensure that: a std::shared_ptr that the tensors hold, or a
/// function that is called with `data`, in any thread, when the last one is gone. Unevaluated expressions do not notice
/// writes that bypass the tensor: evaluate them first. Throws ShapeError, and Error if `data` is null or not aligned;
/// the function is called in that case too.
template <element T, class Owner = std::nullptr_t>
Tensor<T, Cpu> from_blob(T* data, const Shape& shape, Owner owner = {}) {
  return Tensor<T, Cpu>(detail::borrow("from_blob", {reinterpret_cast<std::byte*>(data)}, dtype_of<T>, shape, {},
                                       detail::owner_of(data, std::move(owner))));
}
/// A tensor over existing memory with these strides, in elements: `data` is the element whose indices are all 0; with
/// negative strides, other elements precede it. Elements that share memory may be read but not written.
template <element T, class Owner = std::nullptr_t>
Tensor<T, Cpu> from_blob(T* data, const Shape& shape, const Shape& strides, Owner owner = {}) {
  return Tensor<T, Cpu>(detail::borrow("from_blob", {reinterpret_cast<std::byte*>(data)}, dtype_of<T>, shape, strides,
                                       detail::owner_of(data, std::move(owner))));
}

/// A tensor over a span's memory, as one axis or with a shape. Throws ShapeError if elements are outside the span.
template <element T, std::size_t N, class Owner = std::nullptr_t>
Tensor<T, Cpu> from_span(std::span<T, N> values, const Shape& shape, const std::optional<Shape>& strides = {},
                         Owner owner = {}) {
  auto* const begin = reinterpret_cast<std::byte*>(values.data());
  return Tensor<T, Cpu>(detail::borrow("from_span", {begin, begin, begin + values.size_bytes()}, dtype_of<T>, shape,
                                       strides, detail::owner_of(values.data(), std::move(owner))));
}
template <element T, std::size_t N>
Tensor<T, Cpu> from_span(std::span<T, N> values) {
  return from_span(values, Shape(values.size()));
}
template <class T, std::size_t N, class... Rest>
  requires std::is_const_v<T>
void from_span(std::span<T, N>, const Rest&...) {
  static_assert(!std::is_const_v<T>, "a tensor's elements are writable: copy these with sn::tensor(values, shape)");
}

}  // namespace sinter::inline v1

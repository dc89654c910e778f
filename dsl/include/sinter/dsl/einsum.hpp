// einsum: products of tensors, summed over the letters that are absent from the result.
#pragma once
#include <string_view>
#include <vector>

#include <sinter/dsl/history.hpp>

namespace sinter::inline v1 {

namespace detail {

/// The operands have one device and one dtype; `leaves` are the same as lazy leaves.
jit::LazyRef einsum(std::string_view equation, const std::vector<TensorRef>& operands,
                    const std::vector<jit::LazyRef>& leaves);

/// The product of operands in memory.
template <class... X>
jit::LazyRef einsum_of(std::string_view equation, const X&... operands) {
  return einsum(equation, {TensorRef::share(&operands.impl())...}, {leaf_of(operands)...});
}

}  // namespace detail

/// einsum("bij,bjk->bik", x, y), by torch.einsum's rules: each axis of each operand has a letter, and "..." means
/// axes that broadcast. The part after the arrow names the result's axes; letters absent from it are summed. Without an
/// arrow the result has the letters that occur once, in alphabetical order. A letter that occurs twice in an operand
/// takes its diagonal.
/// Multiplies two operands at a time, from the left unless an intermediate product would have more than eight
/// dimensions. A step is a matrix product if it sums floats or complex numbers over a letter of both operands, else
/// elementwise with a sum; a step's result is evaluated if the next one needs another view of it. The result is a Lazy.
/// At most 64 operands, all of one dtype, which is the result's. Throws Error for a malformed equation, ShapeError for
/// extents that do not match, DTypeError, DeviceError.
template <expression X, expression... Rest>
auto einsum(std::string_view equation, const X& x, const Rest&... rest) {
  static_assert(detail::same_device<detail::device_of<X>, detail::device_of<Rest>...>, SINTER_DIFFERENT_DEVICES);
  static_assert((detail::same_dtype<value_type_of<X>, value_type_of<Rest>> && ...),
                "einsum takes operands of one dtype: convert one with cast<T>(x)");
  using D = typename detail::CommonDeviceOf<detail::deduced_device<X>, detail::deduced_device<Rest>...>::type;
  return Lazy<detail::deduced_element<X>, D>(
      detail::einsum_of(equation, detail::in_memory(x), detail::in_memory(rest)...));
}

}  // namespace sinter::inline v1

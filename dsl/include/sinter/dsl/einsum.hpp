// einsum: products of tensors, summed over the letters that are absent from the result.
#pragma once
#include <string_view>
#include <vector>

#include <sinter/dsl/mask.hpp>

namespace sinter::inline v1 {

namespace detail {

/// The operands have one device and one dtype.
TensorRef einsum(std::string_view equation, std::vector<TensorRef> operands);

}  // namespace detail

/// einsum("bij,bjk->bik", x, y), by torch.einsum's rules: each axis of each operand has a letter, and "..." means
/// axes that broadcast. The part after the arrow names the result's axes; letters absent from it are summed. Without an
/// arrow the result has the letters that occur once, in alphabetical order. A letter that occurs twice in an operand
/// takes its diagonal.
/// Evaluates two operands at a time, from the left unless an intermediate product would have more than eight
/// dimensions. A step is a matrix product if it sums floats or complex numbers over a letter of both operands, else one
/// kernel. If nothing of a single operand is summed, the result may be a view of it. At most 64 operands, all of one
/// dtype, which is the result's. Throws Error for a malformed equation, ShapeError for extents that do not match,
/// DtypeError, DeviceError.
template <expression X, expression... Rest>
auto einsum(std::string_view equation, const X& x, const Rest&... rest) {
  static_assert(detail::same_device<detail::device_of<X>, detail::device_of<Rest>...>, SINTER_DIFFERENT_DEVICES);
  static_assert((detail::same_dtype<value_type_of<X>, value_type_of<Rest>> && ...),
                "einsum takes operands of one dtype: convert one with cast<T>(x)");
  using D = typename detail::JoinAll<detail::deduced_device<X>, detail::deduced_device<Rest>...>::type;
  return Tensor<detail::deduced_element<X>, D>(
      detail::einsum(equation, {detail::array_of(x), detail::array_of(rest)...}));
}

}  // namespace sinter::inline v1

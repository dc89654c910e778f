// einsum: products of tensors, summed over the letters that the result does not name.
#pragma once
#include <string_view>
#include <vector>

#include <sinter/dsl/mask.hpp>

namespace sinter::inline v1 {

namespace detail {

/// Operands are on one device and of one dtype.
TensorRef einsum(std::string_view equation, std::vector<TensorRef> operands);

}  // namespace detail

/// einsum("bij,bjk->bik", x, y), by torch.einsum's rules: a letter for each axis of each operand, "..." for axes that
/// broadcast; what follows the arrow names the axes of the result, and what it leaves out is summed. Without an arrow
/// the result has the letters that are there once, in alphabetical order. A letter twice in an operand is its diagonal.
/// Evaluates: two operands at a time, from the left unless a product on the way would have more than eight dimensions,
/// by a matrix product where floats or complex numbers are summed over a letter of both, else by one kernel. What sums
/// nothing of one operand may be a view of it. Operands, 64 at most, have one dtype, as the result. Throws Error for
/// what is no such equation, ShapeError for extents that do not go together, DtypeError, DeviceError.
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

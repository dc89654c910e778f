// Properties of an operand that are known before it is computed.
#pragma once
#include <sinter/dsl/evaluate.hpp>

namespace sinter::inline v1::detail {

struct OperandInfo {
  Shape shape;
  DType dtype;
  Device device;
};
DType result_dtype(const jit::Recorded& e);
/// "float32 (2, 3) on cpu"
std::string describe(const OperandInfo& f);

template <class E>
inline constexpr bool is_leaf_expression = false;
template <class T, class D, class U, class X>
inline constexpr bool is_leaf_expression<Expression<T, D, Leaf<U, X>, 1, 0, leaf_bytes>> = true;

/// For lifted expressions.
template <class E>
Shape operand_shape(const E& e) {
  if constexpr (is_leaf_expression<E>)
    if (e.value.leaves[0]) return e.value.leaves[0]->shape;
  return shape_from(e);
}
template <class E>
int operand_ndim(const E& e) {
  if constexpr (is_lazy<E>) {
    return operand_shape(e).ndim();
  } else if constexpr (reshapes<E>) {
    return operand_shape(e).ndim();
  } else {
    int ndim = 0;
    for (std::size_t i = 0; i < E::leaf_count; ++i) {
      if (!e.value.leaves[i]) throw_moved_from();
      const int leaf_ndim = e.value.leaves[i]->ndim();
      if (!is_array_leaf<E>[i] && leaf_ndim > ndim) ndim = leaf_ndim;
    }
    return ndim;
  }
}
template <class E>
OperandInfo info_of(const E& e) {
  using T = typename E::value_type;
  if constexpr (is_lazy<E>) {
    return {shape_from(e), e.node()->dtype(), e.device()};
  } else {
    OperandInfo known{operand_shape(e), DType::Int64, e.value.leaves[0]->device};
    if constexpr (element<T>)
      known.dtype = dtype_of<T>;
    else
      known.dtype = result_dtype(detail::bind(e));
    return known;
  }
}

}  // namespace sinter::inline v1::detail

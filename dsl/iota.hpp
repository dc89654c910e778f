// Expressions of element positions, from which factories are built.
#pragma once
#include <sinter/dsl/tensor.hpp>

namespace sinter::inline v1::detail {

using IotaExpression = Expression<std::int64_t, AnyDevice, IotaLeaf, 1, 0, iota_bytes>;

/// The row-major position of each element of a tensor of this shape, without memory.
inline IotaExpression iota(const Shape& shape, Device device) {
  check_shape(shape, sizeof(std::int64_t));
  return IotaExpression(held(runtime::iota_tensor(shape, device)));
}

/// Evaluates an expression in `dtype`.
template <class E>
TensorRef convert(const E& e, DType dtype) {
  return visit(dtype, [&]<class T>(std::type_identity<T>) { return evaluate_one(apply_cast<T>(e)); });
}

}  // namespace sinter::inline v1::detail

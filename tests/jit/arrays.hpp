// Arrays on the CPU, for tests below the typed layer.
#pragma once
#include <algorithm>
#include <initializer_list>
#include <vector>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::testing {

using runtime::TensorImpl;
using runtime::TensorRef;

template <element T>
TensorRef array(std::vector<T> values, const Shape& shape) {
  TensorRef t = runtime::empty(shape, dtype_of<T>, Device());
  std::ranges::copy(values, reinterpret_cast<T*>(t->data));
  return t;
}
template <element T>
TensorRef array(std::initializer_list<T> values) {
  return array(std::vector<T>(values), Shape{values.size()});
}

/// Elements of a contiguous array on the CPU.
template <element T>
std::vector<T> values(const TensorRef& t) {
  const T* p = reinterpret_cast<const T*>(t->data);
  return {p, p + t->numel};
}

}  // namespace sinter::testing

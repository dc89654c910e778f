// Zeros as a value that takes no memory.
#pragma once
#include <sinter/jit/lazy.hpp>

namespace sinter::inline v1::jit {

inline LazyRef lazy_zeros(const Shape& shape, DType dtype, Device device) {
  const LazyRef factors[] = {lazy(*runtime::iota_tensor(shape, device)), lazy(Scalar(std::int64_t{0}), Category::Int)};
  return lazy_cast(lazy(Op::mul, factors), dtype);
}

}  // namespace sinter::inline v1::jit

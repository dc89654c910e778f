#include "axis_map.hpp"

#include <algorithm>

namespace sinter::inline v1::jit {

AxisMap AxisMap::restoring(std::uint8_t axes, int ndim) {
  AxisMap map;
  std::int8_t from = 0;
  for (int axis = 0; axis < ndim; ++axis) map.push_back(axes >> axis & 1 ? added : from++);
  return map;
}

AxisMap AxisMap::swapping(int ndim) {
  AxisMap map;
  for (int axis = 0; axis < ndim; ++axis)
    map.push_back(static_cast<std::int8_t>(axis < 2 && ndim > 1 ? 1 - axis : axis));
  return map;
}

bool AxisMap::is_identity() const noexcept {
  for (int axis = 0; axis < ndim(); ++axis)
    if ((*this)[axis] != axis) return false;
  return true;
}

runtime::TensorRef AxisMap::view(const runtime::TensorImpl& t) const {
  Shape shape, strides;
  int sharded_axis = runtime::no_axis;
  for (int axis = ndim(); axis-- > 0;) {
    const int from = t.ndim() - 1 - (*this)[axis];
    const bool is_new = (*this)[axis] == added || from < 0;
    if (is_new && shape.empty()) continue;  // leading axes broadcast
    if (!is_new && from == t.sharded_axis) sharded_axis = shape.ndim();
    shape.push_back(is_new ? 1 : t.shape[from]);
    strides.push_back(is_new ? 0 : t.strides[from]);
  }
  return runtime::view(t, shape, strides, 0, sharded_axis);
}

}  // namespace sinter::inline v1::jit

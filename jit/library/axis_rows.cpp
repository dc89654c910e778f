#include "axis_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <sinter/jit/evaluate.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::jit {

using runtime::TensorImpl;
using runtime::TensorRef;

namespace {

/// Extents or strides with one axis moved.
Shape moved(const Shape& dims, int from, int to) {
  Shape result;
  for (int d = 0; d < dims.ndim(); ++d) {
    const int other = d > to ? d - 1 : d;
    result.push_back(dims[d == to ? from : other < from ? other : other + 1]);
  }
  return result;
}

}  // namespace

int checked_axis(const char* call, const TensorImpl& x, std::int64_t axis) {
  const int ndim = std::max(x.ndim(), 1);
  if (axis < -ndim || axis >= ndim)
    throw IndexError(fmt::format("{}: dimension out of range (expected to be in range of [{}, {}], but got {}) for {}",
                                 call, -ndim, ndim - 1, axis, runtime::describe(x)));
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

std::int64_t extent_along(const TensorImpl& x, int axis) noexcept { return x.ndim() > 0 ? x.shape[axis] : 1; }

TensorRef rows_along(TensorImpl& x, int axis) {
  if (x.ndim() == 0) return contiguous(*runtime::view(x, Shape(1), Shape(1)));
  const int last = x.ndim() - 1;
  if (axis == last) return contiguous(x);
  return contiguous(*runtime::view(x, moved(x.shape, axis, last), moved(x.strides, axis, last)));
}

TensorRef axis_back(TensorImpl& rows, int axis, int ndim) {
  if (ndim == 0) return runtime::view(rows, Shape(), Shape());
  const int last = ndim - 1;
  if (axis == last) return TensorRef::share(&rows);
  return contiguous(*runtime::view(rows, moved(rows.shape, last, axis), moved(rows.strides, last, axis)));
}

TensorRef axis_reduced(TensorImpl& rows, int axis, int ndim, bool keepdim) {
  Shape shape;
  for (int d = 0; d < ndim; ++d)
    if (d != axis)
      shape.push_back(rows.shape[d < axis ? d : d - 1]);
    else if (keepdim)
      shape.push_back(1);
  return runtime::view(rows, shape, contiguous_strides(shape));
}

}  // namespace sinter::inline v1::jit

// An array as rows along one of its axes, for sorts and scans.
#pragma once
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::jit {

/// The axis counted from the first; a 0-d array counts as one axis with one element. Throws IndexError naming the call.
int checked_axis(const char* call, const runtime::TensorImpl& x, std::int64_t axis);

/// Elements along an axis; 1 for a 0-d array.
std::int64_t extent_along(const runtime::TensorImpl& x, int axis) noexcept;

/// x with an axis moved to the end, contiguous, with at least one dim; x itself if possible.
runtime::TensorRef rows_along(runtime::TensorImpl& x, int axis);

/// The inverse: the last dim of `rows` becomes the axis of an array with `ndim` dims; contiguous.
runtime::TensorRef axis_back(runtime::TensorImpl& rows, int axis, int ndim);

/// One element of each row, (..., 1), without the axis, or with an extent of 1 in its place.
runtime::TensorRef axis_reduced(runtime::TensorImpl& rows, int axis, int ndim, bool keepdim);

}  // namespace sinter::inline v1::jit

// An array as rows along one of its axes, which sorts and scans work on.
#pragma once
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::jit {

/// The axis counted from the front; a 0-d array has the axis of its one element. Throws IndexError naming the call.
int checked_axis(const char* call, const runtime::TensorImpl& x, std::int64_t axis);

/// Elements along an axis; of a 0-d array 1.
std::int64_t extent_along(const runtime::TensorImpl& x, int axis) noexcept;

/// x with an axis moved to the end, contiguous and of one dim at least; x itself where it is that.
runtime::TensorRef rows_along(runtime::TensorImpl& x, int axis);

/// The other way round: the last dim of `rows` becomes the axis of an array of this rank; contiguous.
runtime::TensorRef axis_back(runtime::TensorImpl& rows, int axis, int rank);

/// One element of each row, (..., 1), without the axis, or with an extent of 1 in its place.
runtime::TensorRef axis_reduced(runtime::TensorImpl& rows, int axis, int rank, bool keepdim);

}  // namespace sinter::inline v1::jit

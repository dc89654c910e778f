// Sort, topk, kthvalue and median along an axis, for every real dtype.
//
// NaN compares above every number, whatever its sign; -0 and 0 are equal. The sort is stable, in descending order
// too, so results do not depend on the device.
//
// All throw DTypeError for complex numbers, IndexError for an axis out of range, OutOfMemory, CompileError, CudaError.
#pragma once
#include <cstdint>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::jit {

/// Elements, and their positions along the axis (int64).
struct ValuesAndIndices {
  runtime::TensorRef values, indices;
};

ValuesAndIndices sort(runtime::TensorImpl& x, std::int64_t axis, bool descending);
/// The indices that sort() returns.
runtime::TensorRef argsort(runtime::TensorImpl& x, std::int64_t axis, bool descending);

/// The first k elements of sort(): the largest in descending order, or the smallest in ascending order. Throws Error
/// for a k that is negative or larger than the axis.
ValuesAndIndices topk(runtime::TensorImpl& x, std::int64_t k, std::int64_t axis, bool largest);

/// The element at position k - 1 in ascending order. Throws Error for a k outside [1, extent].
ValuesAndIndices kthvalue(runtime::TensorImpl& x, std::int64_t k, std::int64_t axis, bool keepdim);

/// How a median treats NaN: returns the first NaN, or the median of the others (NaN if there are none).
enum class NanPolicy : std::uint8_t { Propagates, Ignored };

/// The lower of two middle elements. Throws Error along an axis without elements.
ValuesAndIndices median(runtime::TensorImpl& x, std::int64_t axis, bool keepdim, NanPolicy nan);
/// The median of all elements, 0-d; NaN if there are none. Throws Error if there are none and the dtype has no NaN.
runtime::TensorRef median(runtime::TensorImpl& x, NanPolicy nan);

}  // namespace sinter::inline v1::jit

// Order along an axis: sorting, the first k, the k-th, the median. Of every dtype that is not complex.
//
// NaN is above every number, whatever its sign; -0 and 0 are equal. Equal elements stay in the order of their positions
// everywhere, also where the order descends, so that results do not depend on the device.
//
// All throw DtypeError for complex numbers, IndexError for an axis that is not there, OutOfMemory, CompileError,
// CudaError.
#pragma once
#include <cstdint>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::jit {

/// Elements, and their positions along the axis (int64).
struct ValuesAndIndices {
  runtime::TensorRef values, indices;
};

ValuesAndIndices sort(runtime::TensorImpl& x, std::int64_t axis, bool descending);
/// The indices of sort.
runtime::TensorRef argsort(runtime::TensorImpl& x, std::int64_t axis, bool descending);

/// The first k of sort: of the largest in descending order, of the smallest in ascending order. Throws Error for a k
/// that is negative or more than the axis has.
ValuesAndIndices topk(runtime::TensorImpl& x, std::int64_t k, std::int64_t axis, bool largest);

/// The element at position k - 1 of ascending order. Throws Error for a k that is not in [1, extent].
ValuesAndIndices kthvalue(runtime::TensorImpl& x, std::int64_t k, std::int64_t axis, bool keepdim);

/// What a median does with NaN: is the first of them, or is the median of the others (NaN where there are no others).
enum class Nan : std::uint8_t { Wins, Ignored };

/// The lower of the two in the middle. Throws Error along an axis without elements.
ValuesAndIndices median(runtime::TensorImpl& x, std::int64_t axis, bool keepdim, Nan nan);
/// Of all elements, 0-d; of none NaN. Throws Error of none where the dtype has no NaN.
runtime::TensorRef median(runtime::TensorImpl& x, Nan nan);

}  // namespace sinter::inline v1::jit

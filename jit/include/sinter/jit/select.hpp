// Selection by masks: results whose size depends on the data. On a GPU these wait for it.
#pragma once
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::jit {

/// The coordinates of a bool array's true elements: int64 (count, ndim), one row per element, in row-major order.
/// Throws DTypeError for another dtype, OutOfMemory, CompileError, CudaError.
runtime::TensorRef nonzero(runtime::TensorImpl& mask);

/// The elements of x where the mask is true, in row-major order of the shape that both broadcast to: (count,).
/// Throws DeviceError, ShapeError, DTypeError if the mask is not bool, OutOfMemory, CompileError, CudaError.
runtime::TensorRef masked_select(runtime::TensorImpl& x, runtime::TensorImpl& mask);

/// x[mask]: the parts of x for which a mask over its first axes is true, (count, the other extents).
/// Throws IndexError if their shapes differ, and what masked_select throws.
runtime::TensorRef masked_parts(runtime::TensorImpl& x, runtime::TensorImpl& mask);

}  // namespace sinter::inline v1::jit

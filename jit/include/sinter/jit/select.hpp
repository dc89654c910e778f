// What a mask selects: results whose size the data decides. On a GPU these wait for it.
#pragma once
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::jit {

/// Where a bool array is true: int64 (count, rank), a row for each true element, in row-major order.
/// Throws DtypeError for another dtype, OutOfMemory, CompileError, CudaError.
runtime::TensorRef nonzero(runtime::TensorImpl& mask);

/// The elements of x where the mask is true, in row-major order of the shape that both broadcast to: (count,).
/// Throws DeviceError, ShapeError, DtypeError where the mask is not of bools, OutOfMemory, CompileError, CudaError.
runtime::TensorRef masked_select(runtime::TensorImpl& x, runtime::TensorImpl& mask);

/// x[mask]: the parts of x for which a mask of its first axes is true, (count, the other extents).
/// Throws IndexError where their shapes differ, and as masked_select.
runtime::TensorRef masked_parts(runtime::TensorImpl& x, runtime::TensorImpl& mask);

}  // namespace sinter::inline v1::jit

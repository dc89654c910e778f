// Matrix products in memory: requested by jit/ from a device, and by the device from its BLAS.
#pragma once
#include <cstddef>
#include <cstdint>

#include <sinter/runtime/dtype.hpp>

namespace sinter::inline v1::runtime {

/// A row-major matrix whose rows are `leading` elements apart or, if transposed, whose columns are.
struct Matrix {
  std::byte* data = nullptr;
  std::int64_t leading = 1;
  bool transposed = false;
  std::int64_t step = 0;  // elements between consecutive matrices of a batch; 0 if all are the same
};

/// c = alpha a b for each matrix of the batch, or c = alpha a b + beta addend if there is an addend. a has `rows` x
/// `inner` elements, b `inner` x `columns`, c and the addend `rows` x `columns`. No extent is 0. c may be the addend
/// itself and shares no memory with a and b; c and the addend are not transposed. The dtype is floating or complex;
/// 16-bit floats accumulate in float32.
struct MatrixProduct {
  DType dtype = DType::Float32;
  std::int64_t rows = 1, columns = 1, inner = 1, batch = 1;
  Matrix a, b, c;
  Matrix addend = {};  // absent if its data is null
  double alpha = 1, beta = 1;
  bool tensor_float32 = false;  // float32 may be rounded to TF32 (10 bits of mantissa) for tensor cores
};

}  // namespace sinter::inline v1::runtime

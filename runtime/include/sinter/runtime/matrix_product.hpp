// Products of matrices in memory: what jit/ asks of a device, and the device of its BLAS.
#pragma once
#include <cstddef>
#include <cstdint>

#include <sinter/runtime/dtype.hpp>

namespace sinter::inline v1::runtime {

/// A matrix in row-major order whose rows are `leading` elements apart or, transposed, one whose columns are.
struct Matrix {
  std::byte* data = nullptr;
  std::int64_t leading = 1;
  bool transposed = false;
  std::int64_t step = 0;  // elements from a matrix of a batch to the next; 0 where all are the same
};

/// c = alpha a b for each of `batch`, or c = alpha a b + beta addend where there is an addend. a has `rows` x `inner`
/// elements, b `inner` x `columns`, c and the addend `rows` x `columns`. No extent is 0. c may be the addend
/// itself and shares no memory with the others; neither it nor the addend is transposed. The dtype is a float's or a
/// complex number's; those of 16 bits add up in float32.
struct MatrixProduct {
  DType dtype = DType::Float32;
  std::int64_t rows = 1, columns = 1, inner = 1, batch = 1;
  Matrix a, b, c;
  Matrix addend = {};  // without data there is none
  double alpha = 1, beta = 1;
  bool tensor_float32 = false;  // float32 may be rounded to 10 bits of mantissa where tensor cores multiply
};

}  // namespace sinter::inline v1::runtime

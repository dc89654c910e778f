// Products of matrices in host memory, by OpenBLAS: those of the CPU and of virtual GPUs.
#pragma once
#include <sinter/runtime/matrix_product.hpp>

namespace sinter::inline v1::runtime {

/// Throws DeviceError if there is no OpenBLAS, ShapeError for extents of 2^31 or more, which it does not support.
void multiply_on_host(const MatrixProduct& product);

}  // namespace sinter::inline v1::runtime

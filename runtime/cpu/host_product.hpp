// Products of matrices that lie in the host's memory, by OpenBLAS: those of the CPU and of virtual GPUs.
#pragma once
#include <sinter/runtime/matrix_product.hpp>

namespace sinter::inline v1::runtime {

/// Throws DeviceError where there is no OpenBLAS, ShapeError for extents from 2^31 on, which it does not count.
void multiply_on_host(const MatrixProduct& product);

}  // namespace sinter::inline v1::runtime

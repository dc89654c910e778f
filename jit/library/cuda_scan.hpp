// Scans along an axis, on a GPU.
#pragma once
#include <sinter/runtime/tensor_impl.hpp>
#include "cpu_scan.hpp"

namespace sinter::inline v1::jit::cuda {

/// `lines` are those of x, which is contiguous and not empty. For int64, floats and complex numbers.
void scan(const runtime::TensorImpl& x, const cpu::Lines& lines, Scan what, const runtime::TensorImpl& to);

/// For every dtype that is not complex.
void scan(const runtime::TensorImpl& x, const cpu::Lines& lines, Extreme what, const ValuesAndIndices& to);

}  // namespace sinter::inline v1::jit::cuda

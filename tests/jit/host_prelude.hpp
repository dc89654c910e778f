// The functions of jit/cuda/prelude/ that the loop IR calls, compiled for the host.
#pragma once
#pragma GCC system_header  // it is CUDA text, with pragmas that host compilers do not know
#include <cmath>

namespace sinter::testing::prelude {

using std::exp;
#define SINTER_DEVICE static inline
#define SINTER_VIRTUAL_GPU
#include <jit/cuda/prelude/rows.cuh>
// Calls those above.
#include <jit/cuda/prelude/online.cuh>
#undef SINTER_DEVICE
#undef SINTER_VIRTUAL_GPU

}  // namespace sinter::testing::prelude

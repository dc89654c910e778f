// GPUs that run CUDA text on the CPU.
#pragma once
#include <memory>

#include <sinter/runtime/backend.hpp>

namespace sinter::inline v1::runtime {

/// Virtual GPU `index` of those that SINTER_VIRTUAL_GPUS asks for.
std::unique_ptr<GpuBackend> make_virtual_gpu(int index);

}  // namespace sinter::inline v1::runtime

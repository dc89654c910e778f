// A GPU whose work is traced. Where nothing is traced there is none, and a launch costs what it did.
#pragma once
#include <memory>

#include <sinter/runtime/backend.hpp>

namespace sinter::inline v1::runtime {

std::unique_ptr<GpuBackend> make_traced_gpu(std::unique_ptr<GpuBackend> gpu);

}  // namespace sinter::inline v1::runtime

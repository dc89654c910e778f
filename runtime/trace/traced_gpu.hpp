// A GPU whose work is traced. Used only if tracing is on, so that launches cost nothing more if it is off.
#pragma once
#include <memory>

#include <sinter/runtime/backend.hpp>

namespace sinter::inline v1::runtime {

std::unique_ptr<GpuBackend> make_traced_gpu(std::unique_ptr<GpuBackend> gpu);

}  // namespace sinter::inline v1::runtime

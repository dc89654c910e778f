// Real GPUs, through the CUDA driver.
#pragma once
#include <memory>
#include <string>

#include <sinter/runtime/backend.hpp>

namespace sinter::inline v1::runtime {

/// The number of GPUs that the driver reports; 0 without a driver. The first call initializes the driver.
int cuda_gpu_count() noexcept;
/// Why there is no GPU: the places searched, or the driver's error. Empty if there is one.
std::string cuda_unavailable_reason();
/// Throws CudaError, and DeviceError for a GPU that is too old. `index` must be below cuda_gpu_count().
std::unique_ptr<GpuBackend> make_cuda_gpu(int index);

}  // namespace sinter::inline v1::runtime

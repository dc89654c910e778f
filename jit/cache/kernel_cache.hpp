// Compiled kernels: of this process, else from disk, else compiled now.
#pragma once
#include <string>

#include <sinter/jit/stats.hpp>
#include <sinter/runtime/backend.hpp>

namespace sinter::inline v1::jit {

struct CompiledKernel {
  const std::string& binary;  // lives until the process ends
  KernelOrigin origin;
};

/// The binary of a kernel for a device; equal binary tags share it. Found or compiled by whoever asks first, while
/// others who ask for the same one wait and different kernels compile at the same time. Those who waited throw what the
/// compilation threw; who asks later tries again. Throws CompileError, and what the device's compile throws.
CompiledKernel compiled(const runtime::KernelSource& source, runtime::GpuBackend& device);

struct LoadedKernel {
  runtime::Function function;
  KernelOrigin origin;
};

/// Loads what compiled() gives. A binary from disk that the device refuses is deleted there and compiled once, for all
/// devices and threads; only where that is refused too, this throws BinaryRefused.
LoadedKernel load_kernel(const runtime::KernelSource& source, runtime::GpuBackend& device);

/// For tests: how many threads wait for another one's compilation.
int threads_waiting() noexcept;

}  // namespace sinter::inline v1::jit

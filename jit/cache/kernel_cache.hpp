// Compiled kernels: of this process, else from disk, else compiled now. Those of this process are bounded: what was
// used longest ago goes, and is compiled or found on disk when it is needed again.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <sinter/jit/stats.hpp>
#include <sinter/runtime/backend.hpp>
#include "kernel_place.hpp"

namespace sinter::inline v1::jit {

struct CompiledKernel {
  std::string binary;
  KernelOrigin origin;
};

/// The binary of a kernel for a device; equal binary tags share it. Found or compiled by whoever asks first, while
/// others who ask for the same one wait and different kernels compile at the same time. Those who waited throw what the
/// compilation threw; who asks later tries again. Throws CompileError, and what the device's compile throws.
CompiledKernel compiled(const runtime::KernelSource& source, runtime::GpuBackend& device);

struct LoadedKernel {
  runtime::Function function;  // keeps it loaded, while the cache may evict it
  std::shared_ptr<const ReadyKernel> ready;
  KernelOrigin origin;
};

/// Loads what compiled() gives, once for each device. A binary from disk that the device refuses is deleted there and
/// compiled once, for all devices and threads; only where that is refused too, this throws BinaryRefused.
LoadedKernel load_kernel(const runtime::KernelSource& source, runtime::GpuBackend& device);

/// Kernels of this process: loaded ones, counted for each device, the bytes of texts and binaries, here and on devices,
/// and how many were evicted until now.
struct KernelFigures {
  std::uint64_t loaded, bytes, evicted;
};
KernelFigures kernel_figures() noexcept;

/// Evicts all that nobody is just compiling or loading.
void evict_kernels();

/// For tests: the bytes that kernels may take, in place of what SINTER_KERNELS_MAX_BYTES says.
void set_most_kernel_bytes(std::uint64_t bytes) noexcept;

/// For tests: how many threads wait for another one's compilation.
int threads_waiting() noexcept;

}  // namespace sinter::inline v1::jit

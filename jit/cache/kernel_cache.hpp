// Compiled kernels: from this process, else from disk, else compiled now. Those of this process are bounded: the least
// recently used are evicted, and compiled or found on disk when they are needed again.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <sinter/jit/stats.hpp>
#include <sinter/runtime/backend.hpp>
#include "kernel_pointer.hpp"

namespace sinter::inline v1::jit {

struct CompiledKernel {
  std::string binary;
  KernelOrigin origin;
};

/// The binary of a kernel for a device; devices with equal binary tags share it. The first thread to request it finds
/// or compiles it, while others that request it wait; different kernels compile at the same time. If the compilation
/// throws, so do the threads that waited; later requests try again. Throws CompileError, and what the device's compile
/// throws.
CompiledKernel compiled(const runtime::KernelSource& source, runtime::KernelTarget& target);

struct LoadedKernel {
  runtime::KernelHandle function;  // keeps it loaded even if the cache evicts it
  std::shared_ptr<const ReadyKernel> ready;
  KernelOrigin origin;
};

/// Loads the result of compiled(), once for each device. A binary from disk that the device refuses is deleted there
/// and compiled again once, for all devices and threads; throws BinaryRefused only if that is refused too.
LoadedKernel load_kernel(const runtime::KernelSource& source, runtime::KernelTarget& target);

/// Kernels of this process: loaded ones, counted per device; the bytes of texts and binaries, on the host and on
/// devices; and how many were evicted so far.
struct KernelFigures {
  std::uint64_t loaded, bytes, evicted;
};
KernelFigures kernel_figures() noexcept;

/// Evicts all that are not being compiled or loaded.
void evict_kernels();

/// For tests: the bytes that kernels may take, overriding SINTER_KERNELS_MAX_BYTES.
void set_most_kernel_bytes(std::uint64_t bytes) noexcept;

/// For tests: how many threads wait for another thread's compilation.
int threads_waiting() noexcept;

}  // namespace sinter::inline v1::jit

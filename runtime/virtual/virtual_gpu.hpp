// Virtual GPUs: devices that run unchanged CUDA source on the CPU and report errors that a GPU would silently ignore.
// They show that kernels are correct; their speed means nothing.
#pragma once
#include <memory>

#include <sinter/runtime/backend.hpp>

namespace sinter::inline v1::runtime {

/// Virtual GPU `index`, with its own 64 GiB of addresses. Thread-safe.
///
/// Everything is done when a call returns: a launch throws its kernel's errors itself, as CudaError with kernel, block,
/// thread and line, and the device stays usable. These errors are caught:
///   - accesses outside an allocation (see arena.hpp for the exact bytes), after its release, through pointers of the
///     host or of another device (before the launch), past an array of known size or past shared memory;
///   - misaligned accesses: with g++ all of them, by the accessed type; with clang++ all but copies of whole vectors,
///     which fault only if the processor requires alignment;
///   - barriers that not all threads reach, or at different lines; warp operations whose mask lacks the caller or
///     differs among lanes, or that read lanes outside the mask or lanes that have returned; deadlocks;
///   - blocks that do not end; __trap and assert; integer division by zero; stack overflow; launches that a GPU
///     rejects.
/// The stack overflows after 60 KiB of a thread's variables; a GPU gives a thread more local memory, up to 512 KiB.
/// The program's own accesses to device memory kill it, like accesses to address 0.
/// Unwritten memory, shared memory included, holds a NaN pattern. Only the strict tier catches data races, missing
/// ordering between streams, reads of unwritten memory as such, and accesses that hit another allocation of the device.
///
/// Environment: SINTER_HOST_CXX (the compiler; else c++, g++, clang++), SINTER_VIRTUAL_TIMEOUT (seconds of processor
/// time per block; 10; 0 for no limit). From the first virtual GPU on, SIGSEGV, SIGBUS, SIGFPE and SIGILL go to
/// Sinter's handler, which passes signals that no kernel caused to the previous handler.
///
/// Throws OutOfMemory if the addresses cannot be reserved, Error for a SINTER_VIRTUAL_TIMEOUT that is not a number.
std::unique_ptr<GpuBackend> make_virtual_gpu(int index);

}  // namespace sinter::inline v1::runtime

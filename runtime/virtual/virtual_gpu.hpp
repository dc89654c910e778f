// Virtual GPUs: devices that run unchanged CUDA text on the CPU and report what a GPU would pass over in silence.
// They prove that kernels are right; their speed says nothing.
#pragma once
#include <memory>

#include <sinter/runtime/backend.hpp>

namespace sinter::inline v1::runtime {

/// Virtual GPU `index`, with 64 GiB of addresses of its own. Thread-safe.
///
/// Everything is done when a call returns: a launch raises the errors of its kernel itself, as CudaError with kernel,
/// block, thread and line, and the device stays usable afterwards. Caught are:
///  - accesses outside an allocation (arena.hpp says to which byte), after its release, through pointers of the host or
///    of another device (before the launch), past an array of known size or past shared memory;
///  - misaligned accesses: with g++ all of them, by the type that is accessed; with clang++ all but copies of whole
///    vectors, which fault in the processor where it cares;
///  - barriers that not all threads reach, or at different lines; warp operations whose mask lacks the caller, differs
///    among lanes, or that read lanes which are not in it or have returned; deadlocks;
///  - blocks that do not end; __trap and assert; integer division by zero; full stacks; launches that a GPU refuses.
/// A full stack is 60 KiB of a thread's variables; a GPU gives a thread more local memory, up to 512 KiB.
/// The program's own accesses to device memory end it, as those to address 0 do.
/// Memory that nobody wrote, shared memory too, holds a NaN pattern. Caught by the strict tier only: data races,
/// streams out of order, reads of unwritten memory as such, accesses that land in another allocation of the device.
///
/// Environment: SINTER_HOST_CXX (the compiler; else c++, g++, clang++), SINTER_VIRTUAL_TIMEOUT (seconds of processor
/// time for one block; 10; 0 for no limit). From the first one on SIGSEGV, SIGBUS, SIGFPE and SIGILL pass through a
/// handler of ours, which hands those that are no kernel's to the handler before it.
///
/// Throws OutOfMemory when the addresses cannot be reserved, Error for a SINTER_VIRTUAL_TIMEOUT that is no number.
std::unique_ptr<GpuBackend> make_virtual_gpu(int index);

}  // namespace sinter::inline v1::runtime

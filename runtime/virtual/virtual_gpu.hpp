// Virtual GPUs: devices that run unchanged CUDA text on the CPU and report what a GPU would pass over in silence.
// They prove that kernels are right; their speed says nothing.
#pragma once
#include <memory>

#include <sinter/runtime/backend.hpp>

namespace sinter::inline v1::runtime {

/// Virtual GPU `index`, with 64 GiB of addresses of its own. Thread-safe.
///
/// Everything is done when a call returns: a launch raises the errors of its kernel itself, and the device stays usable
/// afterwards. Environment: SINTER_HOST_CXX (the compiler; else c++, g++, clang++), SINTER_VIRTUAL_TIMEOUT (seconds of
/// processor time for one block; 10; 0 for no limit). From the first one on SIGSEGV, SIGBUS, SIGFPE and SIGILL pass
/// through a handler of ours, which hands those that are no kernel's to the handler before it.
///
/// Throws OutOfMemory when the addresses cannot be reserved, Error for a SINTER_VIRTUAL_TIMEOUT that is no number.
std::unique_ptr<GpuBackend> make_virtual_gpu(int index);

}  // namespace sinter::inline v1::runtime

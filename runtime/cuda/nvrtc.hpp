// NVRTC, the compiler of CUDA text, opened at run time. It needs no GPU.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include <sinter/runtime/backend.hpp>

namespace sinter::inline v1::runtime {

/// Compiles for an architecture: "sm_90" gives a cubin, "compute_90" PTX. With SINTER_CUDA_DEBUG=1 in the
/// environment the code has line numbers and the compiler's log, with registers and spills, goes to stderr.
/// Thread-safe. Throws CompileError; DeviceError when NVRTC cannot be found (with the places searched) or does not know
/// the architecture.
std::string nvrtc_compile(const KernelSource& source, std::string_view architecture);

/// What ptxas says of a kernel.
struct KernelReport {
  int registers = 0;     // per thread
  int stack = 0;         // bytes per thread
  int spill_stores = 0;  // bytes
  int spill_loads = 0;   // bytes
  int shared = 0;        // bytes of static shared memory per block
  std::string log;
  std::string binary;
  std::string ptx;
};
/// Compiles for an architecture such as "sm_90" to learn that. Throws as nvrtc_compile.
KernelReport nvrtc_report(const KernelSource& source, std::string_view architecture);

/// What to give nvrtc_compile for a device: its own architecture, or PTX of the newest one that NVRTC knows. `device`
/// is 10 * major + minor. Throws DeviceError when there is nothing that the device could run.
std::string nvrtc_target(int device);
/// The same from `known`, the architectures that an NVRTC knows; `ptx_loads` says whether the driver takes its PTX.
std::string nvrtc_target(int device, std::span<const int> known, bool ptx_loads);

/// What binaries for a device depend on, to tell them apart: the architecture, the driver's version, the identity of
/// the NVRTC (found without loading it), the flags.
std::string nvrtc_tag(int device);

}  // namespace sinter::inline v1::runtime

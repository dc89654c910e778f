// NVRTC, the CUDA compiler, loaded at run time. It needs no GPU.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include <sinter/runtime/backend.hpp>

namespace sinter::inline v1::runtime {

/// Compiles for an architecture: "sm_90" gives a cubin, "compute_90" PTX. With SINTER_CUDA_DEBUG=1 in the environment
/// the code has line numbers and the compiler's log, with registers and spills, goes to stderr. Thread-safe. Throws
/// CompileError; DeviceError if NVRTC cannot be found (with the places searched) or does not know the architecture.
std::string nvrtc_compile(const KernelSource& source, std::string_view architecture);

/// ptxas's report on a kernel.
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
/// Compiles for an architecture such as "sm_90" to get the report. Throws what nvrtc_compile throws.
KernelReport nvrtc_report(const KernelSource& source, std::string_view architecture);

/// nvrtc_compile's argument for a device: its own architecture, or PTX for the newest one that NVRTC supports. `device`
/// is 10 * major + minor. Throws DeviceError if the device can run neither.
std::string nvrtc_target(int device);
/// The target for an NVRTC that supports the architectures `known`; `ptx_loads`: whether the driver accepts its PTX.
std::string nvrtc_target(int device, std::span<const int> known, bool ptx_loads);

/// Identifies everything that a device's binaries depend on: the architecture, the driver's version, the NVRTC's
/// identity (found without loading it), the flags.
std::string nvrtc_tag(int device);

}  // namespace sinter::inline v1::runtime

// Compiled kernels of this process, by what they were compiled from.
#pragma once
#include <string>

#include <sinter/runtime/backend.hpp>

namespace sinter::inline v1::jit {

/// The binary of a kernel for a device; compiled by whoever asks first, while others who ask for the same one wait and
/// different kernels compile at the same time. Equal binary tags share it. Lives until the process ends.
/// SINTER_DUMP_DIR names a folder that receives the text of everything that is compiled. Throws CompileError.
const std::string& compiled(const runtime::KernelSource& source, runtime::GpuBackend& device);

}  // namespace sinter::inline v1::jit

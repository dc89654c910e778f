// Kernels of virtual GPUs: CUDA source that the host's compiler turns into shared objects.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include <sinter/runtime/backend.hpp>

namespace sinter::inline v1::runtime::vgpu {

/// Returns the bytes of a shared object. Thread-safe. Throws CompileError with the compiler's log, DeviceError if there
/// is no working compiler.
std::string compile_kernel(const KernelSource& source);

/// "host g++ (Debian 12.2.0-14) 12.2.0 9f3c...": the version, and a hash of the compiler's file, the flags, the shim
/// and the CPU's features.
std::string kernel_tag();

/// The compiler's input: the ABI, the shim, the unchanged source, the entry.
std::string translation_unit(const KernelSource& source);

inline constexpr std::size_t dynamic_symbol_bytes = 32;  // of the shim's replacement for `extern __shared__`

/// Bytes of __shared__ variables in a compiled kernel and of the area that holds them, from its program headers; -1 if
/// it is not a shared object.
long static_shared_bytes(std::string_view binary) noexcept;

/// The source line of an address in a compiled kernel; 0 if unknown. Runs addr2line, so it is for errors only.
int line_of(const std::string& binary, unsigned long address) noexcept;

}  // namespace sinter::inline v1::runtime::vgpu

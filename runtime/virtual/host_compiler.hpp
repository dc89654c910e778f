// The host's C++ compiler, which turns CUDA text into a shared object.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/runtime/backend.hpp>

namespace sinter::inline v1::runtime::vgpu {

/// Found once per process: $SINTER_HOST_CXX (a program, arguments may follow), else c++, g++, clang++ in PATH.
class HostCompiler {
 public:
  static const HostCompiler& instance();

  /// The bytes of a shared object. Thread-safe. Throws CompileError with the compiler's log, DeviceError where
  /// there is no compiler that works.
  std::string compile(const KernelSource& source) const;
  /// "host g++ (Debian 12.2.0-14) 12.2.0 9f3c...": version, and a hash of the compiler's file, the flags,
  /// the shim and the CPU's features.
  const std::string& tag() const noexcept { return tag_; }

 private:
  HostCompiler();
  void take(std::vector<std::string> command, const std::string& version);
  std::vector<std::string> command_;  // empty when there is no compiler
  std::string problem_;               // then: which there were, and what is wrong with them
  std::string tag_;
};

/// What the compiler gets: the ABI, the shim, the unchanged text, the entry.
std::string translation_unit(const KernelSource& source);

inline constexpr std::size_t dynamic_symbol_bytes = 16;  // of the shim's stand-in for `extern __shared__`

/// Bytes of __shared__ variables and of that in a compiled kernel, from its program headers; -1 when it is no shared
/// object.
long static_shared_bytes(std::string_view binary) noexcept;

/// The line of the kernel's text that an address of a compiled kernel belongs to; 0 when it cannot be told. Runs
/// addr2line, so it is for errors only.
int line_of(const std::string& binary, unsigned long address) noexcept;

}  // namespace sinter::inline v1::runtime::vgpu

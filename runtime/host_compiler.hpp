// The host's C++ compiler, which makes shared objects: kernels of virtual GPUs, and loops of the CPU.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sinter::inline v1::runtime {

/// One translation unit.
struct HostSource {
  std::string_view name;   // of what is compiled, for messages
  std::string_view text;   // for messages: the part of `unit` that a reader knows
  std::string unit;        // the compiler's input
  std::string_view needs;  // why a compiler is needed: "Virtual GPUs compile kernels with the host's C++ compiler"
  std::vector<std::string> flags;
  std::vector<std::string> gcc_flags = {};  // that only GCC knows
};

/// Found once per process: $SINTER_HOST_CXX (a program, possibly with arguments), else c++, g++, clang++ in PATH.
class HostCompiler {
 public:
  static const HostCompiler& instance();

  bool exists() const noexcept { return !command_.empty(); }
  /// Returns the bytes of a shared object. Thread-safe. Throws CompileError with the compiler's log, DeviceError if
  /// there is no working compiler.
  std::string compile(const HostSource& source) const;
  /// "g++ (Debian 12.2.0-14) 12.2.0": the first line that the compiler prints of its version.
  const std::string& version() const noexcept { return version_; }
  /// What distinguishes this compiler from others and from earlier builds of itself: command, file, version.
  const std::string& identity() const noexcept { return identity_; }

 private:
  HostCompiler();
  void take(std::vector<std::string> command, const std::string& version);
  std::string command() const;
  std::vector<std::string> command_;  // empty if there is no compiler
  std::string problem_;               // in that case: which were tried, and why they failed
  std::string version_, identity_;
};

}  // namespace sinter::inline v1::runtime

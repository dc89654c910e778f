// When the CPU's loops are compiled.
#pragma once
#include <cstdint>

namespace sinter::inline v1 {

/// The CPU interprets a kernel's operations over tiles that stay in cache, without a compiler. A kernel that computes
/// much is compiled by the host's C++ compiler, and its loops then run instead. Results are
/// the same bits.
enum class CpuJit : std::uint8_t {
  Off,     // never
  Hot,     // in the background, when a kernel has taken about 50 ms in all
  Always,  // at a kernel's first evaluation, which waits for it
};
/// "off", "hot", "always".
const char* to_string(CpuJit when) noexcept;
/// Initially the environment's SINTER_CPU_JIT (off, hot, always), else Hot; Off in programs with more rights than their
/// user.
CpuJit cpu_jit() noexcept;
/// For kernels that are not compiled yet. From any thread.
void set_cpu_jit(CpuJit when) noexcept;

}  // namespace sinter::inline v1

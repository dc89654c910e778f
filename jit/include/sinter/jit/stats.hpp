// Statistics of compilation and launches, and the origin of kernels.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <sinter/runtime/device.hpp>

namespace sinter::inline v1 {

/// Counters of this process, over all threads, and what it currently holds.
struct JitStats {
  std::uint64_t compiles;         // kernels compiled from source
  std::uint64_t disk_hits;        // kernels found on disk instead
  std::uint64_t memory_hits;      // kernels found in memory
  std::uint64_t plans;            // graphs scheduled
  std::uint64_t launches;         // kernel launches, on GPUs and on the CPU
  std::uint64_t waits;            // times that the host waited for a GPU: reads, synchronize(), ...
  double compile_milliseconds;    // in the compiler, summed over kernels, which may compile in parallel
  std::uint64_t kernels_held;     // kernels currently loaded on GPUs, counted per GPU
  std::uint64_t kernel_bytes;     // memory they take: sources, and binaries on the host and on GPUs
  std::uint64_t kernels_evicted;  // kernels evicted to make room, or by clear_cache()
};
JitStats jit_stats() noexcept;

/// Where a kernel came from when a device first needed it.
enum class KernelOrigin : std::uint8_t {
  Compiled,  // from source, by the thread that needed it
  Disk,      // compiled by another process or an earlier one
  Memory,    // compiled for another device or by another thread of this process
};
/// "compiled", "disk", "memory".
const char* to_string(KernelOrigin origin) noexcept;

struct KernelRecord {
  std::string name;    // as shown in a profiler: sinter_add_exp_mul_f32_6a0e
  Device device;       // a GPU, or the CPU for its compiled loops
  std::string target;  // architecture and compiler that it was compiled for
  KernelOrigin origin;
  double milliseconds;  // time until it was ready to launch
};

inline constexpr std::size_t max_kernel_history = 256;
/// The most recent kernels made ready in this process, oldest first; at most max_kernel_history.
std::vector<KernelRecord> kernel_history();

}  // namespace sinter::inline v1

// What was compiled and run, and where kernels came from.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <sinter/runtime/device.hpp>

namespace sinter::inline v1 {

/// Counters of this process, all threads, and what it holds now.
struct JitStats {
  std::uint64_t compiles;         // kernels compiled from text
  std::uint64_t disk_hits;        // kernels that were found on disk instead
  std::uint64_t memory_hits;      // kernels that were found ready
  std::uint64_t plans;            // graphs scheduled
  std::uint64_t launches;         // kernels started, on GPUs and on the CPU
  std::uint64_t waits;            // times that the host waited for a GPU: read from it, synchronized, ...
  double compile_milliseconds;    // in the compiler, summed over kernels: some compile at the same time
  std::uint64_t kernels_held;     // kernels loaded on GPUs now, counted for each
  std::uint64_t kernel_bytes;     // what these take: texts, and binaries here and on GPUs
  std::uint64_t kernels_evicted;  // kernels that made room for others, or left with clear_cache()
};
JitStats jit_stats() noexcept;

/// Where a GPU's kernel came from when it was first needed on its device.
enum class KernelOrigin : std::uint8_t {
  Compiled,  // from text, by the one who asked
  Disk,      // another process, or an earlier one, had compiled it
  Memory,    // another device or thread of this process had
};
/// "compiled", "disk", "memory".
const char* to_string(KernelOrigin origin) noexcept;

struct KernelRecord {
  std::string name;    // as in a profiler: sinter_add_exp_mul_f32_6a0e
  Device device;       // a GPU
  std::string target;  // what it was compiled for, and by what
  KernelOrigin origin;
  double milliseconds;  // until it was ready to launch
};

inline constexpr std::size_t max_kernel_history = 256;
/// The kernels that became ready last on this process's GPUs, oldest first; at most max_kernel_history.
std::vector<KernelRecord> kernel_history();

}  // namespace sinter::inline v1

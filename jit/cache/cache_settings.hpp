// The cache's settings, from the environment.
#pragma once
#include <cstdint>
#include <string>

namespace sinter::inline v1::jit {

enum class CacheMode : std::uint8_t {
  On,        // kept in the process and on disk
  ReadOnly,  // found on disk, but nothing is written, deleted or marked as used
  Memory,    // kept only in the process
  Off,       // every kernel of every expression and device is compiled separately
};

struct CacheSettings {
  CacheMode mode = CacheMode::On;
  std::string folder;                                // empty: none is used
  std::uint64_t max_bytes = std::uint64_t{1} << 30;  // of all entries together, after a sweep
};

/// Bytes that the process's kernels may take by default: 256 MiB.
inline constexpr std::uint64_t default_kernel_bytes = std::uint64_t{256} << 20;
/// The current value of SINTER_KERNELS_MAX_BYTES.
std::uint64_t max_kernel_bytes();

/// The current values of SINTER_CACHE, SINTER_CACHE_DIR, SINTER_CACHE_MAX_BYTES, XDG_CACHE_HOME and HOME. Invalid
/// values are reported to stderr and ignored.
CacheSettings cache_settings();

}  // namespace sinter::inline v1::jit

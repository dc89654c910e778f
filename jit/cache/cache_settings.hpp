// What the environment says about keeping kernels.
#pragma once
#include <cstdint>
#include <string>

namespace sinter::inline v1::jit {

enum class CacheMode : std::uint8_t {
  On,        // kept in the process and on disk
  ReadOnly,  // found on disk, but nothing is written, deleted or marked as used
  Memory,    // kept in the process alone
  Off,       // every kernel of every expression and device is compiled for itself
};

struct CacheSettings {
  CacheMode mode = CacheMode::On;
  std::string folder;                                // empty: there is none, so none is used
  std::uint64_t max_bytes = std::uint64_t{1} << 30;  // of all entries together, after a sweep
};

/// What the kernels of the process may take, 256 MiB.
inline constexpr std::uint64_t default_kernel_bytes = std::uint64_t{256} << 20;
/// The same from SINTER_KERNELS_MAX_BYTES, now.
std::uint64_t most_kernel_bytes();

/// From SINTER_CACHE, SINTER_CACHE_DIR, SINTER_CACHE_MAX_BYTES, XDG_CACHE_HOME and HOME, now. What cannot be read is
/// reported to stderr and taken as not set.
CacheSettings cache_settings();

}  // namespace sinter::inline v1::jit

// Bounds the size of the disk cache's folder.
#pragma once
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace sinter::inline v1::jit {

struct CacheFile {
  std::string name;
  std::uint64_t bytes;
  std::time_t unused;  // seconds
};
struct CacheFiles {
  std::vector<CacheFile> entries, temporaries;
};
/// The files of a folder that are named like the cache's own; none if it cannot be read.
CacheFiles list_cache_files(int folder);

inline constexpr std::int64_t sweep_interval_s = 3600;

/// Once an hour for all processes together: deletes temporary files that killed processes left, then the least recently
/// used entries until the rest fits in `max_bytes`. Touches only files that are named like the cache's own. Removes
/// anything else with the time stamp's name; returns false if that fails and nothing was swept.
[[nodiscard]] bool sweep_if_due(int folder, std::uint64_t max_bytes);

}  // namespace sinter::inline v1::jit

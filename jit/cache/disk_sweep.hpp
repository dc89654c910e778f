// Keeping the folder of the disk cache small.
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
/// The files of a folder that are named as the cache names its own; none where it cannot be read.
CacheFiles list_cache_files(int folder);

inline constexpr std::int64_t sweep_interval_s = 3600;

/// Once an hour for all processes together: deletes temporary files that a killed process left behind, then the entries
/// used longest ago until the rest fits into `max_bytes`. Touches only files that are named as the cache names its own.
/// What else has the name of the time stamp is removed. False where it cannot be, so that nothing was swept.
[[nodiscard]] bool sweep_if_due(int folder, std::uint64_t max_bytes);

}  // namespace sinter::inline v1::jit

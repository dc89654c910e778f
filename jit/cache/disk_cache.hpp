// Compiled kernels on disk, shared by processes: one file for each, in one folder.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "cache_settings.hpp"
#include "kernel_key.hpp"

namespace sinter::inline v1::jit {

/// Nothing here throws or fails: what cannot be read was not there, and what cannot be written is not kept. The first
/// such problem is reported to stderr. Thread-safe, also against other processes that write to the folder, clear it, or
/// are killed.
class DiskCache {
 public:
  /// Uses settings.folder, which is not empty; makes it when there is something to keep.
  explicit DiskCache(CacheSettings settings) : settings_(std::move(settings)) {}

  /// The binary that was stored for exactly this key. An entry that is damaged is deleted.
  std::optional<std::string> find(const KernelKey& key) noexcept;
  /// Writes a temporary file and renames it, so that no one sees half an entry, then sweeps if that is due, as find
  /// does.
  void store(const KernelKey& key, std::string_view binary) noexcept;

  /// For an entry that is intact and yet of no use. Leaves it where nothing may be written.
  void remove(const KernelKey& key) noexcept;

  const std::string& folder() const noexcept { return settings_.folder; }

 private:
  std::optional<std::string> read(int folder, const std::string& name, const KernelKey& key);
  int write(int folder, const std::string& name, std::string_view file);
  void sweep(int folder);
  void report(std::string_view problem);
  bool writes() const noexcept { return settings_.mode == CacheMode::On; }

  CacheSettings settings_;
  std::atomic<bool> reported_{false};
  std::mutex logging_;
  std::set<std::string, std::less<>> logged_;  // problems
};

/// That of the process, from the environment when first asked for; null where none is to be used.
DiskCache* disk_cache();
/// For tests: reads the environment again. No other thread may use the old one.
void reset_disk_cache();

/// How the process keeps kernels, read once.
CacheMode cache_mode();

}  // namespace sinter::inline v1::jit

// Compiled kernels on disk, shared by processes: a folder with one file per kernel.
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

/// Nothing here throws or fails: a file that cannot be read counts as missing, and one that cannot be written is not
/// stored. The first such problem is reported to stderr. Safe to use from several threads, and while other processes
/// write to the folder, clear it, or are killed.
class DiskCache {
 public:
  /// Uses settings.folder, which must not be empty; creates it when there is something to store.
  explicit DiskCache(CacheSettings settings) : settings_(std::move(settings)) {}

  /// The binary that was stored for exactly this key. A damaged entry is deleted.
  std::optional<std::string> find(const KernelKey& key) noexcept;
  /// Writes a temporary file and renames it, so that partial entries are never visible. Then sweeps if that is due, as
  /// find() does.
  void store(const KernelKey& key, std::string_view binary) noexcept;

  /// Deletes an entry that is intact but does not load, unless the cache is read-only.
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
  std::set<std::string, std::less<>> logged_;  // problems already logged
};

/// The process's cache, configured by the environment at the first call; null if none is used.
DiskCache* disk_cache();
/// For tests: reads the environment again. No other thread may use the old one.
void reset_disk_cache();

/// The process's cache mode, read once.
CacheMode cache_mode();

}  // namespace sinter::inline v1::jit

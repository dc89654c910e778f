#include "disk_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include <runtime/fork.hpp>
#include <runtime/log.hpp>
#include <runtime/write.hpp>
#include "cache_folder.hpp"
#include "disk_entry.hpp"
#include "disk_sweep.hpp"

namespace sinter::inline v1::jit {
namespace {

using runtime::Log;
using runtime::log;
using runtime::logs;

/// A file name unique among processes and threads, which may write entries at the same time.
std::string temporary_name(const std::string& name) {
  static std::atomic<unsigned> serial{0};
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return fmt::format("{}{:x}-{:x}-{:x}.tmp", name.substr(0, 32) + "-", ::getpid(), now.tv_nsec, ++serial);
}

void log_event(std::string_view event, const KernelKey& key, const std::string& name) {
  if (logs(Log::Cache)) log(Log::Cache, fmt::format("{}: {} ({})", event, key.name, name));
}

}  // namespace

void DiskCache::report(std::string_view problem) {
  if (!logs(Log::Cache)) {
    if (!reported_.exchange(true)) runtime::notice(problem);
    return;
  }
  const bool is_new = [&] {
    const runtime::ForkSafeLock lock(logging_);
    return logged_.emplace(problem).second;
  }();
  if (is_new) log(Log::Cache, problem);
}

void DiskCache::sweep(int folder) {
  if (sweep_if_due(folder, settings_.max_bytes)) return;
  report(
      fmt::format("old kernels cannot be deleted from {}: the time stamp of the last sweep is not a regular file. "
                  "Delete {}/swept",
                  settings_.folder, settings_.folder));
}

std::optional<std::string> DiskCache::find(const KernelKey& key) noexcept try {
  const OpenedFolder folder = open_cache_folder(settings_.folder, false);
  const std::string name = entry_name(key);
  if (!folder.problem.empty()) report(folder.problem);
  if (!folder.fd) {
    log_event(folder.problem.empty() ? "miss, there is no folder " + settings_.folder : "miss", key, name);
    return {};
  }
  std::optional<std::string> binary = read(folder.fd.get(), name, key);
  log_event(binary ? "hit" : "miss", key, name);
  if (binary && writes()) sweep(folder.fd.get());  // else a process that finds all of its kernels would never sweep
  return binary;
} catch (...) {
  return {};  // out of memory, so it could not be kept either
}

std::optional<std::string> DiskCache::read(int folder, const std::string& name, const KernelKey& key) {
  // Without O_NONBLOCK, a pipe of that name would make this wait.
  const runtime::FileDescriptor file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0) {
    if (errno != ENOENT)
      report(fmt::format("cannot read {}/{} ({}): the kernel is compiled again", settings_.folder, name,
                         errno == ELOOP ? "a symbolic link, which is not an entry" : std::strerror(errno)));
    return {};
  }
  const std::string why = S_ISREG(status.st_mode) ? distrust(status) : "it is not a regular file";
  if (!why.empty()) {
    report(fmt::format("{}/{} is not used as a compiled kernel: {}. Delete it", settings_.folder, name, why));
    return {};
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const std::optional<std::string> bytes = size > max_entry_bytes ? "" : read_all(file.get(), size);
  if (!bytes) {
    report(fmt::format("cannot read {}/{} ({}): the kernel is compiled again", settings_.folder, name,
                       std::strerror(errno)));
    return {};
  }
  std::optional<DiskEntry> entry = decode(*bytes);
  if (!entry) {
    log_event(writes() ? "damaged, deleted" : "damaged, not deleted", key, name);
    if (writes()) ::unlinkat(folder, name.c_str(), 0);
    return {};
  }
  if (entry->key != key) {
    log_event("another kernel with the same hash", key, name);
    return {};
  }
  if (writes()) ::futimens(file.get(), nullptr);  // marks it as used; a failure makes it look older, which costs little
  return std::move(entry->binary);
}

int DiskCache::write(int folder, const std::string& name, std::string_view file) {
  const std::string temporary = temporary_name(name);
  runtime::FileDescriptor out(
      ::openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!out) return errno;
  int error = runtime::write_all(out.get(), file);
  if (const int late = out.close(); error == 0) error = late;
  if (error == 0 && ::renameat(folder, temporary.c_str(), folder, name.c_str()) != 0) error = errno;
  if (error != 0) ::unlinkat(folder, temporary.c_str(), 0);
  return error;
}

void DiskCache::store(const KernelKey& key, std::string_view binary) noexcept try {
  if (!writes() || binary.empty()) return;
  const std::string name = entry_name(key), file = encode(key, binary);
  const bool fits = file.size() <= settings_.max_bytes;
  const OpenedFolder folder = open_cache_folder(settings_.folder, fits);
  if (!folder.problem.empty()) report(folder.problem);
  if (!fits) log_event("larger than the whole cache, not stored", key, name);
  if (!folder.fd) return;
  if (!fits) return sweep(folder.fd.get());  // the limit may have been lowered below what is stored
  const int error = write(folder.fd.get(), name, file);
  // Another process may have cleared the folder, file and all.
  if (error == ENOENT) return log_event("deleted while it was being written", key, name);
  if (error != 0)
    return report(
        fmt::format("cannot store a compiled kernel of {} bytes in {} ({}). Make room, name another folder in "
                    "SINTER_CACHE_DIR, or set SINTER_CACHE=memory",
                    file.size(), settings_.folder, runtime::write_problem(error)));
  log_event("stored", key, name);
  sweep(folder.fd.get());
} catch (...) {  // no memory for it
}

void DiskCache::remove(const KernelKey& key) noexcept try {
  const std::string name = entry_name(key);
  if (!writes()) return log_event("does not load, not deleted", key, name);
  const OpenedFolder folder = open_cache_folder(settings_.folder, false);
  if (folder.fd && ::unlinkat(folder.fd.get(), name.c_str(), 0) == 0) log_event("does not load, deleted", key, name);
} catch (...) {  // out of memory: the next stored binary replaces it
}

namespace {

struct ProcessCache {
  CacheMode mode;
  std::unique_ptr<DiskCache> disk;
};

std::unique_ptr<ProcessCache> from_environment() {
  CacheSettings settings = cache_settings();
  auto made = std::make_unique<ProcessCache>();
  made->mode = settings.mode;
  if (!settings.folder.empty()) made->disk = std::make_unique<DiskCache>(std::move(settings));
  return made;
}

/// Kernels may be compiled while the process exits.
std::unique_ptr<ProcessCache>& process_cache() {
  static constinit runtime::NoDestructor<std::unique_ptr<ProcessCache>> cache;
  return cache.get([] { return std::make_unique<std::unique_ptr<ProcessCache>>(from_environment()).release(); });
}

}  // namespace

DiskCache* disk_cache() { return process_cache()->disk.get(); }
CacheMode cache_mode() { return process_cache()->mode; }

void reset_disk_cache() { process_cache() = from_environment(); }

}  // namespace sinter::inline v1::jit

#include "disk_sweep.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <runtime/log.hpp>
#include "cache_folder.hpp"

namespace sinter::inline v1::jit {
namespace {

constexpr const char* stamp = "swept";  // its modification time is that of the last sweep

/// Whether a name begins with 32 hexadecimal digits, as entry_name makes them.
bool is_ours(std::string_view name) { return name.size() > 32 && name.find_first_not_of("0123456789abcdef") == 32; }

bool is_due(int folder) {
  struct stat s{};
  return ::fstatat(folder, stamp, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode) ||
         age(s.st_mtime, std::time(nullptr)) >= sweep_interval_s;
}

bool is_ordinary(int file) {
  struct stat s{};
  return ::fstat(file, &s) == 0 && S_ISREG(s.st_mode);
}

/// Called before the sweep, so that other processes skip theirs. False on failure: then every process would sweep.
bool set_stamp(int folder) {
  const auto open = [&] {  // without O_NONBLOCK, a pipe of that name would make this wait
    runtime::FileDescriptor file(
        ::openat(folder, stamp, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
    return file && is_ordinary(file.get()) ? std::move(file) : runtime::FileDescriptor();
  };
  runtime::FileDescriptor file = open();
  // The name belongs to the cache: anything else with it is removed, a folder only if it is empty.
  if (!file && (::unlinkat(folder, stamp, 0) == 0 || ::unlinkat(folder, stamp, AT_REMOVEDIR) == 0)) file = open();
  return file && ::futimens(file.get(), nullptr) == 0;
}

/// Whether something other than a file has the stamp's name, which only the user can remove.
bool is_blocked(int folder) {
  struct stat s{};
  return ::fstatat(folder, stamp, &s, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(s.st_mode);
}

}  // namespace

CacheFiles list_cache_files(int folder) {
  CacheFiles files;
  runtime::FileDescriptor own(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(own ? ::fdopendir(own.get()) : nullptr, ::closedir);
  if (!stream) return files;
  static_cast<void>(own.release());  // the stream owns it now
  const std::time_t now = std::time(nullptr);
  while (const dirent* item = ::readdir(stream.get())) {
    const std::string_view name = item->d_name;
    struct stat s{};
    if (!is_ours(name) || ::fstatat(folder, item->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0 || S_ISDIR(s.st_mode)) continue;
    CacheFile file{std::string(name), static_cast<std::uint64_t>(s.st_size), age(s.st_mtime, now)};
    if (name.ends_with(".kernel"))
      files.entries.push_back(std::move(file));
    else if (name.ends_with(".tmp"))
      files.temporaries.push_back(std::move(file));
  }
  return files;
}

bool sweep_if_due(int folder, std::uint64_t max_bytes) {
  if (!is_due(folder)) return true;
  if (!set_stamp(folder)) return !is_blocked(folder);
  CacheFiles files = list_cache_files(folder);
  std::size_t deleted = 0;
  for (const CacheFile& t : files.temporaries)
    if (t.unused >= sweep_interval_s) deleted += ::unlinkat(folder, t.name.c_str(), 0) == 0;
  std::uint64_t bytes = 0;
  for (const CacheFile& e : files.entries) bytes += e.bytes;
  std::ranges::sort(files.entries, std::ranges::greater(), &CacheFile::unused);
  for (const CacheFile& e : files.entries) {
    if (bytes <= max_bytes) break;
    deleted += ::unlinkat(folder, e.name.c_str(), 0) == 0;
    bytes -= e.bytes;
  }
  if (runtime::logs(runtime::Log::Cache))
    runtime::log(runtime::Log::Cache, fmt::format("swept: {} files deleted, {} bytes left", deleted, bytes));
  return true;
}

}  // namespace sinter::inline v1::jit

// sinter cache: the disk cache of compiled kernels.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <dsl/files/file.hpp>
#include <dsl/files/zip.hpp>
#include <dsl/text/text_range.hpp>
#include <jit/cache/cache_folder.hpp>
#include <jit/cache/disk_cache.hpp>
#include <jit/cache/disk_entry.hpp>
#include <jit/cache/disk_sweep.hpp>
#include <runtime/atomic_file_writer.hpp>
#include <runtime/text.hpp>
#include <sinter/runtime/error.hpp>
#include "commands.hpp"

namespace sinter::tool {
namespace {

using runtime::format_bytes;

constexpr std::string_view too_large = "it is larger than a kernel";

class Cache {
 public:
  /// Throws Error if there is no disk cache, if its folder is not trusted, or if a command that `changes` it is not
  /// allowed to.
  explicit Cache(bool changes) : settings_(jit::cache_settings()) {
    if (settings_.folder.empty())
      throw Error("no kernels are kept on disk: SINTER_CACHE is memory or off, or there is no home folder");
    if (changes && settings_.mode == jit::CacheMode::ReadOnly)
      throw Error(fmt::format("{} was not changed: SINTER_CACHE is readonly", settings_.folder));
    jit::OpenedFolder opened = jit::open_cache_folder(settings_.folder, false);
    if (!opened.problem.empty()) throw Error(opened.problem);
    fd_ = std::move(opened.fd);
    if (fd_) files_ = jit::list_cache_files(fd_.get());
    std::ranges::sort(files_.entries, {}, &jit::CacheFile::name);
  }

  const jit::CacheSettings& settings() const noexcept { return settings_; }
  const jit::CacheFiles& files() const noexcept { return files_; }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const jit::CacheFile& f : files_.entries) sum += f.bytes;
    return sum;
  }

  /// The bytes of an intact entry; otherwise nullopt, and `problem` says what is wrong.
  std::optional<std::string> read(const jit::CacheFile& f, std::string& problem) const try {
    const runtime::FileDescriptor file(
        ::openat(fd_.get(), f.name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    struct stat status{};
    if (!file || ::fstat(file.get(), &status) != 0) return problem = std::strerror(errno), std::nullopt;
    if (!S_ISREG(status.st_mode)) return problem = "it is not a regular file", std::nullopt;
    problem = jit::distrust(status);
    if (!problem.empty()) return {};
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size > jit::max_entry_bytes) return problem = too_large, std::nullopt;
    std::optional<std::string> bytes = jit::read_all(file.get(), size);
    if (!bytes) return problem = std::strerror(errno), std::nullopt;
    const std::optional<jit::DiskEntry> entry = jit::decode(*bytes);
    if (!entry) return problem = "it is damaged, or of another version of Sinter", std::nullopt;
    if (jit::entry_name(entry->key) != f.name) return problem = "it has another kernel's name", std::nullopt;
    return bytes;
  } catch (const std::bad_alloc&) {
    return problem = "there is not enough memory to read it", std::nullopt;
  }

  /// Returns whether the file is gone.
  bool remove(const std::string& name) const { return ::unlinkat(fd_.get(), name.c_str(), 0) == 0 || errno == ENOENT; }

 private:
  jit::CacheSettings settings_;
  runtime::FileDescriptor fd_;  // invalid if the folder does not exist yet
  jit::CacheFiles files_;
};

std::string kernels(std::size_t n) { return fmt::format("{} kernel{}", n, n == 1 ? "" : "s"); }

void leave_out(std::string_view name, std::string_view problem) {
  std::fputs(fmt::format("{} is skipped: {}\n", name, problem).c_str(), stderr);
}

int stats() {
  const Cache cache(false);
  fmt::print("{}\n{}, {}; at most {} after a sweep\n", cache.settings().folder, kernels(cache.files().entries.size()),
             format_bytes(cache.bytes()), format_bytes(cache.settings().max_bytes));
  return 0;
}

int clear() {
  const Cache cache(true);
  std::size_t left = 0;
  for (const auto* files : {&cache.files().entries, &cache.files().temporaries})
    for (const jit::CacheFile& f : *files) left += !cache.remove(f.name);
  if (left > 0) throw Error(fmt::format("{} files of {} could not be deleted", left, cache.settings().folder));
  fmt::print("deleted {}, {}\n", kernels(cache.files().entries.size()), format_bytes(cache.bytes()));
  return 0;
}

int verify(bool deletes) {
  const Cache cache(deletes);
  std::size_t bad = 0, left = 0;
  for (const jit::CacheFile& f : cache.files().entries) {
    std::string problem;
    if (cache.read(f, problem)) continue;
    const bool is_gone = deletes && cache.remove(f.name);
    ++bad;
    left += !is_gone;
    fmt::print("{}: {}{}\n", f.name, problem, is_gone ? ", deleted" : "");
  }
  const std::size_t all = cache.files().entries.size();
  fmt::print("{} of {} intact\n", all - bad, kernels(all));
  return left > 0 ? 1 : 0;
}

int pack(const std::string& path) {
  const Cache cache(false);
  runtime::AtomicFileWriter file(path);
  detail::zip::Writer archive(file);
  std::size_t packed = 0;
  for (const jit::CacheFile& f : cache.files().entries) {
    std::string problem;
    const std::optional<std::string> bytes = cache.read(f, problem);
    if (!bytes) {
      leave_out(f.name, problem);
      continue;
    }
    archive.begin(f.name, bytes->size());
    archive.write(std::as_bytes(std::span(*bytes)));
    archive.end();
    ++packed;
  }
  archive.finish();
  file.commit();
  fmt::print("packed {}\n", kernels(packed));
  return 0;
}

/// The kernel of an intact entry; otherwise nullopt, and `problem` says what is wrong.
std::optional<jit::DiskEntry> unpacked(detail::ByteSource& file, const detail::zip::Entry& e, std::string& problem) {
  if (e.size > jit::max_entry_bytes) return problem = too_large, std::nullopt;
  std::string bytes(static_cast<std::size_t>(e.size), '\0');
  try {
    detail::zip::EntrySource content(file, e);
    content.read(0, std::as_writable_bytes(std::span(bytes)));
    content.check();
  } catch (const FormatError& error) {
    return problem = error.what(), std::nullopt;
  }
  std::optional<jit::DiskEntry> entry = jit::decode(bytes);
  if (!entry) problem = "it is damaged, or of another version of Sinter";
  return entry;
}

int unpack(const std::string& path) {
  const Cache cache(true);
  detail::FileSource file(path);
  jit::DiskCache disk(cache.settings());
  std::size_t stored = 0, refused = 0, lost = 0;
  for (const detail::zip::Entry& e : detail::zip::read_directory(file)) {
    if (e.name.ends_with('/')) continue;  // a folder
    std::string problem;
    const std::optional<jit::DiskEntry> entry = unpacked(file, e, problem);
    if (!entry) {
      leave_out(runtime::quote(e.name), problem);
      ++refused;
      continue;
    }
    disk.store(entry->key, entry->binary);  // reports failures itself
    disk.find(entry->key) ? ++stored : ++lost;
  }
  fmt::print("unpacked {}\n", kernels(stored));
  return refused + lost > 0 ? 1 : 0;
}

}  // namespace

int look_after_cache(const Parsed& given) {
  constexpr std::array<std::string_view, 5> actions{"stats", "clear", "verify", "pack", "unpack"};
  const std::string& action = given.operands[0];
  if (std::ranges::find(actions, action) == actions.end())
    throw UsageError(
        fmt::format("cache has no action {}{}", runtime::quote(action), detail::did_you_mean(action, actions)));
  const bool takes_file = action.ends_with("pack");
  if (takes_file != (given.operands.size() == 2))
    throw UsageError(fmt::format("cache {} takes {}", action, takes_file ? "a FILE" : "no FILE"));
  if (given.has("--delete") && action != "verify") throw UsageError("--delete applies only to cache verify");
  if (action == "stats") return stats();
  if (action == "clear") return clear();
  if (action == "verify") return verify(given.has("--delete"));
  return action == "pack" ? pack(given.operands[1]) : unpack(given.operands[1]);
}

}  // namespace sinter::tool

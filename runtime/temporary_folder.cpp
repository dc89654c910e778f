#include "temporary_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <new>
#include <string_view>

#include <sinter/runtime/error.hpp>
#include "environment.hpp"

namespace sinter::inline v1::runtime {
namespace {

constexpr std::string_view prefix = "sinter-compile-";
constexpr std::string_view unknown = "XXXXXX";  // replaced by mkdtemp
constexpr std::time_t abandoned_s = 24 * 3600;
constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

using Folder = std::unique_ptr<DIR, int (*)(DIR*)>;

/// Takes over the descriptor.
Folder reader(int fd) {
  DIR* stream = fd < 0 ? nullptr : ::fdopendir(fd);
  if (!stream && fd >= 0) ::close(fd);
  return {stream, ::closedir};
}

bool is_abandoned(int folder) {
  struct stat s{};
  return ::fstat(folder, &s) == 0 && s.st_uid == ::geteuid() && std::time(nullptr) - s.st_mtime > abandoned_s &&
         ::flock(folder, LOCK_EX | LOCK_NB) == 0;  // its users hold a lock
}

void remove_if_abandoned(int base, const char* name) {
  const Folder folder = reader(::openat(base, name, folder_flags));
  if (!folder || !is_abandoned(::dirfd(folder.get()))) return;
  while (const dirent* file = ::readdir(folder.get())) ::unlinkat(::dirfd(folder.get()), file->d_name, 0);
  ::unlinkat(base, name, AT_REMOVEDIR);
}

}  // namespace

void remove_abandoned(const std::string& base) noexcept {
  const Folder all = reader(::open(base.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!all) return;
  while (const dirent* item = ::readdir(all.get())) {
    const std::string_view name = item->d_name;
    if (name.size() == prefix.size() + unknown.size() && name.starts_with(prefix))
      remove_if_abandoned(::dirfd(all.get()), item->d_name);
  }
}

TemporaryFolder::TemporaryFolder() {
  const char* named = trusted_getenv("TMPDIR");
  const std::string base = named && *named ? named : "/tmp";
  static constinit std::atomic<bool> looked{false};
  if (!looked.exchange(true)) remove_abandoned(base);
  path_ = fmt::format("{}/{}{}", base, prefix, unknown);
  if (!::mkdtemp(path_.data()))
    throw Error(
        fmt::format("Cannot make the folder {} for compiling a kernel ({}). Set TMPDIR to a folder that can be "
                    "written.",
                    path_, std::strerror(errno)));
  in_use_ = ::open(path_.c_str(), folder_flags);
  if (in_use_ >= 0) ::flock(in_use_, LOCK_SH | LOCK_NB);  // if it cannot be locked, its age protects it
}

TemporaryFolder::~TemporaryFolder() {
  // The usual files are removed without memory or another descriptor, which the process may not have.
  for (const char* name : {"kernel.cpp", "kernel.so"})
    if (in_use_ >= 0) ::unlinkat(in_use_, name, 0);
  if (::rmdir(path_.c_str()) != 0) try {
      std::error_code ignored;
      std::filesystem::remove_all(path_, ignored);
    } catch (const std::bad_alloc&) {  // a later process will remove it
    }
  if (in_use_ >= 0) ::close(in_use_);
}

}  // namespace sinter::inline v1::runtime

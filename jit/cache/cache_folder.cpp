#include "cache_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

namespace sinter::inline v1::jit {

std::string distrust(const struct stat& s) {
  if (s.st_uid != geteuid() && s.st_uid != 0) return fmt::format("it belongs to another user ({})", s.st_uid);
  if (s.st_mode & (S_IWGRP | S_IWOTH)) return fmt::format("others may write to it (mode {:04o})", s.st_mode & 07777);
  return "";
}

namespace {

/// Makes the folder and those above it; returns 0 or the error.
int make_folders(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
    ::mkdir(path.substr(0, slash).c_str(), 0700);  // only the last one's result matters
  return ::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST ? 0 : errno;
}

/// Only a folder's owner can change who may write to it.
std::string_view remedy(const struct stat& s) {
  return s.st_uid == geteuid()
             ? "Make it writable only by you (chmod go-w), or name another one in SINTER_CACHE_DIR"
             : "Name another one in SINTER_CACHE_DIR, or ask its owner to make it yours only (chown, chmod go-w)";
}

std::string cannot(std::string_view what, const std::string& path, int error) {
  return fmt::format(
      "compiled kernels are not kept on disk: cannot {} the folder {} ({}). Name another one in SINTER_CACHE_DIR, or "
      "set SINTER_CACHE=memory",
      what, path, std::strerror(error));
}

}  // namespace

OpenedFolder open_cache_folder(const std::string& path, bool create) {
  const auto open = [&] { return runtime::FileDescriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); };
  OpenedFolder opened{open(), ""};
  if (!opened.fd && errno == ENOENT) {
    if (!create) return opened;
    if (const int error = make_folders(path)) return {runtime::FileDescriptor(), cannot("make", path, error)};
    opened.fd = open();
  }
  if (!opened.fd) return {runtime::FileDescriptor(), cannot("open", path, errno)};
  struct stat status{};
  if (::fstat(opened.fd.get(), &status) != 0) return {runtime::FileDescriptor(), cannot("look at", path, errno)};
  if (const std::string why = distrust(status); !why.empty())
    return {runtime::FileDescriptor(),
            fmt::format("the folder {} is not used for compiled kernels: {}, and its files are code. {}", path, why,
                        remedy(status))};
  return opened;
}

std::optional<std::string> read_all(int fd, std::size_t bytes) {
  std::string text(bytes, '\0');
  std::size_t have = 0;
  while (have < bytes) {
    const ssize_t n = ::read(fd, text.data() + have, bytes - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return {};
    if (n == 0) break;  // shorter than its size said: it will not decode
    have += static_cast<std::size_t>(n);
  }
  text.resize(have);
  return text;
}

std::time_t age(std::time_t then, std::time_t now) noexcept {
  constexpr std::time_t skew = 3600;
  return then - now > skew ? std::numeric_limits<std::time_t>::max() : now - then;
}

}  // namespace sinter::inline v1::jit

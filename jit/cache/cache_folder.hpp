// The folder of the disk cache, opened only if no other user can change its contents: its files are code.
#pragma once
#include <sys/stat.h>
#include <cstddef>
#include <ctime>
#include <optional>
#include <string>

#include <runtime/file_descriptor.hpp>

namespace sinter::inline v1::jit {

/// Why a file or folder with this status is not trusted; empty if it is. It must belong to this user or to root, and
/// must not be writable by others.
std::string distrust(const struct stat& status);

struct OpenedFolder {
  runtime::FileDescriptor fd;  // invalid if there is no such folder, or a problem
  std::string problem;         // what is wrong and what to do; empty if nothing is, or if there is no folder
};
/// Opens a folder. `create`: makes it, and the folders above it, accessible only to this user. If it is a symbolic
/// link, its target is checked and opened.
OpenedFolder open_cache_folder(const std::string& path, bool create);

/// All bytes of a file, `bytes` at most; nothing, with errno, on failure.
std::optional<std::string> read_all(int fd, std::size_t bytes);

/// Seconds from then to now; a time more than an hour in the future, as after a clock change, counts as infinitely
/// long ago.
std::time_t age(std::time_t then, std::time_t now) noexcept;

}  // namespace sinter::inline v1::jit

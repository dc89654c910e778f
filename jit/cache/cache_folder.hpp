// The folder of the disk cache, opened only if nobody else may change what is in it: its files are code.
#pragma once
#include <sys/stat.h>
#include <cstddef>
#include <ctime>
#include <optional>
#include <string>

#include <runtime/descriptor.hpp>

namespace sinter::inline v1::jit {

/// Why a file or folder of this kind is not trusted, in words; empty when it is. It must belong to this user or to
/// root, and be writable by no one else.
std::string distrust(const struct stat& status);

struct OpenedFolder {
  runtime::Descriptor fd;  // invalid when there is no such folder, or a problem
  std::string problem;     // what is wrong and what to do; empty when nothing is, or when there is no folder
};
/// Opens a folder. `create`: makes it, and the folders above it, for this user alone. It may be a symbolic link; where
/// that leads is what is judged, and what is opened.
OpenedFolder open_cache_folder(const std::string& path, bool create);

/// All bytes of a file, `bytes` at most; nothing, with errno, on failure.
std::optional<std::string> read_all(int fd, std::size_t bytes);

/// Seconds from then to now; a time that is more than an hour ahead, as a clock that jumped leaves behind, is taken as
/// forever ago.
std::time_t age(std::time_t then, std::time_t now) noexcept;

}  // namespace sinter::inline v1::jit

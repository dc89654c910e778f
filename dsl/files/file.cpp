#include "file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <runtime/atomic_file_writer.hpp>
#include <runtime/text.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::detail {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(std::string_view what, const fs::path& path, int error) {
  throw FormatError(fmt::format("cannot {} '{}': {}", what, runtime::shortened(path.string(), 1000),
                                std::generic_category().message(error)));
}

}  // namespace

Mapping::~Mapping() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

// O_NONBLOCK: opening a pipe without a writer must not hang.
FileSource::FileSource(fs::path path)
    : path_(std::move(path)), file_(::open(runtime::checked_name(path_).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  struct stat status{};
  if (file_.get() < 0 || ::fstat(file_.get(), &status) != 0) fail("read", path_, errno);
  if (!S_ISREG(status.st_mode))
    throw FormatError(fmt::format("cannot read '{}': it is {}, not a file", path_.string(),
                                  S_ISDIR(status.st_mode) ? "a directory" : "a pipe or a device"));
  size_ = static_cast<std::uint64_t>(status.st_size);
}

void FileSource::read(std::uint64_t offset, std::span<std::byte> to) {
  while (!to.empty()) {
    const ssize_t n = ::pread(file_.get(), to.data(), to.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("read", path_, errno);
    if (n == 0)
      throw FormatError(fmt::format("'{}' became shorter while it was read, at byte {}", path_.string(), offset));
    offset += static_cast<std::uint64_t>(n);
    to = to.subspan(static_cast<std::size_t>(n));
  }
}

Mapping FileSource::map() const {
  if (size_ == 0) return Mapping(nullptr, 0);
  // MAP_NORESERVE: a file may be larger than memory; only pages written to take memory.
  void* const data = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file_.get(), 0);
  if (data == MAP_FAILED) fail("map", path_, errno);
  return Mapping(static_cast<std::byte*>(data), size_);
}

}  // namespace sinter::inline v1::detail

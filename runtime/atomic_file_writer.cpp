#include "atomic_file_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <tuple>

#include <sinter/runtime/error.hpp>
#include "text.hpp"
#include "write.hpp"

namespace sinter::inline v1::runtime {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_to_write(const fs::path& path, int error) {
  throw FormatError(fmt::format("cannot write '{}': {}", shortened(path.string(), 1000), write_problem(error)));
}

/// The file that `path` names after following links. Directories and devices are not replaced.
fs::path real_target(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    if (fs::is_symlink(fs::symlink_status(path, error))) fail_to_write(path, ENOENT);
    return path;
  }
  if (!fs::is_regular_file(status))
    throw FormatError(fmt::format("cannot write '{}': it is {}, not a file", shortened(path.string(), 1000),
                                  fs::is_directory(status) ? "a directory" : "a pipe or a device"));
  fs::path target = fs::canonical(path, error);
  if (error) fail_to_write(path, error.value());
  // A rename would replace a write-protected file.
  if (::access(target.c_str(), W_OK) != 0) fail_to_write(path, errno);
  return target;
}

}  // namespace

const fs::path& checked_name(const fs::path& path) {
  if (const std::size_t at = path.native().find('\0'); at != std::string::npos)
    throw FormatError(fmt::format("the name of a file, {} of {} bytes, contains a NUL byte at offset {}",
                                  quote(path.native()), path.native().size(), at));
  return path;
}

AtomicFileWriter::AtomicFileWriter(const fs::path& path)
    : asked_(checked_name(path)), target_(real_target(path)), file_(create()) {}

AtomicFileWriter::~AtomicFileWriter() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFileWriter::write(std::span<const std::byte> bytes) {
  if (const int error = write_all(file_.get(), bytes)) fail_to_write(asked_, error);
}

void AtomicFileWriter::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (const int error = write_all_at(file_.get(), bytes, static_cast<off_t>(offset))) fail_to_write(asked_, error);
}

void AtomicFileWriter::finish() {
  if (const int error = file_.close()) fail_to_write(asked_, error);
}

void AtomicFileWriter::commit() {
  finish();
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail_to_write(asked_, errno);
  temporary_.clear();
}

FileDescriptor AtomicFileWriter::create() {
  static std::atomic<unsigned> counter{0};
  const fs::path folder = target_.parent_path();
  while (true) {
    temporary_ = folder / fmt::format(".sinter-{}-{}.tmp", ::getpid(), counter++);
    const int fd = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
      // Users who could not read the old file must not be able to read the new one.
      struct stat old{};
      if (::stat(target_.c_str(), &old) == 0) std::ignore = ::fchmod(fd, old.st_mode & 07777);
      return FileDescriptor(fd);
    }
    if (errno != EEXIST) {
      const int error = errno;
      temporary_.clear();
      fail_to_write(asked_, error);
    }
  }
}

}  // namespace sinter::inline v1::runtime

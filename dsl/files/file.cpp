#include "file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>
#include <tuple>

#include <runtime/text.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::detail {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(std::string_view what, const fs::path& path, int error) {
  throw FormatError(fmt::format("cannot {} '{}': {}", what, runtime::shortened(path.string(), 1000),
                                std::generic_category().message(error)));
}

/// The system would end the name at a byte of 0, and open another file.
const fs::path& checked(const fs::path& path) {
  if (const std::size_t at = path.native().find('\0'); at != std::string::npos)
    throw FormatError(fmt::format("the name of a file, {} of {} bytes, has a byte of 0 at byte {}",
                                  runtime::quote(path.native()), path.native().size(), at));
  return path;
}

/// Where the file is that `path` names, links followed. A directory or a device is not replaced.
fs::path real_target(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    if (fs::is_symlink(fs::symlink_status(path, error))) fail("write", path, ENOENT);
    return path;
  }
  if (!fs::is_regular_file(status))
    throw FormatError(fmt::format("cannot write '{}': it is {}, not a file", path.string(),
                                  fs::is_directory(status) ? "a directory" : "a pipe or a device"));
  fs::path target = fs::canonical(path, error);
  if (error) fail("write", path, error.value());
  // A rename would replace a file that its owner protected from writing.
  if (::access(target.c_str(), W_OK) != 0) fail("write", path, errno);
  return target;
}

/// Calls write(bytes, done so far) until all is written.
template <class Write>
void write_all(std::span<const std::byte> bytes, const fs::path& path, Write write) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(bytes.subspan(done), done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write", path, errno);
    done += static_cast<std::size_t>(n);
  }
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}
int Descriptor::close() { return ::close(std::exchange(fd_, -1)) == 0 ? 0 : errno; }

Mapping::~Mapping() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

// O_NONBLOCK: opening a pipe that nobody writes to must not hang.
FileSource::FileSource(fs::path path)
    : path_(std::move(path)), file_(::open(checked(path_).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
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
  // MAP_NORESERVE: a file may be larger than memory, of which it takes what is written to.
  void* const data = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file_.get(), 0);
  if (data == MAP_FAILED) fail("map", path_, errno);
  return Mapping(static_cast<std::byte*>(data), size_);
}

Replacement::Replacement(const fs::path& path) : asked_(checked(path)), target_(real_target(path)), file_(create()) {}

Replacement::~Replacement() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void Replacement::write(std::span<const std::byte> bytes) {
  write_all(bytes, asked_, [&](std::span<const std::byte> rest, std::size_t) {
    return ::write(file_.get(), rest.data(), rest.size());
  });
}

void Replacement::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  write_all(bytes, asked_, [&](std::span<const std::byte> rest, std::size_t done) {
    return ::pwrite(file_.get(), rest.data(), rest.size(), static_cast<off_t>(offset + done));
  });
}

void Replacement::commit() {
  if (const int error = file_.close()) fail("write", asked_, error);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("write", asked_, errno);
  temporary_.clear();
}

Descriptor Replacement::create() {
  static std::atomic<unsigned> counter{0};
  const fs::path folder = target_.parent_path();
  while (true) {
    temporary_ = folder / fmt::format(".sinter-{}-{}.tmp", ::getpid(), counter++);
    const int fd = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
      // Who could not read the old file shall not read the new one.
      struct stat old{};
      if (::stat(target_.c_str(), &old) == 0) std::ignore = ::fchmod(fd, old.st_mode & 07777);
      return Descriptor(fd);
    }
    if (errno != EEXIST) {
      const int error = errno;
      temporary_.clear();
      fail("write", asked_, error);
    }
  }
}

}  // namespace sinter::inline v1::detail

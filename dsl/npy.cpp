#include <sinter/dsl/npy.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <sinter/jit/evaluate.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/transfer.hpp>
#include "npy_format.hpp"

namespace sinter::inline v1::detail {

namespace {

namespace fs = std::filesystem;
using runtime::TensorImpl;
using runtime::TensorRef;

[[noreturn]] void fail(std::string_view what, const fs::path& path, int error) {
  throw FormatError(fmt::format("cannot {} '{}': {}", what, path.string(), std::generic_category().message(error)));
}

/// An open file; closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  /// Closes and reports: what was written may fail as late as here. 0, or the error.
  int close() { return ::close(std::exchange(fd_, -1)) == 0 ? 0 : errno; }

 private:
  int fd_;
};

class FileSource final : public npy::Source {
 public:
  // O_NONBLOCK: opening a pipe that nobody writes to must not hang.
  explicit FileSource(fs::path path)
      : path_(std::move(path)), file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status{};
    if (file_.get() < 0 || ::fstat(file_.get(), &status) != 0) fail("read", path_, errno);
    if (!S_ISREG(status.st_mode))
      throw FormatError(fmt::format("cannot read '{}': it is {}, not a file", path_.string(),
                                    S_ISDIR(status.st_mode) ? "a directory" : "a pipe or a device"));
    size_ = static_cast<std::uint64_t>(status.st_size);
  }
  std::string name() const override { return "'" + path_.string() + "'"; }
  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::span<std::byte> to) override {
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

 private:
  fs::path path_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

/// A new file beside the one that it is to replace; removed unless it took that one's place.
class Replacement {
 public:
  explicit Replacement(const fs::path& path) : asked_(path), target_(real_target(path)), file_(create()) {}
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement() {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(file_.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail("write", asked_, errno);
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }
  void commit() {
    if (const int error = file_.close()) fail("write", asked_, error);
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("write", asked_, errno);
    temporary_.clear();
  }

 private:
  /// Where the file is that `path` names, links followed. A directory or a device is not replaced.
  static fs::path real_target(const fs::path& path) {
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

  Descriptor create() {
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

  fs::path asked_;
  fs::path target_;
  fs::path temporary_;
  Descriptor file_;
};

/// The same memory with its axes in reverse.
TensorRef reversed(const TensorImpl& t) {
  Shape shape, strides;
  for (int axis = t.rank(); axis-- > 0;) shape.push_back(t.shape[axis]), strides.push_back(t.strides[axis]);
  return runtime::view(t, shape, strides);
}

void write_elements(Replacement& file, const TensorImpl& t) {
  const std::size_t bytes = static_cast<std::size_t>(t.numel) * size_of(t.dtype);
  if (t.device.is_cpu()) return file.write({t.data, bytes});
  std::vector<std::byte> chunk(std::min(bytes, npy::chunk_bytes));
  for (std::size_t done = 0; done < bytes; done += chunk.size()) {
    const std::span<std::byte> part(chunk.data(), std::min(chunk.size(), bytes - done));
    runtime::download(part.data(), {t.buffer.get(), t.data + done}, part.size());
    file.write(part);
  }
}

}  // namespace

TensorRef load_npy(const FileName& name, Device device) {
  FileSource source(name.text);
  return npy::read(source, device);
}

TensorRef load_npy(const FileName& name, Device device, DType wanted) {
  TensorRef t = load_npy(name, device);
  if (t->dtype != wanted)
    throw DtypeError(fmt::format("'{}' holds {} {}, not {}: read it by load_npy<{}>(...), or by load_npy(...).to<{}>()",
                                 name.text, sinter::name(t->dtype), to_string(t->shape), sinter::name(wanted),
                                 info(t->dtype).cpp_name, info(wanted).cpp_name));
  return t;
}

void save_npy(const FileName& name, const TensorImpl& t) {
  npy::Header header;
  header.dtype = t.dtype;
  header.shape = t.shape;
  TensorRef stored = runtime::view(t, t.shape, t.strides);
  if (!t.contiguous) {
    const TensorRef turned = reversed(t);
    header.fortran_order = turned->contiguous;
    stored = header.fortran_order ? turned : jit::contiguous(*stored);
  }
  Replacement file(name.text);
  const std::string text = npy::header_text(header);
  file.write(std::as_bytes(std::span(text)));
  if (stored->numel > 0) write_elements(file, *stored);
  file.commit();
}

}  // namespace sinter::inline v1::detail

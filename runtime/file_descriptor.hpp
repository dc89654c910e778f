// File descriptors that are closed at the end of a scope.
#pragma once
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace sinter::inline v1::runtime {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) noexcept : fd_(fd) {}
  FileDescriptor(FileDescriptor&& o) noexcept : fd_(o.release()) {}
  FileDescriptor& operator=(FileDescriptor&& o) noexcept {
    std::swap(fd_, o.fd_);
    return *this;
  }
  ~FileDescriptor() { close(); }

  explicit operator bool() const noexcept { return fd_ >= 0; }
  int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }
  /// Returns 0 or the error: the system may report a failed write only now.
  int close() noexcept { return fd_ < 0 || ::close(release()) == 0 ? 0 : errno; }

 private:
  int fd_;
};

}  // namespace sinter::inline v1::runtime

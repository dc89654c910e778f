#include "write.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <optional>
#include <system_error>

namespace sinter::inline v1::runtime {
namespace {

/// During its lifetime, a SIGXFSZ from this thread's own calls stays pending; it is discarded after a call that the
/// limit ended. The kernel sends it to the writing thread, so blocking it there is enough.
class NoFileLimitSignal {
 public:
  NoFileLimitSignal() noexcept {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    waited_before_ = sigismember(&pending, SIGXFSZ) == 1;  // already pending: sent by somebody else
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  NoFileLimitSignal(const NoFileLimitSignal&) = delete;
  NoFileLimitSignal& operator=(const NoFileLimitSignal&) = delete;
  ~NoFileLimitSignal() {
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }

  /// The result of `call`, a write.
  template <class Call>
  ssize_t result_of(Call call) noexcept {
    const ssize_t n = call();
    if (n < 0 && errno == EFBIG && !waited_before_) take_away();
    return n;
  }

 private:
  void take_away() noexcept {
    constexpr timespec at_once{};
    while (::sigtimedwait(&signal_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    errno = EFBIG;
  }

  sigset_t signal_, before_;
  bool waited_before_;
};

/// Calls write(rest, done so far) until everything is written.
template <class Write>
int until_written(std::span<const std::byte> bytes, Write write) noexcept {
  NoFileLimitSignal none;
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = none.result_of([&] { return write(bytes.subspan(done), static_cast<off_t>(done)); });
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    done += static_cast<std::size_t>(n);
  }
  return 0;
}

/// In bytes; nullopt if there is no limit.
std::optional<rlim_t> file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return limit.rlim_cur;
}

}  // namespace

ssize_t write_some(int file, std::span<const std::byte> bytes) noexcept {
  NoFileLimitSignal none;
  return none.result_of([&] { return ::write(file, bytes.data(), bytes.size()); });
}

int write_all(int file, std::span<const std::byte> bytes) noexcept {
  return until_written(bytes,
                       [&](std::span<const std::byte> rest, off_t) { return ::write(file, rest.data(), rest.size()); });
}
int write_all(int file, std::string_view text) noexcept { return write_all(file, std::as_bytes(std::span(text))); }
int write_all_at(int file, std::span<const std::byte> bytes, off_t offset) noexcept {
  return until_written(bytes, [&](std::span<const std::byte> rest, off_t done) {
    return ::pwrite(file, rest.data(), rest.size(), offset + done);
  });
}

int write_file(const std::string& path, std::string_view content) noexcept {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  const int error = write_all(file, content);
  return ::close(file) != 0 && error == 0 ? errno : error;
}

std::string write_problem(int error) {
  const std::string reason = std::generic_category().message(error);
  const std::optional<rlim_t> limit = error == EFBIG ? file_limit() : std::nullopt;
  return limit ? fmt::format("{}: this process may write files of {} bytes at most (ulimit -f)", reason, *limit)
               : reason;
}

std::string under_file_limit() {
  const std::optional<rlim_t> limit = file_limit();
  return limit ? fmt::format(", under a limit of {} bytes for a file (ulimit -f)", *limit) : "";
}

}  // namespace sinter::inline v1::runtime

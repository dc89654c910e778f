#include "process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <utility>

#include "environment.hpp"
#include "file_descriptor.hpp"
#include "fork.hpp"
#include "write.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace sinter::inline v1::runtime {
namespace {

/// The child's standard streams; an input of -1 is none.
struct ChildStreams {
  int input, output;
  bool merges_errors;
  bool own_group;  // so that it can be terminated together with what it starts
};

int spawn(const std::vector<char*>& argv, const ChildStreams& streams, pid_t& child) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (streams.input < 0)
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  else
    posix_spawn_file_actions_adddup2(&actions, streams.input, 0);
  posix_spawn_file_actions_adddup2(&actions, streams.output, 1);
  if (streams.merges_errors)
    posix_spawn_file_actions_adddup2(&actions, streams.output, 2);
  else
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  // Compilers run other programs and wait for them, so they must not inherit this process's signal handling.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  const int group = streams.own_group ? POSIX_SPAWN_SETPGROUP : 0;
  posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group));
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  const int error = ::posix_spawnp(&child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

using Clock = std::chrono::steady_clock;

/// Whether there is input, or its end, before the deadline.
bool wait_to_read(int fd, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{fd, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready >= 0) return ready > 0;
    if (errno != EINTR) return true;  // reading will report the error
  }
}

/// Waits until there is input, or its end. Ends the child at the limit, and its group if it is cancelled.
bool wait_or_end(int fd, pid_t child, Clock::time_point deadline, const ProcessOptions& options) {
  constexpr std::chrono::milliseconds between_looks(20);
  for (;;) {
    if (options.cancelled && options.cancelled->load()) return ::kill(-child, SIGTERM), false;
    if (options.limit.count() > 0 && Clock::now() >= deadline) return ::kill(child, SIGKILL), false;
    const Clock::time_point until = !options.cancelled           ? deadline
                                    : options.limit.count() == 0 ? Clock::now() + between_looks
                                                                 : std::min(deadline, Clock::now() + between_looks);
    if (wait_to_read(fd, until)) return true;
  }
}

/// Reads a child's output.
std::string read_all(int fd, pid_t child, const ProcessOptions& options) {
  std::string text;
  char buffer[4096];
  const Clock::time_point deadline = Clock::now() + options.limit;
  const bool waits = options.limit.count() > 0 || options.cancelled;
  for (;;) {
    if (waits && !wait_or_end(fd, child, deadline, options)) return text;
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n > 0)
      text.append(buffer, static_cast<std::size_t>(n));
    else if (n == 0 || errno != EINTR)
      return text;
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return ProcessResult::unknown;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// A file in memory with this text, positioned at its start; -1 and errno if it cannot be created.
FileDescriptor in_memory(std::string_view text) {
  FileDescriptor file(::memfd_create("input", MFD_CLOEXEC));
  if (file.get() < 0) return file;
  if (const int error = write_all(file.get(), text)) {
    file = FileDescriptor();
    errno = error;
  } else {
    ::lseek(file.get(), 0, SEEK_SET);
  }
  return file;
}

/// A child process, which is always waited for.
struct Child {
  pid_t id = 0;
  ~Child() {
    if (id > 0) wait_for(id);
  }
};

}  // namespace

std::string ProcessResult::ending() const {
  if (status == -1) return fmt::format("it did not start: {}", std::strerror(error));
  return status == unknown ? "exit status unknown" : fmt::format("exit status {}", status);
}

ProcessResult run_process(const std::vector<std::string>& arguments, const ProcessOptions& options) {
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  ProcessResult result;
  if (arguments.empty()) return result.error = EINVAL, result;
  Child child;
  FileDescriptor reading;  // closed before waiting for the child, which may write more than is read
  FileDescriptor input;
  if (!options.input.empty() && (input = in_memory(options.input)).get() < 0) return result.error = errno, result;
  {
    const NoFork no_fork(std::nothrow);  // a child that inherited the writing end would keep it open
    int pipe[2];
    if (::pipe2(pipe, O_CLOEXEC) != 0) return result.error = errno, result;
    reading = FileDescriptor(pipe[0]);
    const FileDescriptor writing(pipe[1]);
    result.error =
        spawn(argv, {input.get(), writing.get(), options.merges_errors, options.cancelled != nullptr}, child.id);
  }
  if (result.error) return child.id = 0, result;
  result.output = read_all(reading.get(), child.id, options);
  result.status = wait_for(std::exchange(child.id, 0));
  return result;
}

bool is_resource_shortage(int error) noexcept {
  return error == ENOMEM || error == EMFILE || error == ENFILE || error == EAGAIN;
}

std::string find_program(const std::string& program, int& error) {
  error = 0;
  const auto is_there = [&](const std::string& file) {
    if (::access(file.c_str(), X_OK) == 0) return true;
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ELOOP && errno != ENAMETOOLONG)
      error = errno;
    return false;
  };
  if (program.find('/') != std::string::npos) return is_there(program) ? program : "";
  const char* path = trusted_getenv("PATH");
  std::istringstream folders(path ? path : "/usr/local/bin:/usr/bin:/bin");
  folders.exceptions(std::ios::badbit);  // a lack of memory must not look like the end of the list
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string file = (folder.empty() ? "." : folder) + "/" + program;
    std::error_code ignored;
    if (is_there(file) && std::filesystem::is_regular_file(file, ignored)) return file;
  }
  return "";
}

}  // namespace sinter::inline v1::runtime

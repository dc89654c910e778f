#include "process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sinter/runtime/error.hpp>
#include <sstream>
#include <utility>

#include "../descriptor.hpp"
#include "../environment.hpp"
#include "../fork.hpp"
#include "../write.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace sinter::inline v1::runtime::vgpu {
namespace {

int spawn(const std::vector<char*>& argv, int output, pid_t& child) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, output, 2);
  // Compilers run and wait for programs of their own, so they must not inherit this process's signal handling.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
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

std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  for (;;) {
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

/// Always waited for.
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

ProcessResult run_process(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  ProcessResult result;
  if (arguments.empty()) return result.error = EINVAL, result;
  Child child;
  Descriptor reading;  // closed before waiting for the child, which may write more than is read
  {
    const NoFork no_fork(std::nothrow);  // a child that inherited the writing end would keep it open
    int pipe[2];
    if (::pipe2(pipe, O_CLOEXEC) != 0) return result.error = errno, result;
    reading = Descriptor(pipe[0]);
    const Descriptor writing(pipe[1]);
    result.error = spawn(argv, writing.get(), child.id);
  }
  if (result.error) return child.id = 0, result;
  result.output = read_all(reading.get());
  result.status = wait_for(std::exchange(child.id, 0));
  return result;
}

bool is_lack(int error) noexcept { return error == ENOMEM || error == EMFILE || error == ENFILE || error == EAGAIN; }

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

void write_file(const std::string& path, const std::string& content) {
  if (const int error = runtime::write_file(path, content))
    throw Error(fmt::format("Cannot write {} ({}).", path, write_problem(error)));
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(file)), {});
  if (!file) throw Error(fmt::format("Cannot read {} ({}).", path, std::strerror(errno)));
  return content;
}

}  // namespace sinter::inline v1::runtime::vgpu

// Runs code under a limit on file size.
#pragma once
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

namespace sinter::testing {

/// The exit status f() of a child with this file-size limit; -1 if a signal killed it, as SIGXFSZ does unless it is
/// blocked.
template <class F>
int under_file_limit(rlim_t bytes, F f) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_DFL);
    const rlimit limit{bytes, bytes};
    int status = ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      if (status == 0) status = f();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      status = 99;
    }
    ::_exit(status);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// The limits used by tests: nothing, less than most files, more than some.
inline constexpr rlim_t file_limits[] = {0, 4096, 100'000};

}  // namespace sinter::testing

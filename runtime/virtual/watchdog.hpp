// Ends kernels that do not end by themselves.
#pragma once
#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <ctime>

namespace sinter::inline v1::runtime::vgpu {

/// What the watchdog knows of a thread that runs blocks. It sends SIGBUS to a thread that has spent more than its limit
/// of processor time (not of wall time: a busy machine or a debugger is no fault) in one block.
struct Watched {
  pthread_t thread{};
  clockid_t clock{};
  std::atomic<bool> running{false};
  std::atomic<std::uint64_t> blocks{0};   // another value for every block, and before the first of a run
  std::atomic<std::int64_t> limit_ns{0};  // 0: none
  std::atomic<std::uint64_t> expired{0};  // the value of `blocks` that the signal is for
  // The watchdog's own:
  std::uint64_t seen = 0;
  std::int64_t since_ns = 0;

  /// For the calling thread.
  Watched();
  ~Watched();
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
};

/// Starts the watchdog where there is none: with the first launch, and in the child of a fork. Throws Error when no
/// thread can be started.
void keep_watch();

/// Whether a signal is the watchdog's, and not one that the program sends.
bool is_from_watchdog(const siginfo_t& info) noexcept;

}  // namespace sinter::inline v1::runtime::vgpu

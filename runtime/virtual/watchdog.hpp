// Ends kernels that do not terminate.
#pragma once
#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <ctime>

namespace sinter::inline v1::runtime::vgpu {

/// The watchdog's record of a thread that runs blocks. It sends SIGBUS to a thread that exceeds its limit of processor
/// time in one block. Wall time does not count: a busy machine or a debugger is not a fault.
struct Watched {
  pthread_t thread{};
  clockid_t clock{};
  std::atomic<bool> running{false};
  std::atomic<std::uint64_t> blocks{0};   // changes with every block, and before the first one of a run
  std::atomic<std::int64_t> limit_ns{0};  // 0: none
  std::atomic<std::uint64_t> expired{0};  // the value of `blocks` for which the signal was sent
  // Used only by the watchdog:
  std::uint64_t seen = 0;
  std::int64_t since_ns = 0;

  /// Registers the calling thread.
  Watched();
  ~Watched();
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
};

/// Starts the watchdog if it is not running: at the first launch, and in the child of a fork. Throws Error if no thread
/// can be started.
void keep_watch();

/// Whether a signal comes from the watchdog rather than from the program.
bool is_from_watchdog(const siginfo_t& info) noexcept;

}  // namespace sinter::inline v1::runtime::vgpu

// Threads with large stacks, for compilers with recursive parsers. Each task gets a new thread: the cost is negligible
// compared with a compilation, and no idle threads complicate forks and exit.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>

namespace sinter::inline v1::runtime {

/// Runs `work` on a thread with a stack of 16 MB and waits for it; if this already is such a thread, runs it here.
/// Throws what `work` throws; Error if no thread can be started. `tick`, if given, is called in this thread at every
/// `interval` until the work is done.
void run_on_large_stack(const std::function<void()>& work, std::chrono::milliseconds interval = {},
                        const std::function<void()>& tick = {});

/// Runs `work`, which must not throw, on such a thread later. At most as many run at once as there are processors, but
/// at least two. The end of the process waits for running work and drops what has not started. Throws Error if no
/// thread can be started.
void queue_on_large_stack(std::function<void()> work);

/// Whether this thread runs queued work, for which no caller waits.
bool is_queued_work() noexcept;

/// True once the process is ending, when nobody needs the result of queued work.
const std::atomic<bool>& is_process_ending() noexcept;

/// Drops work that has not started and waits for running work.
void wait_for_large_stacks() noexcept;

/// The same at the end of the process; running work that nobody needs any more stops early.
void end_large_stacks() noexcept;

}  // namespace sinter::inline v1::runtime

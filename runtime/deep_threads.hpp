// Threads with room for compilers, whose parsers recurse. One is started for each piece of work and ends with it: next
// to a compilation that costs nothing, and there is no idle thread that a fork or the end of the process could meet.
#pragma once
#include <chrono>
#include <functional>

namespace sinter::inline v1::runtime {

/// Runs `work` on a thread with a stack of 16 MB and waits for it; where this is such a thread, runs it here. Throws
/// what `work` throws; Error when no thread can be started. `impatient`, if given, is called here when it has taken
/// `patience`.
void run_deep(const std::function<void()>& work, std::chrono::milliseconds patience = {},
              const std::function<void()>& impatient = {});

/// Runs `work`, which must not throw, on such a thread some time from now: as many at once as there are processors, at
/// least two. The end of the process waits for what runs and drops what has not started. Throws Error when no thread
/// can be started.
void run_deep_later(std::function<void()> work);

/// Drops what has not started, and waits for what runs. For the end of the process.
void wait_for_deep_work() noexcept;

}  // namespace sinter::inline v1::runtime

// How long a collective call waits for other processes.
#pragma once
#include <chrono>

namespace sinter::inline v1::runtime {

/// SINTER_COLLECTIVE_TIMEOUT seconds from its construction; 300 by default.
class Deadline {
 public:
  Deadline();
  bool passed() const noexcept { return Clock::now() > end_; }
  double seconds() const noexcept { return seconds_; }

 private:
  using Clock = std::chrono::steady_clock;
  double seconds_;
  Clock::time_point end_;
};

/// Pauses before polling again, depending on the number of polls so far.
void pause_after(int polls);

}  // namespace sinter::inline v1::runtime

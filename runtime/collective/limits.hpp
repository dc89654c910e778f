// How long a collective call waits for the others.
#pragma once
#include <chrono>

namespace sinter::inline v1::runtime {

/// SINTER_COLLECTIVE_TIMEOUT in seconds, from the moment that it is made; 300 without.
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

/// Waits a moment before something is asked again, after so many times.
void pause_after(int polls);

}  // namespace sinter::inline v1::runtime

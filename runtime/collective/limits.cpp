#include "limits.hpp"

#include <sched.h>
#include <time.h>

#include <charconv>
#include <string>

#include "../environment.hpp"

namespace sinter::inline v1::runtime {
namespace {

double limit_in_seconds() {
  constexpr double fallback = 300;
  const std::string value = environment("SINTER_COLLECTIVE_TIMEOUT");
  if (value.empty()) return fallback;
  double seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (error == std::errc{} && end == value.data() + value.size() && seconds > 0 && seconds < 1e9) return seconds;
  report_unreadable("SINTER_COLLECTIVE_TIMEOUT", value, "seconds, more than 0", "taking 300");
  return fallback;
}

}  // namespace

Deadline::Deadline()
    : seconds_(limit_in_seconds()),
      end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds_))) {}

void pause_after(int polls) {
  constexpr int eager = 2000;  // most waits are shorter
  if (polls < eager) {
    sched_yield();
    return;
  }
  const timespec pause{0, 50'000};
  nanosleep(&pause, nullptr);
}

}  // namespace sinter::inline v1::runtime

// Spreads what all threads write over several cache lines.
#pragma once
#include <atomic>

namespace sinter::inline v1::runtime {

inline constexpr unsigned lane_count = 16;

/// The lane of the calling thread. Threads take them in turn.
inline unsigned this_lane() noexcept {
  static constinit std::atomic<unsigned> next{0};
  static constinit thread_local unsigned lane = lane_count;
  if (lane == lane_count) [[unlikely]]
    lane = next.fetch_add(1, std::memory_order_relaxed) % lane_count;
  return lane;
}

}  // namespace sinter::inline v1::runtime

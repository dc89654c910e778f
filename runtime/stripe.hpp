// Spreads what all threads write over several cache lines.
#pragma once
#include <atomic>

namespace sinter::inline v1::runtime {

inline constexpr unsigned stripe_count = 16;

/// The stripe of the calling thread. Threads take them in turn.
inline unsigned this_stripe() noexcept {
  static constinit std::atomic<unsigned> next{0};
  static constinit thread_local unsigned stripe = stripe_count;
  if (stripe == stripe_count) [[unlikely]]
    stripe = next.fetch_add(1, std::memory_order_relaxed) % stripe_count;
  return stripe;
}

}  // namespace sinter::inline v1::runtime

#include <sinter/runtime/shared_count.hpp>

#include <algorithm>
#include <new>

#include "stripe.hpp"

namespace sinter::inline v1::runtime {

/// A count of holds. As long as it is open, it takes part in the sum.
class alignas(interference_size) SharedCount::Stripe {
 public:
  void open() noexcept { word_.store(is_open, std::memory_order_relaxed); }
  /// Whether it has counted them.
  bool add(std::int64_t holds, std::memory_order order) noexcept {
    if (!(word_.load(std::memory_order_relaxed) & is_open)) return false;
    return word_.fetch_add(2 * holds, order) & is_open;
  }
  /// Returns the holds, once.
  std::int64_t close() noexcept {
    const std::int64_t w = word_.exchange(0, std::memory_order_acq_rel);
    return w & is_open ? (w - is_open) / 2 : 0;
  }

 private:
  static constexpr std::int64_t is_open = 1;  // of a word with twice the holds
  std::atomic<std::int64_t> word_{0};
};

struct SharedCount::Stripes {
  Stripe of[stripe_count];
};

/// In place of stripes that were closed before there were any.
constinit SharedCount::Stripes SharedCount::no_stripes;

SharedCount::~SharedCount() {
  if (Stripes* const all = stripes_.load(std::memory_order_relaxed); all != &no_stripes) delete all;
}

/// The caller's handle stays counted until the stripes are closed by one thread, so that the object stays.
bool SharedCount::release_last_handle(std::uint64_t w) noexcept {
  for (;;) {
    if (static_cast<std::uint32_t>(w) == stripes_open + one_handle) {
      if (word_.compare_exchange_weak(w, w - stripes_open - one_handle + stripes_closing, std::memory_order_acq_rel,
                                      std::memory_order_acquire))
        return close_stripes();
    } else if (word_.compare_exchange_weak(w, w - one_handle, std::memory_order_acq_rel, std::memory_order_acquire)) {
      return w == one_handle;
    }
  }
}

bool SharedCount::close_stripes() noexcept {
  std::int64_t holds = 0;
  Stripes* all = nullptr;
  if (!stripes_.compare_exchange_strong(all, &no_stripes, std::memory_order_acq_rel, std::memory_order_acquire))
    for (Stripe& stripe : all->of) holds += stripe.close();
  const std::uint64_t change = static_cast<std::uint64_t>(holds) * one_hold - stripes_closing;
  return word_.fetch_add(change, std::memory_order_acq_rel) + change == 0;
}

constexpr std::uint8_t many_holds = 128;  // of other threads: a tensor that is only handed over gets no stripes

/// Null if another thread was first, or no handle is left with which they would be closed. The word says that there may
/// be stripes before there are, so that no handle is the last unnoticed.
SharedCount::Stripes* SharedCount::open_stripes() noexcept {
  if (const std::uint8_t holds = foreign_.load(std::memory_order_relaxed); holds < many_holds) {
    foreign_.store(holds + 1, std::memory_order_relaxed);
    return nullptr;
  }
  std::uint64_t w = word_.load(std::memory_order_relaxed);
  if ((w & all_handles) == 0 || (w & (stripes_open | stripes_closing)) != 0) return nullptr;
  Stripes* const fresh = new (std::nothrow) Stripes;
  if (fresh == nullptr) return nullptr;
  for (Stripe& stripe : fresh->of) stripe.open();
  Stripes* none = nullptr;
  if (!word_.compare_exchange_strong(w, w + stripes_open, std::memory_order_acq_rel, std::memory_order_relaxed) ||
      !stripes_.compare_exchange_strong(none, fresh, std::memory_order_acq_rel, std::memory_order_relaxed)) {
    delete fresh;
    return nullptr;
  }
  return fresh;
}

void SharedCount::hold_elsewhere() noexcept {
  Stripes* all = stripes_.load(std::memory_order_acquire);
  if (all == nullptr) all = open_stripes();
  if (all != nullptr && all->of[this_stripe()].add(1, std::memory_order_relaxed)) return;
  word_.fetch_add(one_hold, std::memory_order_relaxed);
}

/// A hold that was taken in the word may be dropped in a stripe: only the sum matters.
bool SharedCount::drop_elsewhere() noexcept {
  Stripes* const all = stripes_.load(std::memory_order_acquire);
  if (all != nullptr && all->of[this_stripe()].add(-1, std::memory_order_release)) return false;
  return drop_here();
}

std::uint32_t SharedCount::owners() const noexcept {
  const std::uint64_t w = word_.load(std::memory_order_acquire);
  const auto handles = static_cast<std::uint32_t>(w & all_handles);
  if (w & (stripes_open | stripes_closing)) return std::max(handles + 1, 2u);
  return handles + static_cast<std::uint32_t>(w >> 32);
}

}  // namespace sinter::inline v1::runtime

#include <sinter/runtime/shared_count.hpp>

#include <algorithm>
#include <new>

#include "stripe.hpp"
#include "thread_fences.hpp"

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

/// The counts elsewhere are closed by one thread, before the object can be destroyed.
bool SharedCount::release_last_handle(std::uint64_t w) noexcept {
  for (;;) {
    if (const std::uint64_t open = w & open_flags; is_last_handle(w) && open != 0) {
      if (word_.compare_exchange_weak(w, w - open - one_handle + closing, std::memory_order_acq_rel,
                                      std::memory_order_acquire))
        return close(open);
    } else if (word_.compare_exchange_weak(w, w - one_handle, std::memory_order_acq_rel, std::memory_order_acquire)) {
      return w == one_handle;
    }
  }
}

/// Adds the holds that were counted elsewhere. If threads cannot be fenced, the object is never destroyed.
bool SharedCount::close(std::uint64_t open) noexcept {
  std::int64_t holds = 0;
  if (open & home_open) {
    const std::optional<std::int64_t> at_home = close_home();
    if (!at_home) return false;
    holds += *at_home;
  }
  if (open & stripes_open) holds += close_stripes();
  const std::uint64_t change = static_cast<std::uint64_t>(holds) * one_hold - closing;
  return word_.fetch_add(change, std::memory_order_acq_rel) + change == 0;
}

std::int64_t SharedCount::close_stripes() noexcept {
  std::int64_t holds = 0;
  Stripes* all = nullptr;
  if (!stripes_.compare_exchange_strong(all, &no_stripes, std::memory_order_acq_rel, std::memory_order_acquire))
    for (Stripe& stripe : all->of) holds += stripe.close();
  return holds;
}

/// Only while there is a handle, with which it is closed.
bool SharedCount::open_home() noexcept {
  std::uint64_t w = word_.load(std::memory_order_acquire);
  do {
    if ((w & all_handles) == 0 || (w & closing) != 0) return false;
    home_holds_.store(0, std::memory_order_relaxed);
  } while (!word_.compare_exchange_weak(w, w | home_open, std::memory_order_acq_rel, std::memory_order_acquire));
  return true;
}

/// The holds that were counted at home; nothing if threads cannot be fenced. The word says already that the home is
/// closed: after the fence, its thread has either seen that, or says that it is counting.
std::optional<std::int64_t> SharedCount::close_home() noexcept {
  if (!is_at_home()) {
    if (!fence_all_threads()) return std::nullopt;
    home_->wait_while_counting(this);
  }
  return home_holds_.load(std::memory_order_relaxed);
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
  if ((w & all_handles) == 0 || (w & (stripes_open | closing)) != 0) return nullptr;
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

void SharedCount::hold_slowly() noexcept {
  if (is_at_home()) {
    if (open_home() && count_at_home(1)) return;
  } else {
    Stripes* all = stripes_.load(std::memory_order_acquire);
    if (all == nullptr) all = open_stripes();
    if (all != nullptr && all->of[this_stripe()].add(1, std::memory_order_relaxed)) return;
  }
  word_.fetch_add(one_hold, std::memory_order_relaxed);
}

/// A hold that was taken in the word may be dropped in a stripe or at home: only the sum matters.
bool SharedCount::drop_slowly() noexcept {
  Stripes* const all = is_at_home() ? nullptr : stripes_.load(std::memory_order_acquire);
  if (all != nullptr && all->of[this_stripe()].add(-1, std::memory_order_release)) return false;
  return drop_in_word();
}

std::uint32_t SharedCount::owners() const noexcept {
  const std::uint64_t w = word_.load(std::memory_order_acquire);
  const auto handles = static_cast<std::uint32_t>(w & all_handles);
  const bool is_known = (w & (stripes_open | closing)) == 0 && ((w & home_open) == 0 || is_at_home());
  if (!is_known) return std::max(handles + 1, 2u);
  const std::int64_t at_home = w & home_open ? home_holds_.load(std::memory_order_relaxed) : 0;
  return handles + static_cast<std::uint32_t>(w >> 32) + static_cast<std::uint32_t>(at_home);
}

}  // namespace sinter::inline v1::runtime

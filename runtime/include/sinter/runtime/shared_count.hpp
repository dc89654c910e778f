// The reference count of objects that many threads use at once.
#pragma once
#include <sinter/runtime/home_thread.hpp>
#include <sinter/runtime/interference_size.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sinter::inline v1::runtime {

/// Base of objects with handles, which keep them for long, and holds, which each evaluation takes and drops, also of
/// every copy of an expression. As long as there is a handle, the thread that made the object counts its holds without
/// atomic read-modify-writes (biased reference counting; J. Choi et al., PACT 2018), and other threads that take many
/// count theirs in stripes, as in a striped counter: otherwise a cache line would move between cores at each
/// evaluation. When the last handle goes, these are added to the count of the object, and later holds are counted
/// there. At most 2^28 - 1 handles. Not for signal handlers.
class SharedCount {
 public:
  /// One handle.
  SharedCount() noexcept = default;
  SharedCount(const SharedCount&) = delete;
  SharedCount& operator=(const SharedCount&) = delete;
  ~SharedCount();

  void retain() noexcept { word_.fetch_add(one_handle, std::memory_order_relaxed); }
  /// Whether that was the last reference. The object must then be destroyed, and not be touched otherwise.
  [[nodiscard]] bool release() noexcept {
    std::uint64_t w = word_.load(std::memory_order_acquire);
    if (w == one_handle || (w == one_handle + home_open && is_at_home_without_holds())) [[likely]]
      return true;
    do {
      if (is_last_handle(w) && (w & open_flags) != 0) [[unlikely]]
        return release_last_handle(w);
    } while (!word_.compare_exchange_weak(w, w - one_handle, std::memory_order_acq_rel, std::memory_order_acquire));
    return w == one_handle;
  }

  void hold() noexcept {
    if (!count_at_home(1)) [[unlikely]]
      hold_slowly();
  }
  /// In any thread. Whether that was the last reference.
  [[nodiscard]] bool drop() noexcept { return !count_at_home(-1) && drop_slowly(); }

  /// The current number of references; at least 2 if it is not known to be 1.
  std::uint32_t owners() const noexcept;

 private:
  class Stripe;
  struct Stripes;
  static constexpr std::uint64_t one_handle = 1;
  static constexpr std::uint64_t stripes_open = std::uint64_t{1} << 28;  // there may be holds in stripes
  static constexpr std::uint64_t all_handles = stripes_open - 1;
  static constexpr std::uint64_t home_open = std::uint64_t{1} << 29;  // there may be holds in home_holds_
  static constexpr std::uint64_t open_flags = stripes_open | home_open;
  static constexpr std::uint64_t closing = std::uint64_t{1} << 30;   // the holds elsewhere are being added to the word
  static constexpr std::uint64_t one_hold = std::uint64_t{1} << 32;  // negative if they were taken elsewhere

  static bool is_last_handle(std::uint64_t word) noexcept { return (word & all_handles) == one_handle; }
  bool is_at_home() const noexcept { return home_ == HomeThread::current; }
  bool is_at_home_without_holds() const noexcept {
    return is_at_home() && home_holds_.load(std::memory_order_relaxed) == 0;
  }
  /// Whether the calling thread has counted them, as the one that made the object. It does not touch the object after.
  /// First it says what it is counting, so that close_home() in another thread can wait until it has finished.
  bool count_at_home(std::int64_t holds) noexcept {
    HomeThread* const home = home_;
    if (home != HomeThread::current) return false;
    home->counting.store(this, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // close_home() fences this thread
    const bool is_open = word_.load(std::memory_order_relaxed) & home_open;
    if (is_open) [[likely]]
      home_holds_.store(home_holds_.load(std::memory_order_relaxed) + holds, std::memory_order_relaxed);
    home->counting.store(nullptr, std::memory_order_release);
    return is_open;
  }
  bool drop_in_word() noexcept { return word_.fetch_sub(one_hold, std::memory_order_acq_rel) == one_hold; }
  bool release_last_handle(std::uint64_t word) noexcept;
  bool close(std::uint64_t open) noexcept;
  std::int64_t close_stripes() noexcept;
  bool open_home() noexcept;
  std::optional<std::int64_t> close_home() noexcept;
  void hold_slowly() noexcept;
  bool drop_slowly() noexcept;
  Stripes* open_stripes() noexcept;

  static Stripes no_stripes;

  alignas(interference_size) std::atomic<std::uint64_t> word_{one_handle};
  std::atomic<std::int64_t> home_holds_{0};  // written by the home alone; meaningless while that is not open
  // What is seldom written, together with the members of the derived class.
  alignas(interference_size) HomeThread* const home_ = HomeThread::for_new_object();
  std::atomic<Stripes*> stripes_{nullptr};
  std::atomic<std::uint8_t> foreign_{0};  // holds of other threads before they have stripes; an estimate
};

}  // namespace sinter::inline v1::runtime

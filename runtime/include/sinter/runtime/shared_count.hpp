// The reference count of objects that many threads use at once.
#pragma once
#include <sinter/runtime/interference_size.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sinter::inline v1::runtime {

/// Differs between threads that run at the same time.
inline std::uintptr_t thread_token() noexcept { return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()); }

/// Base of objects with handles, which keep them for long, and holds, which each evaluation takes and drops. If other
/// threads than the one that made the object take many holds, these are counted in stripes, as in a striped counter:
/// otherwise a cache line would move between cores at each evaluation. When the last handle goes, the stripes are added
/// to the count of the object, and later holds are counted there (biased reference counting; J. Choi et al., PACT
/// 2018). At most 2^28 - 1 handles.
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
    if (w == one_handle) [[likely]]
      return true;
    do {
      if (static_cast<std::uint32_t>(w) == stripes_open + one_handle) [[unlikely]]
        return release_last_handle(w);
    } while (!word_.compare_exchange_weak(w, w - one_handle, std::memory_order_acq_rel, std::memory_order_acquire));
    return w == one_handle;
  }

  void hold() noexcept {
    if (home_ != thread_token()) return hold_elsewhere();
    word_.fetch_add(one_hold, std::memory_order_relaxed);
  }
  /// In any thread. Whether that was the last reference.
  [[nodiscard]] bool drop() noexcept {
    if (home_ != thread_token()) return drop_elsewhere();
    return drop_here();
  }

  /// The current number of references; at least 2 if it is not known to be 1.
  std::uint32_t owners() const noexcept;

 private:
  class Stripe;
  struct Stripes;
  static constexpr std::uint64_t one_handle = 1;
  static constexpr std::uint64_t stripes_open = std::uint64_t{1} << 28;  // there may be holds in stripes
  static constexpr std::uint64_t all_handles = stripes_open - 1;
  static constexpr std::uint64_t stripes_closing = std::uint64_t{1} << 29;  // they are being added to the word
  static constexpr std::uint64_t one_hold = std::uint64_t{1} << 32;         // negative if they were taken in a stripe

  bool drop_here() noexcept { return word_.fetch_sub(one_hold, std::memory_order_acq_rel) == one_hold; }
  bool release_last_handle(std::uint64_t word) noexcept;
  bool close_stripes() noexcept;
  void hold_elsewhere() noexcept;
  bool drop_elsewhere() noexcept;
  Stripes* open_stripes() noexcept;

  static Stripes no_stripes;

  alignas(interference_size) std::atomic<std::uint64_t> word_{one_handle};
  // What is seldom written, together with the members of the derived class.
  alignas(interference_size) const std::uintptr_t home_ = thread_token();
  std::atomic<Stripes*> stripes_{nullptr};
  std::atomic<std::uint8_t> foreign_{0};  // holds of other threads before they have stripes; an estimate
};

}  // namespace sinter::inline v1::runtime

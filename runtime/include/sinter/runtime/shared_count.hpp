// The reference count of objects that many threads use at once.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sinter::inline v1::runtime {

/// Bytes: what one thread writes and others do not read is so far from the rest, since processors fetch lines in pairs.
inline constexpr std::size_t line_alignment = 128;

/// Differs between threads that run at the same time.
inline std::uintptr_t this_thread() noexcept { return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()); }

/// Counts handles, which keep an object for long, and holds, which each evaluation takes and drops. If other threads
/// than the one that made the object take many holds, each counts its own in a cache line of its own: otherwise a line
/// would move between cores at each evaluation. When the last handle goes, the lines are added to the count of the
/// object, as in biased reference counting, and later holds are counted there.
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
      if (static_cast<std::uint32_t>(w) == lanes_open + one_handle) [[unlikely]]
        return release_last_handle(w);
    } while (!word_.compare_exchange_weak(w, w - one_handle, std::memory_order_acq_rel, std::memory_order_acquire));
    return w == one_handle;
  }

  void hold() noexcept {
    if (home_ != this_thread()) return hold_elsewhere();
    word_.fetch_add(one_hold, std::memory_order_relaxed);
  }
  /// In any thread. Whether that was the last reference.
  [[nodiscard]] bool drop() noexcept {
    if (home_ != this_thread()) return drop_elsewhere();
    return drop_here();
  }

  /// The current number of references; at least 2 if it is not known to be 1.
  std::uint32_t owners() const noexcept;

 private:
  class Lane;
  struct Lanes;
  static constexpr std::uint64_t one_handle = 1;
  static constexpr std::uint64_t lanes_open = std::uint64_t{1} << 28;  // there may be holds in lanes
  static constexpr std::uint64_t all_handles = lanes_open - 1;
  static constexpr std::uint64_t lanes_closing = std::uint64_t{1} << 29;  // they are being added to the word
  static constexpr std::uint64_t one_hold = std::uint64_t{1} << 32;       // negative if they were taken in a lane

  bool drop_here() noexcept { return word_.fetch_sub(one_hold, std::memory_order_acq_rel) == one_hold; }
  bool release_last_handle(std::uint64_t word) noexcept;
  bool close_lanes() noexcept;
  void hold_elsewhere() noexcept;
  bool drop_elsewhere() noexcept;
  Lanes* open_lanes() noexcept;

  static Lanes no_lanes;

  const std::uintptr_t home_ = this_thread();
  std::atomic<Lanes*> lanes_{nullptr};
  std::atomic<std::uint8_t> foreign_{0};  // holds of other threads before they have lanes; an estimate
  alignas(line_alignment) std::atomic<std::uint64_t> word_{one_handle};
};

}  // namespace sinter::inline v1::runtime

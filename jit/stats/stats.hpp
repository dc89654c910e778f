// Counters of jit_stats(). Each thread has its own, so counting needs no atomic read-modify-write.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <new>

#include <runtime/per_thread.hpp>
#include <sinter/jit/stats.hpp>

namespace sinter::inline v1::jit {

class ThreadStats {
 public:
  ThreadStats();
  ~ThreadStats();
  ThreadStats(const ThreadStats&) = delete;
  ThreadStats& operator=(const ThreadStats&) = delete;

  /// Written only by its own thread.
  static void count(std::atomic<std::uint64_t>& counter, std::uint64_t by = 1) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  std::atomic<std::uint64_t> compiles{0}, disk_hits{0}, memory_hits{0}, plans{0}, launches{0};
  std::atomic<std::uint64_t> compile_ns{0};
};

/// The counters of threads for whose own there is no memory; counts may be lost.
ThreadStats& shared_stats() noexcept;
/// This thread's counters.
inline ThreadStats& stats() noexcept try { return runtime::per_thread<ThreadStats>(); } catch (const std::bad_alloc&) {
  return shared_stats();
}

/// What all threads have counted, those that have ended too. Throws std::bad_alloc.
JitStats counted();

inline void count_compile(std::chrono::nanoseconds took) noexcept {
  ThreadStats::count(stats().compiles);
  ThreadStats::count(stats().compile_ns, static_cast<std::uint64_t>(took.count()));
}
inline void count_disk_hit() noexcept { ThreadStats::count(stats().disk_hits); }
inline void count_plan() noexcept { ThreadStats::count(stats().plans); }

}  // namespace sinter::inline v1::jit

// Fences of which one side is free: what a thread does often is ordered only by the compiler, because the thread that
// does the rare opposite fences all threads (membarrier).
#pragma once
#include <atomic>

namespace sinter::inline v1::runtime {

/// Whether a thread can fence all others. Sandboxes may forbid it.
extern const bool has_membarrier;

/// The frequent side.
inline void fence_own_thread() noexcept {
  if (has_membarrier) [[likely]]
    std::atomic_signal_fence(std::memory_order_seq_cst);
  else
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

/// The rare side. False if other threads cannot be fenced now.
bool fence_all_threads() noexcept;

}  // namespace sinter::inline v1::runtime

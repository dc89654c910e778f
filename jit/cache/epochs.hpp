// Epoch-based reclamation: objects that threads find in caches without a lock live until no thread can be using them.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include <runtime/per_thread.hpp>
#include <runtime/thread_fences.hpp>

namespace sinter::inline v1::jit {

/// One for each thread.
struct EpochReader {
  EpochReader();
  EpochReader(const EpochReader&) = delete;
  EpochReader& operator=(const EpochReader&) = delete;
  ~EpochReader();

  std::atomic<std::uint64_t> since{0};  // the epoch in which its outermost EpochGuard began; 0 outside
  int depth = 0;
};

/// Releases the objects that no EpochGuard can be using. Also called when EpochGuards end.
void reclaim() noexcept;

/// While a thread has one, nothing that it finds is destroyed. They nest. Pointers to such objects must be read and
/// removed with memory_order_seq_cst.
class EpochGuard {
 public:
  /// Only a thread's first one may throw std::bad_alloc.
  EpochGuard() : reader_(runtime::per_thread<EpochReader>()) {
    if (reader_.depth++ > 0) return;
    reader_.since.store(epoch_.load(std::memory_order_acquire), std::memory_order_release);
    runtime::fence_own_thread();
  }
  EpochGuard(const EpochGuard&) = delete;
  EpochGuard& operator=(const EpochGuard&) = delete;
  ~EpochGuard() {
    if (--reader_.depth == 0) end();
  }

 private:
  friend void retire(std::shared_ptr<const void> object) noexcept;
  friend void reclaim() noexcept;

  /// Reclaims only if an object may be waiting for this EpochGuard.
  void end() noexcept {
    const std::uint64_t since = reader_.since.load(std::memory_order_relaxed);
    reader_.since.store(0, std::memory_order_release);
    runtime::fence_own_thread();
    if (since < awaited_.load(std::memory_order_relaxed)) [[unlikely]]
      reclaim();
  }

  static constinit std::atomic<std::uint64_t> epoch_;
  /// The newest epoch that an object waits for; 0 if none does.
  static constinit std::atomic<std::uint64_t> awaited_;

  EpochReader& reader_;
};

/// Takes an object that can no longer be found, and releases it when all current EpochGuards have ended.
void retire(std::shared_ptr<const void> object) noexcept;

}  // namespace sinter::inline v1::jit

// Epoch-based reclamation: objects that threads find in caches without a lock live until no thread can be using them.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

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

/// While a thread has one, nothing that it finds is destroyed. They nest. Pointers to such objects must be read and
/// removed with memory_order_seq_cst.
class EpochGuard {
 public:
  /// Only a thread's first one may throw std::bad_alloc.
  EpochGuard();
  EpochGuard(const EpochGuard&) = delete;
  EpochGuard& operator=(const EpochGuard&) = delete;
  ~EpochGuard() {
    if (--reader_.depth == 0) end();
  }

 private:
  /// The newest epoch that an object waits for; 0 if none does.
  static constinit std::atomic<std::uint64_t> awaited_;
  friend void retire(std::shared_ptr<const void> object) noexcept;
  friend void reclaim() noexcept;

  void end() noexcept;

  EpochReader& reader_;
};

/// Takes an object that can no longer be found, and releases it when all current EpochGuards have ended.
void retire(std::shared_ptr<const void> object) noexcept;
/// Releases the objects that no EpochGuard can be using. Also called when EpochGuards end.
void reclaim() noexcept;

}  // namespace sinter::inline v1::jit

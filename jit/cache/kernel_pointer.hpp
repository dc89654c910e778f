// Lock-free lookup of the kernel of one expression and device.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "epochs.hpp"

namespace sinter::inline v1::jit {

/// The number of kernels loaded so far: a logical clock that orders uses.
extern constinit std::atomic<std::uint64_t> kernel_clock;

/// A kernel that is loaded, or was.
class ReadyKernel {
 public:
  explicit ReadyKernel(void* handle) noexcept : handle_(handle) { touch(); }

  /// KernelHandle::handle; null if it was evicted.
  void* handle() const noexcept { return evicted_.load(std::memory_order_seq_cst) ? nullptr : handle_; }
  /// Writes only if a kernel was loaded since the last use, so that the cache line stays shared between threads.
  void touch() const noexcept {
    const std::uint64_t now = kernel_clock.load(std::memory_order_relaxed);
    if (last_use_.load(std::memory_order_relaxed) != now) last_use_.store(now, std::memory_order_relaxed);
  }
  std::uint64_t last_use() const noexcept { return last_use_.load(std::memory_order_relaxed); }
  void evict() noexcept { evicted_.store(true, std::memory_order_seq_cst); }

 private:
  void* const handle_;
  mutable std::atomic<std::uint64_t> last_use_{0};
  std::atomic<bool> evicted_{false};
};

class KernelPointer {
 public:
  /// KernelHandle::handle, to be launched before the caller's EpochGuard ends. Null if the kernel must be loaded.
  void* find() const noexcept {
    const ReadyKernel* const ready = ready_.load(std::memory_order_seq_cst);
    void* const handle = ready ? ready->handle() : nullptr;
    if (handle) [[likely]]
      ready->touch();
    return handle;
  }
  /// Called by one thread at a time.
  void put(std::shared_ptr<const ReadyKernel> kernel) {
    ready_.store(kernel.get(), std::memory_order_seq_cst);
    owner_.swap(kernel);
    if (kernel) retire(std::move(kernel));
  }

 private:
  std::atomic<const ReadyKernel*> ready_{nullptr};
  std::shared_ptr<const ReadyKernel> owner_;
};

}  // namespace sinter::inline v1::jit

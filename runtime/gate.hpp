// A gate that many threads pass together and that one thread can close.
#pragma once
#include <time.h>

#include <atomic>
#include <chrono>
#include <mutex>

namespace sinter::inline v1::runtime {

/// Threads enter and leave freely until one closes the gate; newcomers then wait. So they cannot starve the closing
/// thread as a lock's readers can starve its writer.
class Gate {
 public:
  void enter() noexcept {
    // Either this thread sees that the gate is closed, or the closing thread sees this one.
    while (inside_.fetch_add(1), closed_.load() != 0) {
      inside_.fetch_sub(1);
      closed_.wait(1);
    }
  }
  void leave() noexcept { inside_.fetch_sub(1, std::memory_order_release); }

  /// One thread at a time.
  void close() noexcept {
    closing_.lock();
    closed_.store(1);
  }
  /// For the thread that closed it. False if, after `patience`, more than `own` are still inside.
  bool wait_for_others(int own, std::chrono::nanoseconds patience) const noexcept {
    const auto begin = std::chrono::steady_clock::now();
    while (inside_.load() > own) {
      if (std::chrono::steady_clock::now() - begin > patience) return false;
      const timespec pause{0, 20'000};
      nanosleep(&pause, nullptr);
    }
    return true;
  }
  void open() noexcept {
    closed_.store(0);
    closed_.notify_all();
    closing_.unlock();
  }
  /// In the child of a fork, before opening: other threads that were inside do not exist there.
  void forget_others(int own) noexcept { inside_.store(own); }

 private:
  std::atomic<int> inside_{0}, closed_{0};
  std::mutex closing_;
};

}  // namespace sinter::inline v1::runtime

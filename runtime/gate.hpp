// What threads do together, and what one does alone.
#pragma once
#include <time.h>

#include <atomic>
#include <chrono>
#include <mutex>

namespace sinter::inline v1::runtime {

/// Threads go in and out as they like until one closes it: who comes then waits, so that newcomers never keep the one
/// that closes it from its turn, as readers of a lock may keep its writer.
class Gate {
 public:
  void enter() noexcept {
    // Either this thread sees that it is closed, or who closed it sees this thread.
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
  /// Of the thread that closed it. False: after `patience` more than `own` are still inside.
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
  /// In the child of a fork, before it is opened: the threads that may have been inside are not there.
  void forget_others(int own) noexcept { inside_.store(own); }

 private:
  std::atomic<int> inside_{0}, closed_{0};
  std::mutex closing_;
};

}  // namespace sinter::inline v1::runtime

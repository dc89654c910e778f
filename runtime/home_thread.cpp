#include <sinter/runtime/home_thread.hpp>

#include <unistd.h>

#include <chrono>
#include <new>
#include <thread>

#include "fork.hpp"
#include "thread_fences.hpp"

namespace sinter::inline v1::runtime {
namespace {

constinit HomeThread nobody;
/// All there are. Objects may outlive the thread that made them, so none is ever destroyed.
constinit std::atomic<HomeThread*> newest{nullptr};

}  // namespace

constinit thread_local HomeThread* HomeThread::current = nullptr;

/// The other threads of a forked process do not exist in the child.
struct HomeThread::InChild {
  ForkHandler handler{*this};
  void before_fork() noexcept {}
  void after_fork(bool in_child) noexcept {
    if (!in_child) return;
    for (HomeThread* t = newest.load(std::memory_order_acquire); t != nullptr; t = t->next_)
      if (t == current)
        t->process_.store(::getpid(), std::memory_order_relaxed);
      else
        t->leave();
  }
};

void HomeThread::leave() noexcept {
  counting.store(nullptr, std::memory_order_relaxed);
  is_taken_.store(false, std::memory_order_release);
}

HomeThread* HomeThread::take() {
  static constinit NoDestructor<InChild> in_child;
  in_child.get();
  for (HomeThread* t = newest.load(std::memory_order_acquire); t != nullptr; t = t->next_)
    if (!t->is_taken_.load(std::memory_order_relaxed) && !t->is_taken_.exchange(true, std::memory_order_acquire))
      return t;
  auto* const fresh = new HomeThread;
  fresh->next_ = newest.load(std::memory_order_relaxed);
  while (!newest.compare_exchange_weak(fresh->next_, fresh, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return fresh;
}

HomeThread* HomeThread::enter() noexcept try {
  static constinit thread_local bool has_left = false;
  if (has_left || !has_membarrier) return &nobody;
  HomeThread* const taken = take();
  taken->process_.store(::getpid(), std::memory_order_relaxed);
  struct Leave {
    ~Leave() {
      HomeThread* const left = current;
      current = nullptr;
      has_left = true;
      left->leave();
    }
  };
  thread_local const Leave leave;
  return current = taken;
} catch (const std::bad_alloc&) {
  return &nobody;
}

/// A child of a fork may call this before it is known here that the thread does not exist.
void HomeThread::wait_while_counting(const void* object) const noexcept {
  constexpr int yields = 32;  // then it sleeps, in case that the thread has a lower priority
  for (int i = 0; counting.load(std::memory_order_acquire) == object; ++i) {
    if (process_.load(std::memory_order_relaxed) != ::getpid()) return;
    if (i < yields)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace sinter::inline v1::runtime

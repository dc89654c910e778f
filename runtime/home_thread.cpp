#include <sinter/runtime/home_thread.hpp>

#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "fork.hpp"
#include "thread_fences.hpp"

namespace sinter::inline v1::runtime {
namespace {

constinit HomeThread nobody;

/// Objects may outlive the thread that made them, so none is ever destroyed.
struct HomeThreads {
  std::mutex mutex;
  std::vector<HomeThread*> all, vacant;
  ForkHandler fork_handler{*this};

  HomeThread* take() {
    const ForkSafeLock lock(mutex, std::nothrow);
    if (vacant.empty()) {
      all.reserve(all.size() + 1);
      vacant.reserve(all.size() + 1);
      all.push_back(new HomeThread);
      vacant.push_back(all.back());
    }
    HomeThread* const taken = vacant.back();
    vacant.pop_back();
    return taken;
  }
  void give_back(HomeThread* t) noexcept {
    const ForkSafeLock lock(mutex, std::nothrow);
    vacant.push_back(t);  // there is room for all
  }

  void before_fork() noexcept {}
  /// The parent's other threads do not exist in the child.
  void after_fork(bool in_child) noexcept {
    if (!in_child) return;
    vacant.clear();
    for (HomeThread* const t : all)
      if (t != HomeThread::current) {
        t->counting.store(nullptr, std::memory_order_relaxed);
        vacant.push_back(t);
      }
  }
};

constinit NoDestructor<HomeThreads> threads;

}  // namespace

constinit thread_local HomeThread* HomeThread::current = nullptr;

HomeThread* HomeThread::enter() noexcept try {
  static constinit thread_local bool has_left = false;
  if (has_left || !has_membarrier) return &nobody;
  current = threads.get().take();
  struct Leave {
    ~Leave() {
      threads.get().give_back(std::exchange(current, nullptr));
      has_left = true;
    }
  };
  thread_local const Leave leave;
  return current;
} catch (const std::bad_alloc&) {
  return &nobody;
}

}  // namespace sinter::inline v1::runtime

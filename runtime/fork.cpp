#include <sinter/runtime/fork.hpp>

#include <pthread.h>

#include <ctime>
#include <utility>

#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::runtime {

constinit std::atomic<unsigned> process_generation{0};

namespace {

// A fork that waits for longer may be waited for itself.
constinit std::atomic<std::chrono::milliseconds> patience{std::chrono::milliseconds(5000)};

constinit std::atomic<int> inside{0};       // threads in a NoFork
constinit std::atomic<int> closed{0};       // a fork is about to happen: nobody else goes in
constinit std::atomic<bool> broken{false};  // this is a child whose parent's thread was inside
constinit thread_local int depth = 0;
constinit std::mutex forking;  // several threads may

void enter() noexcept {
  if (depth++ > 0) return;
  // Either this thread sees that it is closed, or who closed it sees this thread.
  while (inside.fetch_add(1), closed.load() != 0) {
    inside.fetch_sub(1);
    closed.wait(1);
  }
}

int others_inside() noexcept { return inside.load() - (depth > 0); }

/// False: they take too long.
bool wait_for_others() noexcept {
  const auto begin = std::chrono::steady_clock::now();
  while (others_inside() > 0) {
    if (std::chrono::steady_clock::now() - begin > patience.load()) return false;
    const timespec pause{0, 20'000};
    nanosleep(&pause, nullptr);
  }
  return true;
}

}  // namespace

void set_fork_patience(std::chrono::milliseconds p) noexcept { patience = p; }

NoFork::NoFork() {
  if (broken.load(std::memory_order_relaxed)) [[unlikely]]
    throw Error(
        "this process was forked while another thread of its parent used Sinter, and that did not come to an end: what "
        "it left cannot be used. Fork before other threads start, or only exec in the child");
  enter();
}
NoFork::NoFork(std::nothrow_t) noexcept { enter(); }
NoFork::~NoFork() {
  if (--depth == 0) inside.fetch_sub(1, std::memory_order_release);
}

struct ForkHandlers {
  static constinit std::mutex mutex;
  static constinit ForkHandler* first;
  static constinit bool all_well;  // of the fork that is going on

  static void before() noexcept {
    forking.lock();
    closed.store(1);
    all_well = wait_for_others();
    if (all_well)
      for (ForkHandler* h = first; h; h = h->next_) h->before_(h->object_);
  }
  static void after(bool in_child) noexcept {
    if (in_child) {
      process_generation.fetch_add(1, std::memory_order_relaxed);
      if (!all_well) broken.store(true, std::memory_order_relaxed);
      inside.store(depth > 0);
    }
    if (all_well)
      for (ForkHandler* h = first; h; h = h->next_) h->after_(h->object_, in_child);
    closed.store(0);
    closed.notify_all();
    forking.unlock();
  }
};

constinit std::mutex ForkHandlers::mutex;
constinit ForkHandler* ForkHandlers::first = nullptr;
constinit bool ForkHandlers::all_well = true;

namespace {

[[maybe_unused]] const int registered = pthread_atfork(
    [] { ForkHandlers::before(); }, [] { ForkHandlers::after(false); }, [] { ForkHandlers::after(true); });

}  // namespace

ForkHandler::ForkHandler(void* object, Order order, Before before, After after)
    : object_(object), before_(before), after_(after) {
  const ForkSafeLock lock(ForkHandlers::mutex, std::nothrow);
  ForkHandler** place = &ForkHandlers::first;
  while (*place && order == Order::Inner) place = &(*place)->next_;
  next_ = std::exchange(*place, this);
}

ForkHandler::~ForkHandler() {
  const ForkSafeLock lock(ForkHandlers::mutex, std::nothrow);
  ForkHandler** place = &ForkHandlers::first;
  while (*place != this) place = &(*place)->next_;
  *place = next_;
}

}  // namespace sinter::inline v1::runtime

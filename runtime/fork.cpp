#include "fork.hpp"

#include <pthread.h>

#include <utility>

#include <sinter/runtime/error.hpp>
#include "gate.hpp"

namespace sinter::inline v1::runtime {

constinit std::atomic<unsigned> process_generation{0};

namespace {

// A thread inside a NoFork may itself be waiting for the fork.
constinit std::atomic<std::chrono::milliseconds> patience{std::chrono::milliseconds(5000)};

constinit Gate gate;                        // for threads in a NoFork; a fork closes it
constinit std::atomic<bool> broken{false};  // this is a child whose parent had a thread inside
// Hot: each operation of an expression enters several times.
constinit thread_local int no_fork_depth __attribute__((tls_model("initial-exec"))) = 0;

int own() noexcept { return no_fork_depth > 0; }

void enter() noexcept {
  if (no_fork_depth == 0) gate.enter();
  ++no_fork_depth;
}

}  // namespace

void set_fork_patience(std::chrono::milliseconds p) noexcept { patience = p; }

NoFork::NoFork() {
  if (broken.load(std::memory_order_relaxed)) [[unlikely]]
    throw Error(
        "this process was forked while another thread of its parent was inside Sinter and did not leave it in time: "
        "Sinter's state cannot be used. Fork before other threads start, or only exec in the child");
  enter();
}
NoFork::NoFork(std::nothrow_t) noexcept { enter(); }
NoFork::~NoFork() {
  if (--no_fork_depth == 0) gate.leave();
}

struct ForkHandlers {
  static constinit std::mutex mutex;
  static constinit ForkHandler* first;
  static constinit bool all_well;  // in the fork in progress: no thread is inside

  static void before() noexcept {
    gate.close();
    all_well = gate.wait_for_others(own(), patience.load());
    mutex.lock();
    for (ForkHandler* h = first; h; h = h->next_) h->before_(h->object_);
    ++no_fork_depth;  // the program's own handlers may use Sinter
  }
  static void after(bool in_child) noexcept {
    --no_fork_depth;
    if (in_child) {
      process_generation.fetch_add(1, std::memory_order_relaxed);
      if (!all_well) broken.store(true, std::memory_order_relaxed);
      gate.forget_others(own());
    }
    for (ForkHandler* h = first; h; h = h->next_) h->after_(h->object_, in_child);
    mutex.unlock();
    gate.open();
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

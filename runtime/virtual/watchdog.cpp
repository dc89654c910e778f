#include "watchdog.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <sinter/runtime/error.hpp>
#include <vector>

#include "../fork.hpp"

namespace sinter::inline v1::runtime::vgpu {
namespace {

constexpr int period_us = 50'000;
char mark;  // the watchdog's signals carry its address

struct Watch {
  std::mutex mutex;
  std::vector<Watched*> threads;
  std::atomic<bool> started{false};
  ForkHandler fork_handler{*this};

  void before_fork() noexcept { mutex.lock(); }
  void after_fork(bool in_child) noexcept;
};

Watch& watch() {
  static constinit NoDestructor<Watch> w;  // the watchdog's thread ends with the process
  return w.get();
}

std::int64_t cpu_time_ns(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

void check(Watched& w) {
  const std::int64_t limit = w.limit_ns.load(std::memory_order_relaxed);
  if (limit <= 0 || !w.running.load(std::memory_order_acquire)) return;
  const std::uint64_t block = w.blocks.load(std::memory_order_relaxed);
  if (block != w.seen) {
    w.seen = block;
    w.since_ns = cpu_time_ns(w.clock);
  } else if (cpu_time_ns(w.clock) - w.since_ns > limit) {
    w.expired.store(block);
    // Repeated: a signal that arrives while the thread is in one of the program's handlers is lost.
    ::pthread_sigqueue(w.thread, SIGBUS, {.sival_ptr = &mark});
  }
}

void* run(void*) {
  for (;;) {
    ::usleep(period_us);
    std::lock_guard lock(watch().mutex);
    for (Watched* w : watch().threads) check(*w);
  }
}

// Blocks signals, so that this thread does not receive those sent to the process.
void start() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const int error = pthread_create(&thread, nullptr, run, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error)
    throw Error(
        fmt::format("Virtual GPUs: cannot start the watchdog thread, which ends kernels that do not terminate ({}). "
                    "Raise the limits of threads and memory, or set SINTER_VIRTUAL_TIMEOUT=0 to run without it.",
                    std::strerror(error)));
  pthread_detach(thread);
}

void Watch::after_fork(bool in_child) noexcept {
  if (in_child) {
    started = false;  // threads do not survive a fork
    std::erase_if(threads, [](Watched* t) { return !pthread_equal(t->thread, pthread_self()); });
    for (Watched* t : threads) pthread_getcpuclockid(t->thread, &t->clock);
  }
  mutex.unlock();
}

}  // namespace

void keep_watch() {
  if (watch().started.load(std::memory_order_acquire)) return;
  const NoFork no_fork;  // starting a thread takes locks of the C library
  std::lock_guard lock(watch().mutex);
  if (watch().started.load(std::memory_order_relaxed)) return;
  start();
  watch().started.store(true, std::memory_order_release);
}

bool is_from_watchdog(const siginfo_t& info) noexcept {
  return info.si_signo == SIGBUS && info.si_code == SI_QUEUE && info.si_value.sival_ptr == &mark;
}

Watched::Watched() : thread(pthread_self()) {
  pthread_getcpuclockid(thread, &clock);
  std::lock_guard lock(watch().mutex);
  watch().threads.push_back(this);
}

Watched::~Watched() {
  std::lock_guard lock(watch().mutex);
  std::erase(watch().threads, this);
}

}  // namespace sinter::inline v1::runtime::vgpu

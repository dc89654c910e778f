#include "watchdog.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

namespace sinter::inline v1::runtime::vgpu {
namespace {

constexpr int period_us = 50'000;

struct Watch {
  std::mutex mutex;
  std::vector<Watched*> threads;
  std::atomic<bool> started{false};
};

Watch& watch() {
  static auto* w = new Watch;  // the watchdog's thread ends with the process
  return *w;
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
  } else if (cpu_time_ns(w.clock) - w.since_ns > limit && w.expired.exchange(block) != block) {
    ::pthread_kill(w.thread, SIGBUS);
  }
}

void run() {
  for (;;) {
    ::usleep(period_us);
    std::lock_guard lock(watch().mutex);
    for (Watched* w : watch().threads) check(*w);
  }
}

// Signals for the process are not for this thread.
void start() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(run).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void hold() { watch().mutex.lock(); }
void release() { watch().mutex.unlock(); }
void after_fork_in_child() {
  auto& w = watch();
  w.started = false;  // threads do not survive a fork
  std::erase_if(w.threads, [](Watched* t) { return !pthread_equal(t->thread, pthread_self()); });
  for (Watched* t : w.threads) pthread_getcpuclockid(t->thread, &t->clock);
  w.mutex.unlock();
}

}  // namespace

void keep_watch() {
  if (watch().started.load(std::memory_order_acquire)) return;
  static const int registered = pthread_atfork(hold, release, after_fork_in_child);
  static_cast<void>(registered);
  std::lock_guard lock(watch().mutex);
  if (!watch().started.exchange(true)) start();
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

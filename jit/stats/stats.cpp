#include "stats.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>
#include <vector>

#include <runtime/fork.hpp>
#include <sinter/jit/stats.hpp>

namespace sinter::inline v1::jit {
namespace {

struct Registry {
  std::mutex mutex;
  std::vector<const ThreadStats*> threads;
  JitStats ended{};  // sums of threads that have ended
};

/// Threads may end after main.
Registry& registry() {
  static constinit runtime::NoDestructor<Registry> r;
  return r.get();
}

void add(JitStats& sum, const ThreadStats& t) noexcept {
  sum.compiles += t.compiles.load(std::memory_order_relaxed);
  sum.disk_hits += t.disk_hits.load(std::memory_order_relaxed);
  sum.memory_hits += t.memory_hits.load(std::memory_order_relaxed);
  sum.plans += t.plans.load(std::memory_order_relaxed);
  sum.launches += t.launches.load(std::memory_order_relaxed);
  sum.compile_milliseconds += 1e-6 * static_cast<double>(t.compile_ns.load(std::memory_order_relaxed));
}

}  // namespace

/// If there is no memory to register it, this thread is not counted.
ThreadStats::ThreadStats() {
  try {
    const runtime::ForkSafeLock lock(registry().mutex, std::nothrow);
    registry().threads.push_back(this);
  } catch (const std::bad_alloc&) {
  }
}

ThreadStats::~ThreadStats() {
  const runtime::ForkSafeLock lock(registry().mutex, std::nothrow);
  add(registry().ended, *this);
  std::erase(registry().threads, this);
}

ThreadStats& shared_stats() noexcept {
  alignas(ThreadStats) static std::byte memory[sizeof(ThreadStats)];
  static ThreadStats* const shared = new (memory) ThreadStats;  // never destroyed
  return *shared;
}

JitStats counted() {
  Registry& r = registry();
  const runtime::ForkSafeLock lock(r.mutex, std::nothrow);
  JitStats sum = r.ended;
  for (const ThreadStats* t : r.threads) add(sum, *t);
  return sum;
}

}  // namespace sinter::inline v1::jit

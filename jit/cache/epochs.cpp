#include "epochs.hpp"

#include <pthread.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <runtime/fork.hpp>
#include <runtime/never_destroy.hpp>

namespace sinter::inline v1::jit {
namespace {

struct Waiting {
  std::uint64_t epoch;  // EpochGuards that began before it may be using the object
  std::shared_ptr<const void> object;
};

struct Readers {
  struct ThreadReader {
    const EpochReader* reader;
    pthread_t thread;
  };
  std::mutex mutex;
  std::vector<ThreadReader> all;
  std::vector<Waiting> waiting;
  runtime::ForkHandler fork_handler{*this};

  void before_fork() noexcept {}
  /// The parent's other threads do not exist in the child.
  void after_fork(bool in_child) noexcept {
    if (in_child) std::erase_if(all, [](const ThreadReader& k) { return !pthread_equal(k.thread, pthread_self()); });
  }
};

/// Threads may end after main.
constinit runtime::NoDestructor<Readers> readers;

}  // namespace

constinit std::atomic<std::uint64_t> EpochGuard::epoch_{1};
constinit std::atomic<std::uint64_t> EpochGuard::awaited_{0};

EpochReader::EpochReader() {
  Readers& r = readers.get();
  const runtime::ForkSafeLock lock(r.mutex, std::nothrow);
  r.all.push_back({this, pthread_self()});
}

EpochReader::~EpochReader() {
  Readers& r = readers.get();
  const runtime::ForkSafeLock lock(r.mutex, std::nothrow);
  std::erase_if(r.all, [this](const Readers::ThreadReader& k) { return k.reader == this; });
}

void retire(std::shared_ptr<const void> object) noexcept {
  Readers& r = readers.get();
  try {
    const runtime::ForkSafeLock lock(r.mutex, std::nothrow);
    Waiting& added = r.waiting.emplace_back();
    added.epoch = EpochGuard::epoch_.fetch_add(1, std::memory_order_acq_rel) + 1;
    added.object = std::move(object);
    EpochGuard::awaited_.store(added.epoch, std::memory_order_relaxed);
  } catch (...) {  // out of memory: it is never destroyed
    runtime::never_destroy(std::move(object));
  }
  reclaim();
}

void reclaim() noexcept try {
  Readers& r = readers.get();
  std::vector<Waiting> destroyed;  // after the lock is released
  const runtime::ForkSafeLock lock(r.mutex, std::nothrow);
  destroyed.reserve(r.waiting.size());
  if (!runtime::fence_all_threads()) return;  // next time
  std::uint64_t oldest = std::numeric_limits<std::uint64_t>::max();
  for (const Readers::ThreadReader& k : r.all)
    if (const std::uint64_t since = k.reader->since.load(std::memory_order_seq_cst)) oldest = std::min(oldest, since);
  const auto first =
      std::ranges::find_if(r.waiting, [&](const Waiting& w) { return w.epoch > oldest; });  // sorted by epoch
  std::move(r.waiting.begin(), first, std::back_inserter(destroyed));
  r.waiting.erase(r.waiting.begin(), first);
  if (r.waiting.empty()) EpochGuard::awaited_.store(0, std::memory_order_relaxed);
} catch (...) {  // out of memory: next time
}

}  // namespace sinter::inline v1::jit

#include "kernel_cache.hpp"

#include <xxhash.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <sinter/runtime/fork.hpp>
#include "compile.hpp"
#include "disk_cache.hpp"

namespace sinter::inline v1::jit {
namespace {

/// One attempt to get a binary, which some threads wait for.
struct Attempt {
  bool ended = false;
  std::exception_ptr error;
};

/// What happens to a slot. A child of a fork tries for itself what its parent was at.
struct Progress {
  std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<Attempt> attempt;  // in progress; null when there is none
};

struct Slot {
  Slot(std::string t, std::string x) : target(std::move(t)), text(std::move(x)) {}
  const std::string target, text;  // the whole key
  std::atomic<const std::string*> binary{nullptr};
  runtime::PerProcess<Progress> progress;
};

struct Slots {
  std::mutex mutex;
  std::unordered_multimap<XXH64_hash_t, Slot*> found;
  std::deque<Slot> all;
};

/// Kernels may run while the process ends.
constinit runtime::Immortal<Slots> slots;

std::atomic<int> waiting{0};

Slot& slot_for(const std::string& target, const std::string& text) {
  const XXH64_hash_t hash = XXH3_64bits_withSeed(text.data(), text.size(), XXH3_64bits(target.data(), target.size()));
  Slots& s = slots.get();
  const runtime::ForkSafeLock lock(s.mutex);
  const auto [first, last] = s.found.equal_range(hash);
  if (cache_mode() != CacheMode::Off)
    for (auto i = first; i != last; ++i)
      if (i->second->target == target && i->second->text == text) return *i->second;
  Slot& slot = s.all.emplace_back(target, text);
  s.found.emplace(hash, &slot);
  return slot;
}

void wait_for(const std::shared_ptr<Attempt>& attempt, Progress& progress, std::unique_lock<std::mutex>& lock) {
  ++waiting;
  progress.changed.wait(lock, [&] { return attempt->ended; });
  --waiting;
  if (attempt->error) std::rethrow_exception(attempt->error);
}

void end(Attempt& attempt, Progress& progress, std::exception_ptr error) {
  const std::lock_guard lock(progress.mutex);
  progress.attempt = nullptr;
  attempt.error = std::move(error);
  attempt.ended = true;
  progress.changed.notify_all();
}

}  // namespace

CompiledKernel compiled(const runtime::KernelSource& source, runtime::GpuBackend& device) {
  const std::string target = device.binary_tag();
  Slot& slot = slot_for(target, source.text);
  Progress& progress = slot.progress.get();
  std::unique_lock lock(progress.mutex);
  if (progress.attempt) wait_for(std::shared_ptr(progress.attempt), progress, lock);
  if (const std::string* ready = slot.binary.load(std::memory_order_acquire)) return {*ready, KernelOrigin::Memory};
  const auto mine = std::make_shared<Attempt>();
  progress.attempt = mine;
  lock.unlock();
  try {
    Binary made = find_or_compile({target, source.name, source.text}, device);
    const auto* binary = new std::string(std::move(made.bytes));
    slot.binary.store(binary, std::memory_order_release);
    end(*mine, progress, nullptr);
    return {*binary, made.origin};
  } catch (...) {
    end(*mine, progress, std::current_exception());
    throw;
  }
}

int threads_waiting() noexcept { return waiting.load(); }

}  // namespace sinter::inline v1::jit

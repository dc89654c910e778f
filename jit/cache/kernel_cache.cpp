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
#include <vector>

#include <runtime/fork.hpp>
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

struct CacheSlot {
  CacheSlot(std::string t, std::string x) : target(std::move(t)), text(std::move(x)) {}
  const std::string target, text;  // the whole key
  std::atomic<const Binary*> binary{nullptr};
  std::vector<std::unique_ptr<const Binary>> refused;  // did not load, and may still be looked at
  runtime::PerProcess<Progress> progress;
};

struct Slots {
  std::mutex mutex;
  std::unordered_multimap<XXH64_hash_t, CacheSlot*> found;
  std::deque<CacheSlot> all;
};

/// Kernels may run while the process ends.
constinit runtime::Immortal<Slots> slots;

std::atomic<int> waiting{0};

CacheSlot& slot_for(const std::string& target, const std::string& text) {
  const XXH64_hash_t hash = XXH3_64bits_withSeed(text.data(), text.size(), XXH3_64bits(target.data(), target.size()));
  Slots& s = slots.get();
  const runtime::ForkSafeLock lock(s.mutex);
  const auto [first, last] = s.found.equal_range(hash);
  if (cache_mode() != CacheMode::Off)
    for (auto i = first; i != last; ++i)
      if (i->second->target == target && i->second->text == text) return *i->second;
  CacheSlot& slot = s.all.emplace_back(target, text);
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

/// A binary of a slot, and where the caller has it from.
struct Found {
  CacheSlot* slot;
  const Binary* binary;
  KernelOrigin origin;
};

/// What `get` gives, or another thread's attempt for the same slot. `refused`: a binary that is of no use, or null.
template <class Get>
Found attempt(CacheSlot& slot, const Binary* refused, Get get) {
  Progress& progress = slot.progress.get();
  std::unique_lock lock(progress.mutex);
  while (progress.attempt) wait_for(std::shared_ptr(progress.attempt), progress, lock);
  const Binary* const ready = slot.binary.load(std::memory_order_acquire);
  if (ready && ready != refused) return {&slot, ready, KernelOrigin::Memory};
  const auto mine = std::make_shared<Attempt>();
  progress.attempt = mine;
  if (ready) slot.refused.emplace_back(slot.binary.exchange(nullptr));
  lock.unlock();
  try {
    const Binary* const made = new Binary(get());
    slot.binary.store(made, std::memory_order_release);
    end(*mine, progress, nullptr);
    return {&slot, made, made->origin};
  } catch (...) {
    end(*mine, progress, std::current_exception());
    throw;
  }
}

Found find(const KernelKey& key, runtime::GpuBackend& device) {
  return attempt(slot_for(key.target, key.text), nullptr, [&] { return find_or_compile(key, device); });
}

Found replace(const Found& refused, const KernelKey& key, runtime::GpuBackend& device) {
  return attempt(*refused.slot, refused.binary, [&] { return compile_again(key, device); });
}

}  // namespace

CompiledKernel compiled(const runtime::KernelSource& source, runtime::GpuBackend& device) {
  const Found found = find({device.binary_tag(), source.name, source.text}, device);
  return {found.binary->bytes, found.origin};
}

LoadedKernel load_kernel(const runtime::KernelSource& source, runtime::GpuBackend& device) {
  const KernelKey key{device.binary_tag(), source.name, source.text};
  const Found found = find(key, device);
  try {
    return {device.load(found.binary->bytes, source.name), found.origin};
  } catch (const runtime::BinaryRefused&) {
    if (found.binary->origin != KernelOrigin::Disk) throw;
  }
  const Found fresh = replace(found, key, device);
  return {device.load(fresh.binary->bytes, source.name), fresh.origin};
}

int threads_waiting() noexcept { return waiting.load(); }

}  // namespace sinter::inline v1::jit

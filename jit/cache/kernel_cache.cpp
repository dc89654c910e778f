#include "kernel_cache.hpp"

#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <runtime/fork.hpp>
#include <runtime/trace/span.hpp>
#include "cache_settings.hpp"
#include "compile.hpp"
#include "disk_cache.hpp"

namespace sinter::inline v1::jit {
namespace {

/// One attempt to obtain a binary, which other threads may wait for.
struct Attempt {
  bool ended = false;
  std::exception_ptr error;
};

/// Work in progress on a slot. After a fork, the child starts its parent's unfinished work anew.
struct Progress {
  std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<Attempt> attempt;  // in progress; null when there is none
};

/// A kernel that is loaded on one target.
struct OnTarget {
  std::uint64_t target;  // KernelTarget::serial
  runtime::KernelHandle function;
  std::shared_ptr<ReadyKernel> ready;
};

struct CacheEntry {
  CacheEntry(std::string t, std::string x) : target(std::move(t)), text(std::move(x)) {}
  CacheEntry(const CacheEntry&) = delete;
  CacheEntry& operator=(const CacheEntry&) = delete;
  ~CacheEntry() { delete binary.load(std::memory_order_acquire); }

  std::size_t size() const noexcept {
    const KernelBinary* const b = binary.load(std::memory_order_acquire);
    return target.size() + text.size() + (b ? b->bytes.size() * (1 + loaded.size()) : 0);
  }
  std::uint64_t last_use() const noexcept {
    std::uint64_t last = last_asked;
    for (const OnTarget& l : loaded) last = std::max(last, l.ready->last_use());
    return last;
  }

  const std::string target, text;  // the whole key
  std::atomic<const KernelBinary*> binary{nullptr};
  std::vector<std::unique_ptr<const KernelBinary>> refused;  // did not load, but may still be read
  runtime::ForkLocal<Progress> progress;
  // Under the lock of all slots:
  std::vector<OnTarget> loaded;
  std::size_t counted = 0;  // its bytes that Slots::bytes includes
  std::uint64_t last_asked = 0;
};
using SlotRef = std::shared_ptr<CacheEntry>;

struct Slots {
  std::mutex mutex;
  std::unordered_multimap<XXH64_hash_t, SlotRef> found;  // a slot that is referenced elsewhere is in use
  std::uint64_t loaded = 0, bytes = 0, evicted = 0;
  std::uint64_t max_bytes = max_kernel_bytes();

  void count(CacheEntry& slot) noexcept {
    bytes -= std::exchange(slot.counted, slot.size());
    bytes += slot.counted;
  }
};

/// Kernels may run while the process exits.
constinit runtime::NoDestructor<Slots> slots;

std::atomic<int> waiting{0};

using Evicted = std::shared_ptr<std::vector<SlotRef>>;

/// Removes slots that are not in use, the least recently used first, until the others take at most `most` bytes.
Evicted evict(Slots& s, std::uint64_t most) {
  using Place = decltype(s.found)::iterator;
  std::vector<std::pair<std::uint64_t, Place>> idle;
  for (Place i = s.found.begin(); i != s.found.end(); ++i)
    if (i->second.use_count() == 1) idle.emplace_back(i->second->last_use(), i);
  std::ranges::sort(idle, {}, [](const auto& p) { return p.first; });
  const auto evicted = std::make_shared<std::vector<SlotRef>>();
  evicted->reserve(idle.size());  // before anything is removed
  for (const auto& [last_use, place] : idle) {
    if (s.bytes <= most) break;
    CacheEntry& slot = *evicted->emplace_back(std::move(place->second));
    s.found.erase(place);
    s.bytes -= slot.counted;
    s.loaded -= slot.loaded.size();
    s.evicted += slot.loaded.size();
    for (OnTarget& l : slot.loaded) l.ready->evict();
  }
  return evicted;
}

/// Another thread may be about to launch one of the functions.
void unload_unread(Evicted evicted) noexcept {
  if (evicted && !evicted->empty()) retire(std::move(evicted));
}

/// Updates a slot's size and evicts others if necessary, an eighth more than needed, since a search is slow.
void keep_within_bound(CacheEntry& slot) {
  Evicted evicted;
  try {
    Slots& s = slots.get();
    const runtime::ForkSafeLock lock(s.mutex);
    slot.last_asked = kernel_clock.load(std::memory_order_relaxed);
    s.count(slot);
    if (s.bytes > s.max_bytes) evicted = evict(s, s.max_bytes - s.max_bytes / 8);
  } catch (const std::bad_alloc&) {  // the next call makes room
  }
  unload_unread(std::move(evicted));
}

SlotRef slot_for(const std::string& target, const std::string& text) {
  const XXH64_hash_t hash = XXH3_64bits_withSeed(text.data(), text.size(), XXH3_64bits(target.data(), target.size()));
  SlotRef made;
  {
    Slots& s = slots.get();
    const runtime::ForkSafeLock lock(s.mutex);
    const auto [first, last] = s.found.equal_range(hash);
    if (cache_mode() != CacheMode::Off)
      for (auto i = first; i != last; ++i)
        if (i->second->target == target && i->second->text == text) return i->second;
    made = s.found.emplace(hash, std::make_shared<CacheEntry>(target, text))->second;
  }
  keep_within_bound(*made);  // its text counts even if compilation fails
  return made;
}

void wait_for(const std::shared_ptr<Attempt>& attempt, Progress& progress, std::unique_lock<std::mutex>& lock) {
  const runtime::TraceSpan span(runtime::TraceCategory::Wait, "wait for another thread's kernel");
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

/// A binary of a slot, and where it came from.
struct Found {
  SlotRef slot;
  const KernelBinary* binary;
  KernelOrigin origin;
};

/// The result of `get`, or of another thread's attempt for the same slot. `refused`: a binary that did not load, or
/// null.
template <class Get>
Found attempt(const SlotRef& slot, const KernelBinary* refused, Get get) {
  Progress& progress = slot->progress.get();
  std::unique_lock lock(progress.mutex);
  while (progress.attempt) wait_for(std::shared_ptr(progress.attempt), progress, lock);
  const KernelBinary* const ready = slot->binary.load(std::memory_order_acquire);
  if (ready && ready != refused) return {slot, ready, KernelOrigin::Memory};
  const auto mine = std::make_shared<Attempt>();
  if (ready) slot->refused.reserve(slot->refused.size() + 1);
  progress.attempt = mine;  // from here on every path ends it
  if (ready) slot->refused.emplace_back(slot->binary.exchange(nullptr));
  lock.unlock();
  try {
    const KernelBinary* const made = new KernelBinary(get());
    slot->binary.store(made, std::memory_order_release);
    end(*mine, progress, nullptr);
    return {slot, made, made->origin};
  } catch (...) {
    end(*mine, progress, std::current_exception());
    throw;
  }
}

Found find(const SlotRef& slot, const KernelKey& key, runtime::KernelTarget& target) {
  return attempt(slot, nullptr, [&] { return find_or_compile(key, target); });
}

Found replace(const Found& refused, const KernelKey& key, runtime::KernelTarget& target) {
  return attempt(refused.slot, refused.binary, [&] { return compile_again(key, target); });
}

const OnTarget* on_target(const CacheEntry& slot, const runtime::KernelTarget& target) noexcept {
  const auto found = std::ranges::find(slot.loaded, target.serial(), &OnTarget::target);
  return found == slot.loaded.end() ? nullptr : &*found;
}

/// A function that another expression or thread loaded. The caller holds the slot, so it is not evicted.
std::optional<LoadedKernel> find_loaded(const CacheEntry& slot, const runtime::KernelTarget& target) {
  const runtime::ForkSafeLock lock(slots.get().mutex);
  const OnTarget* const known = on_target(slot, target);
  if (!known) return std::nullopt;
  known->ready->touch();
  return LoadedKernel{known->function, known->ready, KernelOrigin::Memory};
}

LoadedKernel keep(CacheEntry& slot, runtime::KernelHandle function, KernelOrigin origin,
                  runtime::KernelTarget& target) {
  kernel_clock.fetch_add(1, std::memory_order_relaxed);
  const auto fresh = std::make_shared<ReadyKernel>(function.handle());
  runtime::KernelHandle spare;  // unloaded without the lock
  LoadedKernel kept{std::move(function), fresh, origin};
  {
    Slots& s = slots.get();
    const runtime::ForkSafeLock lock(s.mutex);
    if (const OnTarget* const known = on_target(slot, target)) {  // another thread was faster
      kept.ready = known->ready;
      spare = std::exchange(kept.function, known->function);
    } else {
      slot.loaded.push_back({target.serial(), kept.function, fresh});
      ++s.loaded;
    }
  }
  keep_within_bound(slot);
  return kept;
}

}  // namespace

constinit std::atomic<std::uint64_t> kernel_clock{1};

CompiledKernel compiled(const runtime::KernelSource& source, runtime::KernelTarget& target) {
  const KernelKey key{target.binary_tag(), source.name, source.text};
  const Found found = find(slot_for(key.target, key.text), key, target);
  CompiledKernel result{found.binary->bytes, found.origin};
  keep_within_bound(*found.slot);
  return result;
}

LoadedKernel load_kernel(const runtime::KernelSource& source, runtime::KernelTarget& target) {
  const KernelKey key{target.binary_tag(), source.name, source.text};
  const SlotRef slot = slot_for(key.target, key.text);
  if (std::optional<LoadedKernel> known = find_loaded(*slot, target)) return *std::move(known);
  const Found found = find(slot, key, target);
  try {
    return keep(*slot, target.load(found.binary->bytes, source.name), found.origin, target);
  } catch (const runtime::BinaryRefused&) {
    if (found.binary->origin != KernelOrigin::Disk) throw;
  }
  const Found fresh = replace(found, key, target);
  return keep(*slot, target.load(fresh.binary->bytes, source.name), fresh.origin, target);
}

KernelFigures kernel_figures() noexcept {
  Slots& s = slots.get();
  const runtime::ForkSafeLock lock(s.mutex, std::nothrow);
  return {s.loaded, s.bytes, s.evicted};
}

void evict_kernels() {
  Evicted evicted;
  {
    Slots& s = slots.get();
    const runtime::ForkSafeLock lock(s.mutex);
    evicted = evict(s, 0);
  }
  unload_unread(std::move(evicted));
}

void set_most_kernel_bytes(std::uint64_t bytes) noexcept {
  Slots& s = slots.get();
  const runtime::ForkSafeLock lock(s.mutex, std::nothrow);
  s.max_bytes = bytes;
}

int threads_waiting() noexcept { return waiting.load(); }

}  // namespace sinter::inline v1::jit

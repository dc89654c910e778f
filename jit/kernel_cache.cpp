#include "kernel_cache.hpp"

#include <xxhash.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "compile.hpp"
#include "disk_cache.hpp"

namespace sinter::inline v1::jit {
namespace {

/// One attempt to get a binary, which some threads wait for.
struct Attempt {
  bool ended = false;
  std::exception_ptr error;
};

struct Slot {
  Slot(std::string t, std::string x) : target(std::move(t)), text(std::move(x)) {}
  const std::string target, text;  // the whole key
  std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<Attempt> attempt;  // in progress; null when there is none
  bool ready = false;
  std::deque<Binary> binaries;  // the last one counts once ready; those before did not load, and may still be looked at
};

struct Slots {
  std::mutex mutex;
  std::unordered_multimap<XXH64_hash_t, Slot*> found;
  std::deque<Slot> all;
};

/// Never destroyed: kernels may run while the process ends.
Slots& slots() {
  static Slots& s = *new Slots;
  return s;
}

std::atomic<int> waiting{0};

Slot& slot_for(const std::string& target, const std::string& text) {
  const XXH64_hash_t hash = XXH3_64bits_withSeed(text.data(), text.size(), XXH3_64bits(target.data(), target.size()));
  Slots& s = slots();
  const std::lock_guard lock(s.mutex);
  const auto [first, last] = s.found.equal_range(hash);
  if (cache_mode() != CacheMode::Off)
    for (auto i = first; i != last; ++i)
      if (i->second->target == target && i->second->text == text) return *i->second;
  Slot& slot = s.all.emplace_back(target, text);
  s.found.emplace(hash, &slot);
  return slot;
}

void wait_for(const std::shared_ptr<Attempt>& attempt, Slot& slot, std::unique_lock<std::mutex>& lock) {
  ++waiting;
  slot.changed.wait(lock, [&] { return attempt->ended; });
  --waiting;
  if (attempt->error) std::rethrow_exception(attempt->error);
}

void end(Attempt& attempt, Slot& slot, std::exception_ptr error) {
  const std::lock_guard lock(slot.mutex);
  slot.ready = !error;
  slot.attempt = nullptr;
  attempt.error = std::move(error);
  attempt.ended = true;
  slot.changed.notify_all();
}

/// A binary of a slot, and where the caller has it from.
struct Found {
  Slot* slot;
  const Binary* binary;
  KernelOrigin origin;
};

/// What `get` gives, or another thread's attempt for the same slot. `refused`: a binary that is of no use, or null.
template <class Get>
Found attempt(Slot& slot, const Binary* refused, Get get) {
  std::unique_lock lock(slot.mutex);
  while (!slot.ready && slot.attempt) wait_for(std::shared_ptr(slot.attempt), slot, lock);
  if (slot.ready && &slot.binaries.back() != refused) return {&slot, &slot.binaries.back(), KernelOrigin::Memory};
  const auto mine = std::make_shared<Attempt>();
  slot.attempt = mine;
  slot.ready = false;
  lock.unlock();
  try {
    const Binary& made = slot.binaries.emplace_back(get());
    end(*mine, slot, nullptr);
    return {&slot, &made, made.origin};
  } catch (...) {
    end(*mine, slot, std::current_exception());
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

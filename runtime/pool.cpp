#include "pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include <sinter/runtime/error.hpp>

#include "address_sanitizer.hpp"
#include "log.hpp"
#include "out_of_memory.hpp"
#include "streams.hpp"
#include "text.hpp"

namespace sinter::inline v1::runtime {
namespace {

// Classes 0 to 7 are 256 to 2048 bytes in steps of 256; then eight classes per doubling, up to 2^47 bytes.
constexpr int smallest_log2 = 11;
constexpr int largest_log2 = 47;
constexpr int class_count = 8 * (1 + largest_log2 - smallest_log2);

/// The class of a request; class_count or more if it is too large.
constexpr int class_of(std::size_t bytes) noexcept {
  const int log2 = std::max(static_cast<int>(std::bit_width(bytes - 1)) - 1, smallest_log2 - 1);
  if (log2 >= largest_log2) return class_count;
  const int step = bytes <= 2048 ? 8 : log2 - 3;
  const int doubling = bytes <= 2048 ? 0 : log2 - smallest_log2;
  return 8 * doubling + static_cast<int>((bytes - 1) >> step);
}

constexpr std::size_t size_of_class(int c) noexcept {
  return c < 8 ? std::size_t(c + 1) << 8 : std::size_t(c % 8 + 9) << (c / 8 - 1 + smallest_log2 - 3);
}

static_assert(class_of(1) == 0 && class_of(256) == 0 && class_of(257) == 1 && class_of(2048) == 7);
static_assert(class_of(2049) == 8 && size_of_class(8) == 2304 && size_of_class(15) == 4096);
static_assert(class_of(std::size_t(1) << largest_log2) == class_count - 1);
static_assert(size_of_class(class_count - 1) == std::size_t(1) << largest_log2);

/// Makes a stream wait for a fence if it can: not without streams, since the host should not wait, nor during a
/// capture. Otherwise returns whether the fence is done.
bool pass(const std::vector<EventRef>& fence, StreamImpl* stream) {
  if (!stream || stream->owner.is_capturing(*stream))
    return std::ranges::all_of(fence, [](const EventRef& e) { return e->owner.is_done(*e); });
  for (const EventRef& e : fence) wait_for(*stream, *e);
  return true;
}

}  // namespace

Pool::Pool(MemorySource& source, Device device, Memory memory, std::size_t cache_limit)
    : source_(source),
      device_(device),
      memory_(memory),
      cache_limit_(cache_limit),
      bins_(std::make_unique<Bin[]>(class_count)) {
  static_assert(size_of_class(stripe_classes - 1) == 64 << 10);
  if (memory == Memory::Host && cache_limit >= 16 * stripe_count * stripe_bytes)
    stripes_ = std::make_unique<Stripe[]>(stripe_count);
}

Pool::~Pool() { trim(); }

/// A class that a thread of the parent was changing is reset; the few blocks cached in it are lost.
void Pool::after_fork(bool in_child) noexcept {
  if (!in_child) return;
  for (int c = 0; c < class_count; ++c) {
    Bin& bin = bins_[c];
    if (bin.mutex.try_lock()) {
      bin.mutex.unlock();
      continue;
    }
    const std::size_t live = bin.live, requests = bin.requests;
    Bin* const fresh = new (&bin) Bin;  // the old one may be in any state and is not destroyed
    fresh->live = live;
    fresh->requests = requests;
  }
  for (unsigned k = 0; stripes_ && k < stripe_count; ++k) {
    Stripe& stripe = stripes_[k];
    if (stripe.mutex.try_lock()) {
      stripe.mutex.unlock();
      continue;
    }
    in_use_.fetch_sub(stripe.cached.load(std::memory_order_relaxed), std::memory_order_relaxed);
    const std::int64_t in_use = stripe.in_use, live = stripe.live;
    const std::size_t requests = stripe.requests;
    Stripe* const fresh = new (&stripe) Stripe;
    fresh->in_use = in_use;
    fresh->live = live;
    fresh->requests = requests;
  }
}

std::size_t Pool::rounded(std::size_t bytes) noexcept {
  const int c = class_of(bytes);
  return c < class_count ? size_of_class(c) : 0;
}

void* Pool::allocate(std::size_t bytes, StreamImpl* stream) {
  const int c = class_of(bytes);
  if (c >= class_count) throw_out_of_memory(bytes, 0);
  const std::size_t size = size_of_class(c);
  void* data = has_stripe(c) ? take_from_stripe(c, size) : nullptr;
  if (!data) {
    data = take(bins_[c], stream);
    if (!data) {
      data = acquire(size, bytes, stream);
      const std::lock_guard lock(bins_[c].mutex);
      ++bins_[c].live;
      ++bins_[c].requests;
    }
    count_use(size);
  }
  if (memory_ == Memory::Host) {
    ASAN_POISON_MEMORY_REGION(data, size);  // accesses to the rest of the block are errors
    ASAN_UNPOISON_MEMORY_REGION(data, bytes);
  }
  return data;
}

void Pool::count_use(std::size_t size) noexcept {
  in_use_.fetch_add(size, std::memory_order_relaxed);
  raise_peak();
}

/// Exact as long as no other stripe has blocks; these count as in use.
void Pool::raise_peak() noexcept {
  std::size_t now = in_use_.load(std::memory_order_relaxed);
  std::size_t peak = peak_.load(std::memory_order_relaxed);
  if (now <= peak) return;
  if (stripes_) now -= std::min(now, stripes_[this_stripe()].cached.load(std::memory_order_relaxed));
  while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

void Pool::deallocate(void* data, std::size_t bytes, StreamImpl* stream, Fence&& fence) noexcept {
  const int c = class_of(bytes);
  const std::size_t size = size_of_class(c);
  if (memory_ == Memory::Host) ASAN_POISON_MEMORY_REGION(data, size);
  if (has_stripe(c) && !stream && !fence && keep_in_stripe(c, size, data)) return;
  const std::size_t in_use = in_use_.fetch_sub(size, std::memory_order_relaxed) - size;
  if (size <= cache_limit_) {
    // Beyond the limit, everything cached is freed: blocks of unused sizes would otherwise stay forever.
    if (held_.load(std::memory_order_relaxed) - in_use > cache_limit_) trim();
    if (keep(bins_[c], data, stream, fence)) return;
  }
  release(c, data, stream, std::move(fence));
}

/// Returns a block that was in use to the source.
void Pool::release(int c, void* data, StreamImpl* stream, Fence&& fence) noexcept {
  {
    const std::lock_guard lock(bins_[c].mutex);
    --bins_[c].live;
  }
  const std::size_t size = size_of_class(c);
  if (memory_ == Memory::Host) ASAN_UNPOISON_MEMORY_REGION(data, size);
  held_.fetch_sub(size, std::memory_order_relaxed);
  source_.release(data, size, stream, std::move(fence));
}

void* Pool::take_from_stripe(int c, std::size_t size) noexcept {
  Stripe& stripe = stripes_[this_stripe()];
  void* data = nullptr;
  {
    const std::lock_guard lock(stripe.mutex);
    if (stripe.counts[c] == 0) return nullptr;
    data = stripe.blocks[c][--stripe.counts[c]];
    stripe.cached.store(stripe.cached.load(std::memory_order_relaxed) - size, std::memory_order_relaxed);
    stripe.in_use += static_cast<std::int64_t>(size);
    ++stripe.live;
    ++stripe.requests;
  }
  raise_peak();
  return data;
}

/// A stripe that is full of other sizes, which its threads may never use again, is emptied.
bool Pool::keep_in_stripe(int c, std::size_t size, void* data) noexcept {
  Stripe& stripe = stripes_[this_stripe()];
  if (stripe.cached.load(std::memory_order_relaxed) + size > stripe_bytes) empty_stripe(stripe);
  const std::lock_guard lock(stripe.mutex);
  const std::size_t cached = stripe.cached.load(std::memory_order_relaxed) + size;
  if (stripe.counts[c] == stripe_blocks || cached > stripe_bytes) return false;
  stripe.blocks[c][stripe.counts[c]++] = data;
  stripe.cached.store(cached, std::memory_order_relaxed);
  stripe.in_use -= static_cast<std::int64_t>(size);
  --stripe.live;
  return true;
}

/// Calls f(class, block) for all blocks of a stripe, without its lock.
template <class F>
std::size_t Pool::take_all(Stripe& stripe, F f) noexcept {
  void* blocks[stripe_classes][stripe_blocks];
  std::uint8_t counts[stripe_classes];
  std::size_t cached = 0;
  {
    const std::lock_guard lock(stripe.mutex);
    std::memcpy(blocks, stripe.blocks, sizeof blocks);
    std::memcpy(counts, stripe.counts, sizeof counts);
    std::memset(stripe.counts, 0, sizeof stripe.counts);
    cached = stripe.cached.load(std::memory_order_relaxed);
    in_use_.fetch_sub(cached, std::memory_order_relaxed);
    stripe.cached.store(0, std::memory_order_relaxed);
  }
  for (int c = 0; c < stripe_classes; ++c)
    for (int k = 0; k < counts[c]; ++k) f(c, blocks[c][k]);
  return cached;
}

/// The bins take the stripe's blocks.
void Pool::empty_stripe(Stripe& stripe) noexcept {
  take_all(stripe, [&](int c, void* data) {
    Fence none;
    const std::size_t size = size_of_class(c);
    {
      const std::lock_guard lock(stripe.mutex);
      stripe.in_use += static_cast<std::int64_t>(size);  // as the bin counts it as returned
      ++stripe.live;
    }
    if (!keep(bins_[c], data, nullptr, none)) release(c, data, nullptr, std::move(none));
  });
}

void* Pool::take(Bin& bin, StreamImpl* stream) {
  const std::lock_guard lock(bin.mutex);
  std::vector<Block>* blocks = bin.find(stream);
  if (!blocks || blocks->empty()) return nullptr;
  void* data = blocks->back().data;
  if (!blocks->back().fence) [[likely]]
    blocks->pop_back();
  else if (data = take_fenced(*blocks, stream); !data)
    return nullptr;
  ++bin.live;
  ++bin.requests;
  return data;
}

/// The first block that no other stream used, else the one whose other users have had the most time; null if the stream
/// cannot wait for them.
void* Pool::take_fenced(std::vector<Block>& blocks, StreamImpl* stream) {
  auto block = std::ranges::find_if(blocks, [](const Block& b) { return !b.fence; });
  if (block == blocks.end()) {
    block = blocks.begin();
    if (!pass(*block->fence, stream)) return nullptr;
  }
  void* data = block->data;
  blocks.erase(block);
  return data;
}

bool Pool::keep(Bin& bin, void* data, StreamImpl* stream, Fence& fence) noexcept {
  const std::lock_guard lock(bin.mutex);
  try {
    std::vector<Block>* blocks = bin.find(stream);
    if (!blocks) [[unlikely]]
      blocks = &bin.lists.emplace_back(List{stream, {}}).blocks;
    if (blocks->size() == blocks->capacity())
      blocks->reserve(2 * blocks->size() + 8);  // may throw: before the fence is moved
    blocks->push_back({data, std::move(fence)});
  } catch (...) {
    return false;
  }
  --bin.live;
  return true;
}

void* Pool::acquire(std::size_t size, std::size_t bytes, StreamImpl* stream) {
  void* data = source_.acquire(size, stream);
  if (!data) {
    const std::size_t returned = trim();
    source_.synchronize();
    data = source_.acquire(size, stream);
    if (!data) throw_out_of_memory(bytes, returned);
  }
  held_.fetch_add(size, std::memory_order_relaxed);
  acquired_.fetch_add(1, std::memory_order_relaxed);
  if (logs(Log::Memory))
    log(Log::Memory, fmt::format("{}: {} allocated from the device", to_string(device_), format_bytes(size)));
  return data;
}

void Pool::log_trimmed(std::size_t bytes) const noexcept try {
  log(Log::Memory, fmt::format("{}: {} of cached memory returned", to_string(device_), format_bytes(bytes)));
} catch (...) {  // out of memory: the line is not logged
}

std::size_t Pool::trim() noexcept {
  const std::size_t returned = trim_stripes() + trim_bins();
  if (returned && logs(Log::Memory)) log_trimmed(returned);
  return returned;
}

std::size_t Pool::trim_stripes() noexcept {
  std::size_t returned = 0;
  for (unsigned k = 0; stripes_ && k < stripe_count; ++k)
    returned += take_all(stripes_[k], [&](int c, void* data) {
      const std::size_t size = size_of_class(c);
      ASAN_UNPOISON_MEMORY_REGION(data, size);
      held_.fetch_sub(size, std::memory_order_relaxed);
      source_.release(data, size, nullptr, {});
    });
  return returned;
}

std::size_t Pool::trim_bins() noexcept {
  std::size_t returned = 0;
  for (int c = 0; c < class_count; ++c) {
    std::vector<List> lists;
    {
      const std::lock_guard lock(bins_[c].mutex);
      lists.swap(bins_[c].lists);
    }
    const std::size_t size = size_of_class(c);
    for (List& list : lists)
      for (Block& block : list.blocks) {
        if (memory_ == Memory::Host) ASAN_UNPOISON_MEMORY_REGION(block.data, size);
        held_.fetch_sub(size, std::memory_order_relaxed);
        source_.release(block.data, size, list.stream, std::move(block.fence));
        returned += size;
      }
  }
  return returned;
}

MemoryStats Pool::stats() const {
  MemoryStats stats{};
  std::int64_t in_use = 0, live = 0;  // those of one stripe or bin may be negative
  for (unsigned k = 0; stripes_ && k < stripe_count; ++k) {
    const std::lock_guard lock(stripes_[k].mutex);
    in_use += stripes_[k].in_use;
    live += stripes_[k].live;
    stats.requests += stripes_[k].requests;
    stats.cached += stripes_[k].cached.load(std::memory_order_relaxed);
  }
  for (int c = 0; c < class_count; ++c) {
    const std::lock_guard lock(bins_[c].mutex);
    in_use += static_cast<std::int64_t>(bins_[c].live * size_of_class(c));
    live += static_cast<std::int64_t>(bins_[c].live);
    stats.requests += bins_[c].requests;
    for (const List& list : bins_[c].lists) stats.cached += list.blocks.size() * size_of_class(c);
  }
  // Blocks that other threads passed on meanwhile may have been counted as returned only.
  stats.in_use = static_cast<std::size_t>(std::max<std::int64_t>(in_use, 0));
  stats.blocks = static_cast<std::size_t>(std::max<std::int64_t>(live, 0));
  stats.peak_in_use = peak_.load(std::memory_order_relaxed);
  stats.driver_allocations = acquired_.load(std::memory_order_relaxed);
  return stats;
}

void Pool::reset_peak() noexcept {
  std::size_t in_use = in_use_.load(std::memory_order_relaxed);
  for (unsigned k = 0; stripes_ && k < stripe_count; ++k)
    in_use -= std::min(in_use, stripes_[k].cached.load(std::memory_order_relaxed));
  peak_.store(in_use, std::memory_order_relaxed);
}

void Pool::throw_out_of_memory(std::size_t bytes, std::size_t returned) const {
  throw OutOfMemory(out_of_memory(device_, bytes, returned, stats(), source_.memory()));
}

}  // namespace sinter::inline v1::runtime

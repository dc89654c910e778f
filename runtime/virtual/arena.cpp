#include "arena.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sinter/runtime/error.hpp>
#include <vector>

#include "../out_of_memory.hpp"
#include "../text.hpp"
#include "happens_before.hpp"
#include "memory_check.hpp"
#include "shadow.hpp"

namespace sinter::inline v1::runtime::vgpu {
namespace {

constexpr std::size_t quarantine_entries = 512;
constexpr std::size_t quarantine_bytes = arena_bytes / 4;
// Freed ranges from this size on go back to the system; smaller ones stay, since a page fault costs more than a fill.
constexpr std::size_t discard_bytes = 256 << 10;
// Larger allocations are poisoned only at both ends: filling them would make them resident.
constexpr std::size_t poison_limit = std::size_t{256} << 20;
constexpr std::size_t poison_ends = std::size_t{1} << 20;
// Larger allocations are checked only by their guard pages, because the shadow takes 40 bytes per byte.
constexpr std::size_t shadow_limit = std::size_t{256} << 20;

std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

void fill(std::uintptr_t first, std::size_t bytes) {
  std::fill_n(reinterpret_cast<std::uint32_t*>(first), bytes / sizeof poison, poison);
}

void fill_fresh(Pages pages) {
  const std::uintptr_t memory = memory_of(pages.first);
  if (pages.bytes <= poison_limit) return fill(memory, pages.bytes);
  fill(memory, poison_ends);
  fill(memory + pages.bytes - poison_ends, poison_ends);
}

int protect(Pages pages, int protection) {
  return ::mprotect(reinterpret_cast<void*>(memory_of(pages.first)), pages.bytes, protection);
}

/// The poison pattern at any address.
const std::byte* poison_at(std::uintptr_t address) {
  static constexpr auto pattern = [] {
    std::array<std::uint32_t, allocation_alignment / sizeof poison + 1> words{};
    words.fill(poison);
    return words;
  }();
  return reinterpret_cast<const std::byte*>(pattern.data()) + address % sizeof poison;
}

/// Repairs the part of [first, last), at most 256 bytes, that no longer holds poison, and returns it.
Pages repair(std::uintptr_t first, std::uintptr_t last) {
  auto* bytes = reinterpret_cast<std::byte*>(memory_of(first));
  const std::byte* expected = poison_at(first);
  const std::size_t n = last - first;
  if (std::memcmp(bytes, expected, n) == 0) return {};
  const std::size_t begin = static_cast<std::size_t>(std::mismatch(bytes, bytes + n, expected).first - bytes);
  std::size_t end = n;
  while (bytes[end - 1] == expected[end - 1]) --end;
  std::memcpy(bytes, expected, n);
  return {first + begin, end - begin};
}

/// Untouched pages of the shadow take no memory.
ShadowByte* make_shadow(std::size_t bytes) {
  if (!is_strict() || bytes == 0 || bytes > shadow_limit) return nullptr;
  return static_cast<ShadowByte*>(std::calloc(bytes, sizeof(ShadowByte)));
}

/// The pages with the guard page before them.
Pages with_guard(Pages pages) noexcept { return {pages.first - page_bytes, pages.bytes + page_bytes}; }

// All arenas of the process, to find the owner of an address.
struct Registry {
  std::mutex mutex;
  std::vector<const Arena*> arenas;
};
constinit NoDestructor<Registry> registry;

std::string relative(std::uintptr_t address, const Allocation& a) {
  const std::uintptr_t end = a.data + a.bytes;
  const std::string what = fmt::format("allocation #{} ({} bytes{})", a.number, a.bytes, a.freed ? ", freed" : "");
  if (address < a.data) return fmt::format("{} bytes before {}", a.data - address, what);
  if (address >= end) return fmt::format("{} bytes past the end of {}", address - end, what);
  return fmt::format("at byte {} of {}", address - a.data, what);
}

}  // namespace

Arena::Arena(int device) : device_(device) {
  constexpr std::size_t all_bytes = memory_offset + arena_bytes;
  void* p = ::mmap(nullptr, all_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    throw OutOfMemory(fmt::format(
        "out of memory on {}: cannot reserve {} of address space for a virtual GPU ({}). Raise the limit of "
        "the address space (ulimit -v)",
        to_string(Device(device)), format_bytes(all_bytes), std::strerror(errno)));
  range_ = {reinterpret_cast<std::uintptr_t>(p), arena_bytes};
  ::madvise(memory_of(p), arena_bytes, MADV_HUGEPAGE);  // large allocations cause fewer page faults
  try {
    const std::size_t bytes = range_.bytes - page_bytes;  // the last page stays a guard
    free_.emplace(range_.first, bytes);
    free_by_size_.emplace(bytes, range_.first);
    const ForkSafeLock lock(registry.get().mutex);
    registry.get().arenas.push_back(this);
  } catch (...) {
    ::munmap(p, all_bytes);
    throw;
  }
}

Arena::~Arena() {
  for (const auto& [page, allocation] : live_) std::free(allocation.shadow);
  {
    const ForkSafeLock lock(registry.get().mutex);
    std::erase(registry.get().arenas, this);
  }
  ::munmap(reinterpret_cast<void*>(range_.first), memory_offset + range_.bytes);
}

std::vector<std::pair<std::uintptr_t, std::size_t>> Arena::memories() {
  const ForkSafeLock lock(registry.get().mutex);
  std::vector<std::pair<std::uintptr_t, std::size_t>> all;
  for (const Arena* a : registry.get().arenas) all.emplace_back(memory_of(a->range_.first), a->range_.bytes);
  return all;
}

std::uintptr_t Arena::address_of(std::uintptr_t memory) {
  const ForkSafeLock lock(registry.get().mutex);
  for (const Arena* a : registry.get().arenas)
    if (a->contains(memory - memory_offset)) return memory - memory_offset;
  return memory;
}

std::string Arena::whose(std::uintptr_t address) {
  const ForkSafeLock lock(registry.get().mutex);
  for (const Arena* a : registry.get().arenas)
    if (a->contains(address)) return fmt::format("cuda:{}, {}", a->device_, a->locate(address));
  return address < page_bytes ? "no memory (a null pointer)" : "the host, or is invalid";
}

std::size_t Arena::in_use() const noexcept {
  std::lock_guard lock(mutex_);
  return in_use_;
}

MemoryStats Arena::stats() const {
  std::lock_guard lock(mutex_);
  return stats_locked();
}

MemoryStats Arena::stats_locked() const {
  return {.in_use = in_use_,
          .cached = 0,
          .peak_in_use = peak_,
          .blocks = live_.size(),
          .requests = count_,
          .driver_allocations = count_};
}

std::string Arena::out_of_memory(std::size_t bytes) const {
  const MemoryInfo memory{arena_bytes - in_use_, arena_bytes};
  return runtime::out_of_memory(Device(device_), bytes, 0, stats_locked(), memory);
}

void Arena::reset_peak() noexcept {
  std::lock_guard lock(mutex_);
  peak_ = in_use_;
}

/// Allocates no memory: the rest of the free pages keeps its map entry.
std::optional<Pages> Arena::take(std::size_t bytes) noexcept {
  const auto it = free_by_size_.lower_bound({bytes, 0});
  if (it == free_by_size_.end()) return std::nullopt;
  auto by_size = free_by_size_.extract(it);
  const auto [size, first] = by_size.value();
  auto by_page = free_.extract(first);
  if (size > bytes) {
    by_page.key() = first + bytes, by_page.mapped() = size - bytes;
    by_size.value() = {size - bytes, first + bytes};
    free_.insert(std::move(by_page));
    free_by_size_.insert(std::move(by_size));
  }
  return Pages{first, bytes};
}

/// If there is no memory to record pages, they are never reused.
void Arena::give_back(Pages pages) noexcept {
  decltype(free_)::node_type by_page;
  decltype(free_by_size_)::node_type by_size;
  const auto join = [&](auto neighbour) {
    by_size = free_by_size_.extract({neighbour->second, neighbour->first});
    by_page = free_.extract(neighbour);
  };
  auto next = free_.lower_bound(pages.first);
  if (next != free_.end() && pages.end() == next->first) {
    const auto after = next++;
    pages.bytes += after->second;
    join(after);
  }
  if (next != free_.begin())
    if (const auto before = std::prev(next); before->first + before->second == pages.first) {
      pages = {before->first, before->second + pages.bytes};
      join(before);
    }
  if (by_page) {
    by_page.key() = pages.first, by_page.mapped() = pages.bytes;
    by_size.value() = {pages.bytes, pages.first};
    free_.insert(std::move(by_page));
    free_by_size_.insert(std::move(by_size));
    return;
  }
  try {
    const auto known = free_.emplace(pages.first, pages.bytes).first;
    try {
      free_by_size_.emplace(pages.bytes, pages.first);
    } catch (...) {
      free_.erase(known);
    }
  } catch (...) {
  }
}

void Arena::release_oldest() {
  const Pages pages = quarantine_.front().pages;
  quarantine_.pop_front();
  quarantined_ -= pages.bytes;
  give_back(with_guard(pages));
}

void* Arena::allocate(std::size_t bytes) {
  const std::size_t body = round_up(std::max<std::size_t>(bytes, 1), page_bytes);
  std::lock_guard lock(mutex_);
  std::optional<Pages> taken;
  if (bytes < arena_bytes)
    for (taken = take(body + page_bytes); !taken && !quarantine_.empty(); taken = take(body + page_bytes))
      release_oldest();
  if (!taken) throw OutOfMemory(out_of_memory(bytes));
  Allocation a;
  a.pages = {taken->first + page_bytes, body};
  if (protect(a.pages, PROT_READ | PROT_WRITE) != 0) {
    const int error = errno;
    give_back(*taken);
    throw OutOfMemory(
        fmt::format("{}. The system refused the pages ({}): {} allocations are alive, each of which takes two memory "
                    "mappings. Raise vm.max_map_count to allow more",
                    out_of_memory(bytes), std::strerror(error), live_.size()));
  }
  a.bytes = bytes;
  a.data = a.pages.end() - round_up(std::max<std::size_t>(bytes, 1), allocation_alignment);
  a.number = count_ + 1;
  try {
    live_.emplace(a.pages.first, a);
  } catch (...) {
    protect(a.pages, PROT_NONE);
    give_back(*taken);
    throw;
  }
  fill_fresh(a.pages);
  live_.at(a.pages.first).shadow = make_shadow(bytes);
  ++count_;
  in_use_ += bytes;
  peak_ = std::max(peak_, in_use_);
  return reinterpret_cast<void*>(a.data);
}

void Arena::deallocate(void* data) noexcept {
  std::lock_guard lock(mutex_);
  const auto it = live_.find(reinterpret_cast<std::uintptr_t>(data) / page_bytes * page_bytes);
  if (it == live_.end() || it->second.data != reinterpret_cast<std::uintptr_t>(data)) {
    fmt::print(stderr, "sinter: virtual GPU {}: {} was freed, but is not an allocation\n", device_, data);
    return;
  }
  Allocation a = it->second;
  live_.erase(it);
  in_use_ -= a.bytes;
  a.freed = true;
  std::free(std::exchange(a.shadow, nullptr));
  if (a.pages.bytes >= discard_bytes)
    ::madvise(reinterpret_cast<void*>(memory_of(a.pages.first)), a.pages.bytes, MADV_DONTNEED);
  protect(a.pages, PROT_NONE);
  try {
    quarantine_.push_back(a);
  } catch (...) {  // freed at once
    return give_back(with_guard(a.pages));
  }
  quarantined_ += a.pages.bytes;
  while (quarantine_.size() > quarantine_entries || quarantined_ > quarantine_bytes) release_oldest();
}

const Allocation* Arena::find_locked(std::uintptr_t address) const {
  auto it = live_.upper_bound(address);
  if (it == live_.begin()) return nullptr;
  const Allocation& a = std::prev(it)->second;
  return a.contains(address) || address == a.data + a.bytes ? &a : nullptr;
}

std::optional<Allocation> Arena::find(const void* address) const {
  std::lock_guard lock(mutex_);
  const Allocation* a = find_locked(reinterpret_cast<std::uintptr_t>(address));
  return a ? std::optional(*a) : std::nullopt;
}

std::string Arena::locate(std::uintptr_t address) const {
  std::lock_guard lock(mutex_);
  if (const Allocation* a = find_locked(address)) return relative(address, *a);
  for (auto it = quarantine_.rbegin(); it != quarantine_.rend(); ++it)
    if (it->contains(address)) return relative(address, *it);
  // In a gap, the nearer of the two neighbors was probably meant.
  const auto next = live_.upper_bound(address);
  const Allocation* after = next == live_.end() ? nullptr : &next->second;
  const Allocation* before = next == live_.begin() ? nullptr : &std::prev(next)->second;
  if (!before && !after) return "not in any allocation";
  if (before && address < before->data) return relative(address, *before);  // in the page in which it begins
  const bool nearer_after = after && (!before || after->data - address < address - (before->data + before->bytes));
  return relative(address, nearer_after ? *after : *before);
}

void Arena::note_use(const void* address, StreamOrder& order) {
  std::lock_guard lock(mutex_);
  const Allocation* found = find_locked(reinterpret_cast<std::uintptr_t>(address));
  if (!found) return;
  Allocation& a = live_.at(found->pages.first);
  a.used_by = order.after(a.used_by);
}

std::string Arena::check_edges(const Allocation& a) {
  const std::uintptr_t end = a.data + a.bytes;
  const std::uintptr_t first = std::max(a.pages.first, a.data - std::min<std::uintptr_t>(a.data, allocation_alignment));
  if (const Pages changed = repair(end, a.pages.end()); changed.bytes)
    return fmt::format("{} bytes written {}", changed.bytes, relative(changed.first, a));
  if (const Pages changed = repair(first, a.data); changed.bytes)
    return fmt::format("{} bytes written {}", changed.bytes, relative(changed.first, a));
  return {};
}

}  // namespace sinter::inline v1::runtime::vgpu

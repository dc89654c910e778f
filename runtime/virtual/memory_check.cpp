#include "memory_check.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "../environment.hpp"
#include "arena.hpp"

namespace sinter::inline v1::runtime::vgpu {
namespace {

using sinter_virtual::Access;
using Readers = ShadowByte::Readers;

constexpr unsigned lanes_of_warp = 32;

unsigned warp_of(const Actor& a) noexcept { return a.thread / lanes_of_warp; }

void merge(std::vector<bool>& into, const std::vector<bool>& from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) into[i] = into[i] || from[i];
}

void insert(std::vector<bool>& blocks, std::uint32_t block) {
  if (blocks.size() <= block) blocks.resize(block + 1);
  blocks[block] = true;
}

/// Whom the readers are when one more reads in the same interval.
Readers joined(const ShadowByte& s, const Actor& now) noexcept {
  if (s.readers == Readers::None) return Readers::Thread;
  const Actor& before = s.reader;
  if (before.block != now.block || s.readers == Readers::Grid) return Readers::Grid;
  if (before.interval != now.interval) return Readers::Thread;  // those before are behind a barrier
  if (warp_of(before) != warp_of(now) || s.readers == Readers::Block) return Readers::Block;
  if (before.warp_interval != now.warp_interval) return Readers::Thread;
  return before.thread == now.thread ? s.readers : Readers::Warp;
}

}  // namespace

bool is_strict() noexcept {
  static const bool strict = is_on("SINTER_VIRTUAL_STRICT");
  return strict;
}

MemoryCheck::MemoryCheck(const Launch& launch, const Arena& arena) : arenas_(Arena::memories()) {
  static std::atomic<std::uint32_t> launches{0};
  launch_ = ++launches;
  for (unsigned i = 0; i < launch.pointers; ++i) {
    const auto allocation = arena.find(reinterpret_cast<const void*>(launch.words[i]));
    if (!allocation || find(memory_of(allocation->data))) continue;
    operands_.push_back({memory_of(allocation->data), allocation->bytes, allocation->shadow});
  }
}

void MemoryCheck::begin_block(const char* static_shared, std::size_t static_bytes, const char* dynamic_shared,
                              std::size_t dynamic_bytes) {
  const std::pair<const char*, std::size_t> areas[] = {{static_shared, static_bytes}, {dynamic_shared, dynamic_bytes}};
  for (int i : {0, 1}) {
    shared_shadow_[i].assign(areas[i].second, ShadowByte());
    shared_[i] = {reinterpret_cast<std::uintptr_t>(areas[i].first), areas[i].second, shared_shadow_[i].data()};
  }
  fenced_ = false;
  seen_.clear();
}

const MemoryCheck::Region* MemoryCheck::find(std::uintptr_t address) const noexcept {
  for (const Region& r : operands_)
    if (address - r.first < r.bytes) return &r;
  for (const Region& r : shared_)
    if (address - r.first < r.bytes) return &r;
  return nullptr;
}

bool MemoryCheck::is_device_memory(std::uintptr_t address) const noexcept {
  return std::ranges::any_of(arenas_, [&](const auto& a) { return address - a.first < a.second; });
}

/// What happens at an atomic variable happens in an order: who comes later sees what was fenced before.
void MemoryCheck::synchronise(std::uintptr_t address, std::uint32_t block) {
  Blocks& released = released_[address];
  merge(seen_, released);
  if (!fenced_) return;
  merge(released, seen_);
  insert(released, block);
}

bool MemoryCheck::is_ordered(const Actor& before, const Actor& now) const noexcept {
  if (before.block != now.block) return before.block < seen_.size() && seen_[before.block];
  return before.thread == now.thread || before.interval != now.interval ||
         (warp_of(before) == warp_of(now) && before.warp_interval != now.warp_interval);
}

bool MemoryCheck::races_with_readers(const ShadowByte& s, const Actor& now) const noexcept {
  const Actor& r = s.reader;
  switch (s.readers) {
    case Readers::None: return false;
    case Readers::Thread: return !is_ordered(r, now);
    case Readers::Warp:
      if (r.block != now.block) return !is_ordered(r, now);
      return r.interval == now.interval && (warp_of(r) != warp_of(now) || r.warp_interval == now.warp_interval);
    case Readers::Block: return r.block != now.block ? !is_ordered(r, now) : r.interval == now.interval;
    case Readers::Grid: break;
  }
  return true;
}

/// What an access of this byte violates; null: nothing.
const char* MemoryCheck::conflict(const ShadowByte& s, Access kind, const Actor& now, Actor& other) const noexcept {
  if (kind != Access::Write && !s.is_initialised) return "uninitialised";
  if (s.launch != launch_) return nullptr;
  const bool both_atomic = kind == Access::Atomic && s.is_atomic;
  if (s.is_written && !both_atomic && !is_ordered(s.writer, now)) {
    other = s.writer;
    return "a write";
  }
  if (kind == Access::Read || both_atomic || !races_with_readers(s, now)) return nullptr;
  other = s.reader;
  return "a read";
}

void MemoryCheck::note(ShadowByte& s, Access kind, const Actor& who) const noexcept {
  if (s.launch != launch_) {
    s.launch = launch_;
    s.readers = Readers::None;
    s.is_written = s.is_atomic = false;
  }
  if (kind == Access::Read) {
    s.readers = joined(s, who);
    s.reader = who;
    return;
  }
  s.readers = Readers::None;
  s.writer = who;
  s.is_written = s.is_initialised = true;
  s.is_atomic = kind == Access::Atomic;
}

bool MemoryCheck::access(Access kind, std::uintptr_t address, std::size_t bytes, const Actor& who, Fault& fault) {
  const Region* region = find(address);
  if (!region && !is_device_memory(address)) return true;  // the kernel's own: stacks, parameters, constants
  const bool is_shared = region >= shared_ && region < shared_ + 2;
  const bool writes = kind != Access::Read;
  const auto refuse = [&](Fault::Kind what, std::uintptr_t at, const char* format, auto... arguments) {
    fault = Fault{};
    fault.kind = what;
    fault.block = who.block;
    fault.thread = who.thread;
    fault.write = writes;
    fault.shared = is_shared;
    fault.address = at;
    const int n = std::snprintf(fault.text, sizeof fault.text, format, arguments...);
    if (is_shared)
      std::snprintf(fault.text + n, sizeof fault.text - static_cast<std::size_t>(n), ", at byte %zu of %s",
                    at - region->first, region == shared_ ? "the __shared__ variables" : "dynamic shared memory");
    return false;
  };
  const char* verb = kind == Access::Atomic ? "an atomic operation on" : writes ? "a write of" : "a read of";
  if (!region || bytes > region->bytes - (address - region->first))
    return refuse(Fault::Kind::Outside, region ? region->first + region->bytes : address,
                  "%s %zu bytes outside the kernel's operands", verb, bytes);
  if (kind == Access::Atomic && !is_shared) synchronise(address, who.block);
  if (!region->shadow) return true;
  ShadowByte* shadow = region->shadow + (address - region->first);
  for (std::size_t i = 0; i < bytes; ++i) {
    Actor other;
    const char* problem = conflict(shadow[i], kind, who, other);
    if (!problem) {
      note(shadow[i], kind, who);
    } else if (*problem == 'u') {
      return refuse(Fault::Kind::Uninitialised, address + i, "%s %zu bytes, byte %zu of which nobody has written", verb,
                    bytes, i);
    } else {
      return refuse(Fault::Kind::Race, address + i, "%s %zu bytes races with %s by thread %u of block %u", verb, bytes,
                    problem, other.thread, other.block);
    }
  }
  return true;
}

}  // namespace sinter::inline v1::runtime::vgpu

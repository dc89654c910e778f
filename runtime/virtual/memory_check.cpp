#include "memory_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "../environment.hpp"
#include "arena.hpp"
#include "worker.hpp"

namespace sinter::inline v1::runtime::vgpu {
namespace {

using sinter_virtual::Access;
using Readers = ShadowByte::Readers;

constexpr unsigned lanes_of_warp = 32;

unsigned warp_of(const Actor& a) noexcept { return a.thread / lanes_of_warp; }

/// The set of readers after another read in the same interval.
Readers joined(const ShadowByte& s, const Actor& now) noexcept {
  if (s.readers == Readers::None) return Readers::Thread;
  const Actor& before = s.reader;
  if (before.block != now.block || s.readers == Readers::Grid) return Readers::Grid;
  if (before.interval != now.interval) return Readers::Thread;  // earlier reads are before a barrier
  if (warp_of(before) != warp_of(now) || s.readers == Readers::Block) return Readers::Block;
  if (before.warp_interval != now.warp_interval) return Readers::Thread;
  return before.thread == now.thread ? s.readers : Readers::Warp;
}

}  // namespace

bool is_strict() noexcept {
  static constinit std::atomic<int> known{-1};  // constant-initialized: neither threads nor a fork's child wait for it
  int strict = known.load(std::memory_order_relaxed);
  if (strict < 0) known.store(strict = is_on("SINTER_VIRTUAL_STRICT"), std::memory_order_relaxed);
  return strict;
}

MemoryCheck::MemoryCheck(const Launch& launch, Arena& arena, StreamOrder& order)
    : order_(order), arenas_(Arena::memories()) {
  for (unsigned i = 0; i < launch.pointers; ++i) {
    const auto* const pointer = reinterpret_cast<const void*>(launch.words[i]);
    const auto allocation = arena.find(pointer);
    if (!allocation || find(memory_of(allocation->data))) continue;
    arena.note_use(pointer, order_);
    operands_.push_back({memory_of(allocation->data), allocation->bytes, allocation->shadow});
  }
}

void MemoryCheck::begin_block(const SharedMemory& variables, const SharedMemory& dynamic) {
  const SharedMemory* const areas[] = {&variables, &dynamic};
  for (int i : {0, 1}) {
    shared_shadow_[i].assign(areas[i]->bytes, ShadowByte());
    shared_[i] = {reinterpret_cast<std::uintptr_t>(areas[i]->begin), areas[i]->bytes, shared_shadow_[i].data()};
    shared_areas_[i] = reinterpret_cast<std::uintptr_t>(areas[i]->area_end);
  }
  fences_.clear();
  seen_.clear();
}

const MemoryCheck::Region* MemoryCheck::find(std::uintptr_t address) const noexcept {
  for (const Region& r : operands_)
    if (address - r.first < r.bytes) return &r;
  for (const Region& r : shared_)
    if (address - r.first < r.bytes) return &r;
  return nullptr;
}

bool MemoryCheck::is_owned(std::uintptr_t address) const noexcept {
  return std::ranges::any_of(arenas_, [&](const auto& a) { return address - a.first < a.second; });
}

bool MemoryCheck::is_stray_shared(std::uintptr_t address) const noexcept {
  return std::ranges::any_of(shared_areas_,
                             [&](std::uintptr_t end) { return end - address <= WorkerMemory::shared_bytes; });
}

void MemoryCheck::fence(const Actor& who) {
  if (fences_.size() <= who.thread) fences_.resize(who.thread + std::size_t{1});
  fences_[who.thread] = who.interval + 1u;
}

/// Operations on an atomic variable are ordered: later ones see the writes that were fenced before.
void MemoryCheck::synchronise(std::uintptr_t address, const Actor& who) {
  Releases& released = released_[address];
  for (const auto& [block, release] : released) seen_[block] = release;
  if (fences_.empty()) return;
  released = seen_;
  released[who.block] = std::make_shared<const Release>(Release{who, fences_});
}

/// An access is covered by a fence of its thread, followed by a barrier or by its own atomic operation; or by a barrier
/// followed by a fence of the thread that did the atomic operation.
bool MemoryCheck::Release::covers(const Actor& before) const noexcept {
  const auto fenced = [&](std::uint16_t thread) { return thread < fences.size() ? fences[thread] : 0; };
  const std::uint32_t own = fenced(before.thread), last = fenced(by.thread);
  if (own > before.interval && (before.thread == by.thread || own <= by.interval)) return true;
  return last > before.interval + 1u;
}

bool MemoryCheck::is_ordered(const Actor& before, const Actor& now) const noexcept {
  if (before.block != now.block) {
    const auto seen = seen_.find(before.block);
    return seen != seen_.end() && seen->second->covers(before);
  }
  return before.thread == now.thread || before.interval != now.interval ||
         (warp_of(before) == warp_of(now) && before.warp_interval != now.warp_interval);
}

/// Relies on blocks running in order.
bool MemoryCheck::has_seen_all_before(std::uint32_t block) const noexcept {
  return std::ranges::count_if(seen_, [&](const auto& s) { return s.first < block; }) == block;
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
  return !has_seen_all_before(now.block) || !is_ordered(r, now);
}

MemoryCheck::Problem MemoryCheck::problem_of(const ShadowByte& s, Access kind, const Actor& now) {
  if (kind != Access::Write && !s.is_initialised) return Problem::Uninitialised;
  const bool both_atomic = kind == Access::Atomic && s.is_atomic;
  if (!both_atomic && !order_.is_after(s.written_by)) return Problem::AfterWrite;
  if (kind != Access::Read && !order_.is_after(s.read_by)) return Problem::AfterRead;
  if (s.launch != order_.work()) return Problem::None;
  if (s.is_written && !both_atomic && !is_ordered(s.writer, now)) return Problem::RaceWithWrite;
  return kind != Access::Read && races_with_readers(s, now) ? Problem::RaceWithRead : Problem::None;
}

void MemoryCheck::note(ShadowByte& s, Access kind, const Actor& who) {
  if (s.launch != order_.work()) {
    s.launch = order_.work();
    s.readers = Readers::None;
    s.is_written = false;
  }
  if (kind == Access::Read) {
    s.readers = joined(s, who);
    s.reader = who;
    s.read_by = order_.after(s.read_by);
    return;
  }
  s.readers = Readers::None;
  s.read_by = Work::None;
  s.writer = who;
  s.written_by = order_.after(s.written_by);
  s.is_written = s.is_initialised = true;
  s.is_atomic = kind == Access::Atomic;
}

/// An access being checked, and its region: null for a stray access.
struct MemoryCheck::Attempt {
  Access kind;
  std::uintptr_t address;
  std::size_t bytes;
  const Actor& who;
  const Region* region;
  bool is_shared;
};

/// Returns false, for access() to return.
bool MemoryCheck::refuse(const Attempt& a, Fault::Kind why, std::uintptr_t at, const std::string& text,
                         Fault& fault) const {
  fault = Fault{};
  fault.kind = why;
  fault.block = a.who.block;
  fault.thread = a.who.thread;
  fault.write = a.kind != Access::Read;
  fault.shared = a.is_shared;
  fault.address = at;
  const char* const verb = a.kind == Access::Atomic  ? "an atomic operation on"
                           : a.kind == Access::Write ? "a write of"
                                                     : "a read of";
  std::string where;
  if (a.is_shared && a.region)
    where = fmt::format(", at byte {} of {}", at - a.region->first,
                        a.region == shared_ ? "the __shared__ variables" : "dynamic shared memory");
  std::snprintf(fault.text, sizeof fault.text, "%s %zu bytes%s%s", verb, a.bytes, text.c_str(), where.c_str());
  return false;
}

std::string MemoryCheck::describe(Problem problem, const ShadowByte& s, std::size_t byte) const {
  const auto race = [](const char* with, const Actor& other) {
    return fmt::format(" races with a {} by thread {} of block {}", with, other.thread, other.block);
  };
  switch (problem) {
    case Problem::AfterWrite: return " is not ordered after a write by " + order_.why_not_after(s.written_by);
    case Problem::AfterRead: return " is not ordered after a read by " + order_.why_not_after(s.read_by);
    case Problem::RaceWithWrite: return race("write", s.writer);
    case Problem::RaceWithRead: return race("read", s.reader);
    default: return fmt::format(", byte {} of which is uninitialized", byte);
  }
}

bool MemoryCheck::check_bytes(const Attempt& a, ShadowByte* shadow, Fault& fault) {
  for (std::size_t i = 0; i < a.bytes; ++i) {
    const Problem problem = problem_of(shadow[i], a.kind, a.who);
    if (problem != Problem::None) [[unlikely]]
      return refuse(a, problem == Problem::Uninitialised ? Fault::Kind::Uninitialised : Fault::Kind::Race,
                    a.address + i, describe(problem, shadow[i], i), fault);
    note(shadow[i], a.kind, a.who);
  }
  return true;
}

bool MemoryCheck::access(Access kind, std::uintptr_t address, std::size_t bytes, const Actor& who, Fault& fault) {
  const Region* region = find(address);
  if (!region && !is_owned(address) && !is_stray_shared(address))
    return true;  // the kernel's own memory: stacks, parameters, constants
  const bool is_shared = region ? region >= shared_ && region < shared_ + 2 : !is_owned(address);
  const Attempt attempt{kind, address, bytes, who, region, is_shared};
  if (!region && is_shared)
    return refuse(attempt, Fault::Kind::Outside, address, " in shared memory, outside the block's variables", fault);
  if (!region || bytes > region->bytes - (address - region->first))
    return refuse(attempt, Fault::Kind::Outside, region ? region->first + region->bytes : address,
                  " outside the kernel's operands", fault);
  if (kind == Access::Atomic && !is_shared) synchronise(address, who);
  return !region->shadow || check_bytes(attempt, region->shadow + (address - region->first), fault);
}

}  // namespace sinter::inline v1::runtime::vgpu

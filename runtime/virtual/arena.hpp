// The memory of one virtual GPU: a reserved address range in which every allocation ends at a guard page.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <sinter/runtime/memory.hpp>

#include "../fork.hpp"

namespace sinter::inline v1::runtime::vgpu {

inline constexpr std::size_t arena_bytes = std::size_t{64} << 30;
/// The offset of memory from its device address. The device address itself is inaccessible, so a program that
/// dereferences a device pointer faults, as on a real GPU; kernels get pointers to the memory.
inline constexpr std::size_t memory_offset = arena_bytes;
inline std::uintptr_t memory_of(std::uintptr_t address) noexcept { return address + memory_offset; }
inline void* memory_of(const void* address) noexcept {
  return reinterpret_cast<void*>(memory_of(reinterpret_cast<std::uintptr_t>(address)));
}

inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::size_t allocation_alignment = 256;
/// The content of memory that was never written: a NaN as float, as double and as half.
inline constexpr std::uint32_t poison = 0x7fa5a5a5u;

struct ShadowByte;
class StreamOrder;
enum class Work : std::uint32_t;

/// A range of pages of device addresses: [first, first + bytes).
struct Pages {
  std::uintptr_t first = 0;
  std::size_t bytes = 0;
  std::uintptr_t end() const noexcept { return first + bytes; }
};

struct Allocation {
  std::uintptr_t data = 0;  // returned to the caller
  std::size_t bytes = 0;    // requested by the caller
  Pages pages;              // accessible to kernels: [data, data + bytes), rounded outwards
  std::uint64_t number = 0;
  bool freed = false;
  // In the strict tier:
  ShadowByte* shadow = nullptr;  // of each byte
  Work used_by{};                // the work that used it

  bool contains(std::uintptr_t address) const noexcept { return address - data < bytes; }
};

/// Thread-safe. The effects of a kernel's stray access:
///   - past the end: in the last `-bytes % 256` bytes it hits poison, which check_edges() finds overwritten; beyond
///     that a guard page, so it faults. With sizes that are multiples of 256 the very first byte faults;
///   - before the start: poison up to the start of the page (check_edges() checks 256 bytes), then a guard page;
///   - after the release: inaccessible pages until the range leaves the quarantine of the last 512 releases.
class Arena {
 public:
  /// Throws OutOfMemory if the addresses cannot be reserved.
  explicit Arena(int device);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  int device() const noexcept { return device_; }
  /// Throws OutOfMemory.
  void* allocate(std::size_t bytes);
  void deallocate(void* data) noexcept;
  std::size_t in_use() const noexcept;
  MemoryStats stats() const;
  void reset_peak() noexcept;

  /// The live allocation that contains `address` or ends there.
  std::optional<Allocation> find(const void* address) const;
  /// "3 bytes past the end of allocation #7 (1000 bytes)", for a nearby live or freed allocation.
  std::string locate(std::uintptr_t address) const;
  /// Describes where bytes outside an allocation were overwritten, and repairs them; empty if there are none.
  std::string check_edges(const Allocation& allocation);

  /// For the strict tier: records a use of the allocation that contains the address.
  void note_use(const void* address, StreamOrder& order);

  bool contains(std::uintptr_t address) const noexcept { return address - range_.first < range_.bytes; }
  /// The memory of every arena: first address and number of bytes.
  static std::vector<std::pair<std::uintptr_t, std::size_t>> memories();
  /// The device address for an address that a kernel used; any other address unchanged.
  static std::uintptr_t address_of(std::uintptr_t memory);
  /// The device that an address belongs to, and the result of locate().
  static std::string whose(std::uintptr_t address);

 private:
  friend ForkHandler;
  void before_fork() noexcept { mutex_.lock(); }
  void after_fork(bool) noexcept { mutex_.unlock(); }
  std::optional<Pages> take(std::size_t bytes) noexcept;
  void give_back(Pages pages) noexcept;
  void release_oldest();
  const Allocation* find_locked(std::uintptr_t address) const;
  MemoryStats stats_locked() const;
  std::string out_of_memory(std::size_t bytes) const;  // the caller holds the lock

  int device_;
  Pages range_;
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Allocation> live_;   // by first accessible page
  std::map<std::uintptr_t, std::size_t> free_;  // by first page; adjacent ranges are merged
  std::set<std::pair<std::size_t, std::uintptr_t>> free_by_size_;
  std::deque<Allocation> quarantine_;
  std::size_t quarantined_ = 0;
  std::size_t in_use_ = 0;
  std::size_t peak_ = 0;
  std::uint64_t count_ = 0;
  ForkHandler fork_handler_{*this};
};

}  // namespace sinter::inline v1::runtime::vgpu

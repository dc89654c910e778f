// The memory of one virtual GPU: a reserved range of addresses in which every allocation ends at a guard page.
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
/// The memory behind an address lies this far above it. The address itself stays inaccessible, so that a program that
/// follows a pointer to device memory faults, as on a real GPU; kernels get pointers to the memory.
inline constexpr std::size_t memory_offset = arena_bytes;
inline std::uintptr_t memory_of(std::uintptr_t address) noexcept { return address + memory_offset; }
inline void* memory_of(const void* address) noexcept {
  return reinterpret_cast<void*>(memory_of(reinterpret_cast<std::uintptr_t>(address)));
}

inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::size_t allocation_alignment = 256;
/// What memory holds that nobody wrote: a NaN as float, as double and as half.
inline constexpr std::uint32_t poison = 0x7fa5a5a5u;

struct ShadowByte;
class StreamOrder;
enum class Work : std::uint32_t;

/// A run of pages of device addresses: [first, first + bytes).
struct Pages {
  std::uintptr_t first = 0;
  std::size_t bytes = 0;
  std::uintptr_t end() const noexcept { return first + bytes; }
};

struct Allocation {
  std::uintptr_t data = 0;  // what the caller got
  std::size_t bytes = 0;    // what the caller asked for
  Pages pages;              // what is accessible to kernels, [data, data + bytes) rounded outwards
  std::uint64_t number = 0;
  bool freed = false;
  // In the strict tier:
  ShadowByte* shadow = nullptr;  // of each byte
  Work used_by{};                // by whom

  bool contains(std::uintptr_t address) const noexcept { return address - data < bytes; }
};

/// Thread-safe. What a stray access of a kernel meets:
///  - past the end: within the last `-bytes % 256` bytes it meets poison, which check_edges() finds overwritten; from
///    there on a guard page, so it faults. With sizes that are multiples of 256 the very first byte faults;
///  - before the start: poison to the start of the page (check_edges() looks at 256 bytes), then a guard page;
///  - after the release: inaccessible pages until the range leaves the quarantine of the last 512 releases.
class Arena {
 public:
  /// Throws OutOfMemory when the addresses cannot be reserved.
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

  /// The live allocation that `address` lies in, or whose end it is.
  std::optional<Allocation> find(const void* address) const;
  /// "3 bytes past the end of allocation #7 (1000 bytes)", of a live or a freed allocation in the neighbourhood.
  std::string locate(std::uintptr_t address) const;
  /// Says where bytes outside an allocation were overwritten, and repairs them; empty when all is well.
  std::string check_edges(const Allocation& allocation);

  /// For the strict tier: the allocation that the address lies in is used.
  void note_use(const void* address, StreamOrder& order);

  bool contains(std::uintptr_t address) const noexcept { return address - range_.first < range_.bytes; }
  /// Where the memory of every arena lies: first address and bytes.
  static std::vector<std::pair<std::uintptr_t, std::size_t>> memories();
  /// The device's address for one that a kernel used; any other as it is.
  static std::uintptr_t address_of(std::uintptr_t memory);
  /// Of which device an address is, and what locate() says there.
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
  std::string out_of_memory(std::size_t bytes) const;  // of a caller that holds the lock

  int device_;
  Pages range_;
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Allocation> live_;   // by first accessible page
  std::map<std::uintptr_t, std::size_t> free_;  // by first page; neighbours are merged
  std::set<std::pair<std::size_t, std::uintptr_t>> free_by_size_;
  std::deque<Allocation> quarantine_;
  std::size_t quarantined_ = 0;
  std::size_t in_use_ = 0;
  std::size_t peak_ = 0;
  std::uint64_t count_ = 0;
  ForkHandler fork_handler_{*this};
};

}  // namespace sinter::inline v1::runtime::vgpu

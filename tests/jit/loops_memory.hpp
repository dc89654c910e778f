// The memory of a program of the loop IR under interpretation: every access is checked for bounds, alignment, reads of
// what nothing has written, and races.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace sinter::testing {

/// What a program does that it must not.
class WrongProgram : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Which thread accesses memory, and how many barriers of its block and its warp it has passed.
struct Accessor {
  unsigned block, thread;
  std::uint32_t block_barriers, warp_barriers;
  bool valid = true;

  bool is_before(const Accessor& o) const noexcept {
    if (block != o.block) return false;
    if (thread == o.thread || block_barriers < o.block_barriers) return true;
    return thread / 32 == o.thread / 32 && warp_barriers < o.warp_barriers;
  }
};
inline constexpr Accessor nobody{0, 0, 0, 0, false};

class LoopsMemory {
 public:
  enum class Content : std::uint8_t { Given, Unwritten };

  /// Allows access to memory that outlives this object, or until forget() is called.
  void add(std::byte* begin, std::size_t bytes, Content content = Content::Given) {
    if (bytes == 0) return;
    regions_.push_back({begin, bytes, std::vector<Access>(bytes)});
    if (content == Content::Given)
      for (Access& a : regions_.back().accesses) a.is_written = true;
  }
  /// Allows access to all but the first `count` regions no more.
  std::size_t count() const noexcept { return regions_.size(); }
  void forget_after(std::size_t count) { regions_.resize(count); }
  /// What is launched later sees everything.
  void begin_launch() {
    for (Region& r : regions_)
      for (Access& a : r.accesses) a.reader = a.writer = nobody;
  }

  std::uint64_t load(std::uint64_t address, std::size_t bytes, const Accessor& by) {
    const Place place = find(address, bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
      Access& a = place.accesses[i];
      if (!a.is_written) throw WrongProgram("reads what nothing has written");
      if (a.writer.valid && !a.writer.is_before(by)) throw WrongProgram("a race: reads what another thread writes");
      a.reader = by;
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, place.data, bytes);
    return bits;
  }
  void store(std::uint64_t address, std::size_t bytes, std::uint64_t bits, const Accessor& by) {
    const Place place = find(address, bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
      Access& a = place.accesses[i];
      if (a.writer.valid && !a.writer.is_before(by)) throw WrongProgram("a race: two threads write to one place");
      if (a.reader.valid && !a.reader.is_before(by)) throw WrongProgram("a race: writes what another thread reads");
      a.writer = by;
      a.is_written = true;
    }
    std::memcpy(place.data, &bits, bytes);
  }
  /// Of threads that may all write.
  void store_if_zero(std::uint64_t address, std::uint32_t word) {
    const Place place = find(address, sizeof word);
    std::uint32_t before;
    std::memcpy(&before, place.data, sizeof before);
    if (before == 0) std::memcpy(place.data, &word, sizeof word);
  }

 private:
  struct Access {
    Accessor reader = nobody, writer = nobody;  // the last ones
    bool is_written = false;
  };
  struct Region {
    std::byte* begin;
    std::size_t bytes;
    std::vector<Access> accesses;
  };
  struct Place {
    std::byte* data;
    Access* accesses;
  };

  Place find(std::uint64_t address, std::size_t bytes) {
    if (address % bytes != 0) throw WrongProgram("an element is not aligned");
    for (Region& r : regions_) {
      const auto offset = static_cast<std::size_t>(address - reinterpret_cast<std::uintptr_t>(r.begin));
      if (offset < r.bytes && bytes <= r.bytes - offset) return {r.begin + offset, r.accesses.data() + offset};
    }
    throw WrongProgram("an address out of bounds");
  }

  std::vector<Region> regions_;
};

}  // namespace sinter::testing

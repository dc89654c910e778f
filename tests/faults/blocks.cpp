#include "blocks.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace sinter::faults {
namespace {

using Address = std::uintptr_t;

/// Addresses by their hash, in memory that is not looked through.
struct Table {
  static constexpr std::size_t slots = std::size_t{1} << 22;  // 64 MiB and more: see is_searched
  struct Slot {
    Address block;  // 0: none; 1: none any more
    long nth;
  };
  std::atomic_flag lock = ATOMIC_FLAG_INIT;
  Slot* all = nullptr;
  long live = 0;
};
constinit Table table;

class Locked {
 public:
  Locked() noexcept {
    while (table.lock.test_and_set(std::memory_order_acquire)) {
    }
    if (!table.all)
      table.all = static_cast<Table::Slot*>(::mmap(nullptr, Table::slots * sizeof(Table::Slot), PROT_READ | PROT_WRITE,
                                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  }
  ~Locked() { table.lock.clear(std::memory_order_release); }
};

template <class F>
Table::Slot& find(Address block, F is_it) noexcept {
  std::size_t i = (block >> 4) * 0x9e3779b97f4a7c15 >> 42;
  while (!is_it(table.all[i])) i = (i + 1) % Table::slots;
  return table.all[i];
}

struct Block {
  Address begin, end;
  long nth;
  bool found;
};

/// Blocks leave the table before they are freed, so what it holds can be asked for its size while it is locked.
std::vector<Block> all_blocks() {
  std::vector<Block> blocks;
  blocks.reserve(static_cast<std::size_t>(table.live) + 1000);
  {
    const Locked locked;
    for (const Table::Slot* s = table.all; s < table.all + Table::slots; ++s)
      if (s->block > 1)
        blocks.push_back({s->block, s->block + ::malloc_usable_size(reinterpret_cast<void*>(s->block)), s->nth, false});
  }
  std::ranges::sort(blocks, {}, &Block::begin);
  return blocks;
}

/// Words that are no block: variables, stacks, what threads have. Not the heap, nor what is too large to be these.
bool is_searched(const char* permissions, Address begin, Address end, const char* name) {
  return std::strncmp(permissions, "rw", 2) == 0 && end - begin < (std::size_t{64} << 20) &&
         !std::strstr(name, "[heap]");
}

class Search {
 public:
  explicit Search(std::vector<Block>& blocks) : blocks_(blocks) {}

  void everything() {
    std::FILE* const maps = std::fopen("/proc/self/maps", "r");
    char line[5000], permissions[8];
    Address begin, end;
    while (maps && std::fgets(line, sizeof line, maps))
      if (std::sscanf(line, "%lx-%lx %7s", &begin, &end, permissions) == 3 &&
          is_searched(permissions, begin, end, line))
        memory(begin, end);
    if (maps) std::fclose(maps);
    while (!waiting_.empty()) {
      const Block* const b = waiting_.back();
      waiting_.pop_back();
      memory(b->begin, b->end);
    }
  }

 private:
  /// By way of the system: a thread that is about to end takes its stack and what it had allocated with it.
  void memory(Address begin, Address end) {
    static Address page[4096 / sizeof(Address)];
    for (; begin < end; begin += sizeof page) {
      const ssize_t bytes = ::pread(file_.number, page, std::min(sizeof page, end - begin), static_cast<off_t>(begin));
      for (ssize_t i = 0; i < bytes / ssize_t{sizeof(Address)}; ++i)
        if (!is_of_list(begin + static_cast<Address>(i) * sizeof(Address))) word(page[i]);
    }
  }
  /// The list of blocks refers to all of them.
  bool is_of_list(Address address) const {
    const auto begin = reinterpret_cast<Address>(blocks_.data());
    return address >= begin && address < begin + blocks_.capacity() * sizeof(Block);
  }
  void word(Address value) {
    if (value < blocks_.front().begin || value >= blocks_.back().end) return;
    auto b = std::ranges::upper_bound(blocks_, value, {}, &Block::begin);
    if (b == blocks_.begin() || (--b)->end <= value || b->found) return;
    b->found = true;
    waiting_.push_back(&*b);
  }

  struct File {
    int number = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    ~File() { ::close(number); }
  } file_;
  std::vector<Block>& blocks_;
  std::vector<Block*> waiting_;
};

}  // namespace

void block_taken(void* block, long nth) noexcept {
  const Locked locked;
  const auto address = reinterpret_cast<Address>(block);
  find(address, [](const Table::Slot& s) { return s.block <= 1; }) = {address, nth};
  ++table.live;
}

void block_given_back(void* block) noexcept {
  const Locked locked;
  const auto address = reinterpret_cast<Address>(block);
  find(address, [&](const Table::Slot& s) { return s.block == address || s.block == 0; }).block = 1;
  --table.live;
}

long live_blocks() noexcept { return table.live; }

std::string lost_blocks() {
  std::vector<Block> blocks = all_blocks();
  Search(blocks).everything();
  std::string lost;
  for (const Block& b : blocks)
    if (!b.found && b.nth >= 0)
      lost += "\n  " + std::to_string(b.end - b.begin) + " bytes of --kind allocate --call " + std::to_string(b.nth);
  return lost;
}

}  // namespace sinter::faults

#include "host_memory.hpp"

#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

namespace sinter::inline v1::runtime {
namespace {

constexpr std::size_t huge_page = std::size_t(2) << 20;
constexpr std::size_t map_from = 2 * huge_page;  // the size from which memory is mapped

std::size_t cgroup_limit() {
  std::size_t limit = 0;
  return std::ifstream("/sys/fs/cgroup/memory.max") >> limit ? limit : std::numeric_limits<std::size_t>::max();
}

/// The value of `key` in /proc/meminfo in bytes; 0 if absent.
std::size_t meminfo(const std::string& key) {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key + ":")) return std::strtoull(line.c_str() + key.size() + 1, nullptr, 10) * 1024;
  return 0;
}

/// Pages aligned to a huge page, so that large arrays cause few page faults.
void* map_huge(std::size_t bytes) {
  void* raw = mmap(nullptr, bytes + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  const auto start = reinterpret_cast<std::uintptr_t>(raw);
  const std::uintptr_t aligned = (start + huge_page - 1) & ~(huge_page - 1);
  if (aligned != start) munmap(raw, aligned - start);
  if (const std::size_t rest = start + huge_page - aligned) munmap(reinterpret_cast<void*>(aligned + bytes), rest);
  void* data = reinterpret_cast<void*>(aligned);
  madvise(data, bytes, MADV_HUGEPAGE);  // a hint: kernels without huge pages reject it
  return data;
}

}  // namespace

HostMemory::HostMemory() {
  struct sysinfo system{};
  sysinfo(&system);
  const std::size_t limit = cgroup_limit();
  total_ = std::min(system.totalram * system.mem_unit, limit);
  most_ = limit < system.totalram * system.mem_unit ? limit : total_ + system.totalswap * system.mem_unit;
}

void* HostMemory::acquire(std::size_t bytes, StreamImpl*) {
  if (bytes > most_) return nullptr;
  return bytes < map_from ? std::aligned_alloc(256, bytes) : map_huge(bytes);
}

void HostMemory::release(void* data, std::size_t bytes, StreamImpl*, Fence) noexcept {
  if (bytes < map_from)
    std::free(data);
  else
    munmap(data, bytes);
}

MemoryInfo HostMemory::memory() const { return {std::min(meminfo("MemAvailable"), total_), total_}; }

}  // namespace sinter::inline v1::runtime

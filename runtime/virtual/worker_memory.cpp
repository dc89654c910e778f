#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <sinter/runtime/error.hpp>

#include "arena.hpp"
#include "worker.hpp"

namespace sinter::inline v1::runtime::vgpu {
namespace {

// Tops of stacks 64 KiB apart would share cache sets: each is offset by another number of cache lines.
constexpr std::size_t stagger_bytes = 64;
constexpr unsigned staggers = 128;

[[noreturn]] void throw_out_of_memory() {
  throw OutOfMemory(fmt::format(
      "Virtual GPUs: no memory for the stacks of a kernel's threads ({}). If many allocations are alive, they "
      "use up memory mappings: raise vm.max_map_count.",
      std::strerror(errno)));
}

bool open(char* at, std::size_t bytes) noexcept { return ::mprotect(at, bytes, PROT_READ | PROT_WRITE) == 0; }

}  // namespace

WorkerMemory::WorkerMemory() {
  void* p = ::mmap(nullptr, all_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw_out_of_memory();
  base_ = static_cast<char*>(p);
  bool opened = open(base_ + page_bytes, escape_bytes - page_bytes) && open_stacks(1);
  for (int which : {0, 1})
    opened = opened && open(shared_end(which) - (shared_bytes - 2 * page_bytes), shared_bytes - 2 * page_bytes);
  if (opened) return;
  const int error = errno;
  ::munmap(base_, all_bytes);
  errno = error;
  throw_out_of_memory();
}

WorkerMemory::~WorkerMemory() { ::munmap(base_, all_bytes); }

bool WorkerMemory::open_stacks(unsigned n) noexcept {
  for (; open_ < n; ++open_)
    if (!open(base_ + stacks_at + open_ * stack_bytes + page_bytes, stack_bytes - page_bytes)) return false;
  return true;
}

char* WorkerMemory::stack_top(unsigned i) const noexcept {
  return base_ + stacks_at + (i + 1) * stack_bytes - i * 5 % staggers * stagger_bytes;
}

unsigned WorkerMemory::stack_of(const void* address) const noexcept {
  return static_cast<unsigned>((static_cast<const char*>(address) - (base_ + stacks_at)) /
                               static_cast<std::ptrdiff_t>(stack_bytes));
}

std::size_t WorkerMemory::bytes_above(std::uintptr_t stack_pointer) const noexcept {
  const std::uintptr_t offset = stack_pointer - reinterpret_cast<std::uintptr_t>(base_ + stacks_at);
  if (offset >= open_ * stack_bytes) return 0;
  const auto top = reinterpret_cast<std::uintptr_t>(stack_top(static_cast<unsigned>(offset / stack_bytes)));
  return top > stack_pointer ? top - stack_pointer : 0;
}

bool WorkerMemory::contains(std::uintptr_t address) const noexcept {
  return address - reinterpret_cast<std::uintptr_t>(base_) < all_bytes;
}

char* WorkerMemory::shared_end(int which) const noexcept {
  return base_ + shared_at + static_cast<std::size_t>(which + 1) * shared_bytes - page_bytes;
}

bool WorkerMemory::is_stack_guard(std::uintptr_t address) const noexcept {
  const std::uintptr_t offset = address - reinterpret_cast<std::uintptr_t>(base_ + stacks_at);
  return offset < max_threads * stack_bytes && offset % stack_bytes < page_bytes;
}

bool WorkerMemory::is_shared(std::uintptr_t address) const noexcept {
  return address - reinterpret_cast<std::uintptr_t>(base_ + shared_at) < 2 * shared_bytes;
}

}  // namespace sinter::inline v1::runtime::vgpu

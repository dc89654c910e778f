#include <sinter/runtime/memory.hpp>

#include <sinter/runtime/backend.hpp>
#include "pinned.hpp"

namespace sinter::inline v1 {

MemoryStats memory_stats(Device device) { return runtime::backend(device).memory_stats(); }

MemoryStats pinned_memory_stats() {
  const runtime::Pool* pool = runtime::started_pinned_pool();
  return pool ? pool->stats() : MemoryStats{};
}

void reset_peak_memory(Device device) { runtime::backend(device).reset_peak(); }

std::size_t empty_cache(Device device) { return runtime::backend(device).trim(); }

}  // namespace sinter::inline v1

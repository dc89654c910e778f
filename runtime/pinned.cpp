#include "pinned.hpp"

#include <fmt/format.h>

#include <atomic>
#include <limits>
#include <mutex>

#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/error.hpp>

#include "fork.hpp"

namespace sinter::inline v1::runtime {
namespace {

constinit std::atomic<Pool*> started_pool{nullptr};

Pool* start() {
  static constinit ForkLocal<std::mutex> starting;
  const std::lock_guard lock(starting.get());  // possibly for long: the driver is initialized
  if (Pool* pool = started_pinned_pool()) return pool;
  const int index = current_device();
  MemorySource* source = gpu(index).pinned_memory();
  if (!source) throw DeviceError(fmt::format("cuda:{} does not provide page-locked host memory", index));
  order_matters.store(true, std::memory_order_relaxed);  // from now on the host waits for GPUs too
  // Memory::Device: free memory is not poisoned, since GPUs may still read it.
  Pool* pool = new Pool(*source, Device(), Pool::Memory::Device, std::numeric_limits<std::size_t>::max());
  started_pool.store(pool, std::memory_order_release);
  return pool;
}

}  // namespace

Pool* started_pinned_pool() noexcept { return started_pool.load(std::memory_order_acquire); }

Pool& pinned_pool() {
  Pool* pool = started_pinned_pool();
  return pool ? *pool : *start();
}

}  // namespace sinter::inline v1::runtime

// Statistics of a device's memory.
#pragma once
#include <cstddef>
#include <cstdint>

#include <sinter/runtime/device.hpp>

namespace sinter::inline v1 {

/// Sizes in bytes of tensors' blocks: rounded up to the pool's sizes; on virtual GPUs exactly as requested.
struct MemoryStats {
  std::size_t in_use;                // by tensors
  std::size_t cached;                // free, kept for later tensors
  std::size_t peak_in_use;           // maximum since the start or reset_peak_memory
  std::size_t blocks;                // blocks in use
  std::uint64_t requests;            // blocks requested since the start
  std::uint64_t driver_allocations;  // of these, requests passed on to the driver or the system
};

/// Throws DeviceError if the device does not exist.
MemoryStats memory_stats(Device device);
/// The page-locked host memory that pin_memory() allocates.
MemoryStats pinned_memory_stats();
/// Resets the peak to the current use. Throws DeviceError.
void reset_peak_memory(Device device);
/// Returns cached memory to the device, for other libraries and processes, and waits until it is freed. Returns the
/// number of bytes. Throws DeviceError, CudaError.
std::size_t empty_cache(Device device);

}  // namespace sinter::inline v1

// What a device's memory is used for.
#pragma once
#include <cstddef>
#include <cstdint>

#include <sinter/runtime/device.hpp>

namespace sinter::inline v1 {

/// Sizes in bytes, as tensors take them: rounded up to the pool's sizes, on virtual GPUs as they were asked for.
struct MemoryStats {
  std::size_t in_use;                // by tensors
  std::size_t cached;                // free, kept for later tensors
  std::size_t peak_in_use;           // the most since the start, or reset_peak_memory
  std::size_t blocks;                // in use
  std::uint64_t requests;            // blocks asked for since the start
  std::uint64_t driver_allocations;  // of these, those that the driver or the system was asked for
};

/// Throws DeviceError when the device does not exist.
MemoryStats memory_stats(Device device);
/// The page-locked memory of the host that pin_memory() takes.
MemoryStats pinned_memory_stats();
/// The peak becomes what is in use now. Throws DeviceError.
void reset_peak_memory(Device device);
/// Returns cached memory to the device, for other libraries and processes, and waits until it is there. Gives the
/// number of bytes. Throws DeviceError, CudaError.
std::size_t empty_cache(Device device);

}  // namespace sinter::inline v1

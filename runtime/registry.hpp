// The existing devices.
#pragma once
#include <string>
#include <string_view>

#include <sinter/runtime/backend.hpp>

namespace sinter::inline v1::runtime {

/// GPUs beyond this number are not used.
inline constexpr int max_gpus = 256;

/// The value of SINTER_VIRTUAL_GPUS, 1 to 64. Throws DeviceError for anything else.
int parse_virtual_gpus(std::string_view value);

/// The number of GPUs, virtual ones if SINTER_VIRTUAL_GPUS is set. Throws DeviceError if its value is invalid.
int gpu_count();

/// Whether SINTER_VIRTUAL_GPUS is set. Throws what gpu_count() throws.
bool gpus_are_virtual();

/// Throws DeviceError unless there is a GPU `index`. Does not initialize it.
void require_gpu(int index);

/// The backend of a device if it has been used already, else null.
Backend* started_backend(Device device) noexcept;

}  // namespace sinter::inline v1::runtime

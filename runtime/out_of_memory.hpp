// The message of OutOfMemory, the same for all devices.
#pragma once
#include <cstddef>
#include <string>

#include <sinter/runtime/device.hpp>
#include <sinter/runtime/memory.hpp>

namespace sinter::inline v1::runtime {

/// `bytes` were requested, after `returned` bytes of cached memory had been freed.
std::string out_of_memory(Device device, std::size_t bytes, std::size_t returned, const MemoryStats& now,
                          const MemoryInfo& memory);

}  // namespace sinter::inline v1::runtime

// What OutOfMemory says, of every device in the same words.
#pragma once
#include <cstddef>
#include <string>

#include <sinter/runtime/device.hpp>
#include <sinter/runtime/memory.hpp>

namespace sinter::inline v1::runtime {

/// `bytes` were asked for, after `returned` bytes of cached memory had been returned.
std::string out_of_memory(Device device, std::size_t bytes, std::size_t returned, const MemoryStats& now,
                          const MemoryInfo& memory);

}  // namespace sinter::inline v1::runtime

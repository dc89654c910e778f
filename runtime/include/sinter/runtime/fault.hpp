// What kernels find wrong with their data. A kernel stores a number in its device's fault word, and whoever waits for
// the device next gets the message.
#pragma once
#include <cstdint>
#include <string>

namespace sinter::inline v1::runtime {

/// The number of a message, from 1 on; equal messages have one. Thread-safe. `of_index`: it is an IndexError's.
std::uint32_t fault_code(const std::string& message, bool of_index = false);

/// Throws Error, or IndexError, with the message of a number, and the device that the fault was found on.
[[noreturn]] void throw_fault(std::uint32_t code, const std::string& device);

}  // namespace sinter::inline v1::runtime

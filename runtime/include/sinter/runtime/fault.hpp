// Errors that kernels find in their data. A kernel stores a code in its device's fault word, and the next
// synchronization with the device throws the message.
#pragma once
#include <cstdint>
#include <string>

namespace sinter::inline v1::runtime {

/// The code of a message, counted from 1; equal messages share one. Thread-safe. `of_index`: throw it as IndexError.
std::uint32_t fault_code(const std::string& message, bool of_index = false);

/// Throws Error, or IndexError, with the message of a code and the name of the faulting device.
[[noreturn]] void throw_fault(std::uint32_t code, const std::string& device);

}  // namespace sinter::inline v1::runtime

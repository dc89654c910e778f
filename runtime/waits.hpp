// The number of times that the host waited for a GPU.
#pragma once
#include <cstdint>

namespace sinter::inline v1::runtime {

/// Called once by each function that makes its caller wait. A wait takes at least microseconds, this call nanoseconds.
void count_wait() noexcept;

/// Waits in all threads since the process began.
std::uint64_t waits() noexcept;

}  // namespace sinter::inline v1::runtime

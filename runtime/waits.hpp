// How often the host waited for a GPU.
#pragma once
#include <cstdint>

namespace sinter::inline v1::runtime {

/// To be called by what makes its caller wait, once for each call. A wait takes microseconds at least, this
/// nanoseconds.
void count_wait() noexcept;

/// Since the process began, all threads.
std::uint64_t waits() noexcept;

}  // namespace sinter::inline v1::runtime

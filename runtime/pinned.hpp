// Page-locked host memory, which GPUs read and write asynchronously.
#pragma once
#include "pool.hpp"

namespace sinter::inline v1::runtime {

/// One pool for all GPUs. Throws DeviceError if there is no GPU.
Pool& pinned_pool();
/// The pool if it has been used already, else null.
Pool* started_pinned_pool() noexcept;

}  // namespace sinter::inline v1::runtime

// Page-locked memory of the host, which GPUs read and write by themselves.
#pragma once
#include "pool.hpp"

namespace sinter::inline v1::runtime {

/// One for all GPUs. Throws DeviceError when there is none.
Pool& pinned_pool();
/// The same if something has used it already, else null.
Pool* started_pinned_pool() noexcept;

}  // namespace sinter::inline v1::runtime

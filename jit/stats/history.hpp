// The records of kernel_history().
#pragma once
#include <sinter/jit/stats.hpp>

namespace sinter::inline v1::jit {

/// Adds a record, and drops the oldest if there are too many. Thread-safe.
void remember(KernelRecord record);

}  // namespace sinter::inline v1::jit

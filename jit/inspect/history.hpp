// What kernel_history() tells.
#pragma once
#include <sinter/jit/stats.hpp>

namespace sinter::inline v1::jit {

/// Adds a record, and drops the oldest where there are too many. Thread-safe.
void remember(KernelRecord record);

}  // namespace sinter::inline v1::jit

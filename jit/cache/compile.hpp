// Obtains a binary that this process does not have: from disk, else from the compiler.
#pragma once
#include <chrono>
#include <string>

#include <sinter/jit/stats.hpp>
#include <sinter/runtime/backend.hpp>
#include "kernel_key.hpp"

namespace sinter::inline v1::jit {

struct KernelBinary {
  std::string bytes;
  KernelOrigin origin;
};

/// Compiles on a thread with a large stack, counts and logs, stores the binary on disk, and writes text and binary to
/// SINTER_DUMP_DIR. A wait of more than a second is shown on a terminal and, once in a process, explained. Throws what
/// the device's compile throws.
KernelBinary find_or_compile(const KernelKey& key, runtime::KernelTarget& target);

/// For a kernel whose binary from disk did not load: deletes the entry and compiles.
KernelBinary compile_again(const KernelKey& key, runtime::KernelTarget& target);

/// For tests: the time after which the wait is explained.
void set_compile_patience(std::chrono::milliseconds patience) noexcept;

}  // namespace sinter::inline v1::jit

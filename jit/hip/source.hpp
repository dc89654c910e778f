// A kernel as HIP text, for AMD's GPUs.
#pragma once
#include <string>

#include "../plan/class_key.hpp"

namespace sinter::inline v1::jit::hip {

/// As cuda::source. Compiled by hipcc or hipRTC, for waves of 32 or 64 lanes.
std::string source(const Kernel& kernel, const KernelTraits& traits, const KernelClass& c);

}  // namespace sinter::inline v1::jit::hip

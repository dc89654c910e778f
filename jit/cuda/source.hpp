// A kernel as CUDA text.
#pragma once
#include <string>

#include "../plan/class_key.hpp"

namespace sinter::inline v1::jit::cuda {

/// Threads of a block; what __launch_bounds__ says.
inline constexpr int block_threads = 256;

/// The text of `kernel` for one class. Needs no header. Its entry is kernel.name; its parameters are listed at
/// KernelClass. Depends on nothing but its arguments, so equal kernels have equal texts.
std::string source(const Kernel& kernel, const KernelTraits& traits, const KernelClass& c);

}  // namespace sinter::inline v1::jit::cuda

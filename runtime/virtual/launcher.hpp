// Launches on a virtual GPU: the driver's checks, then all blocks, then checks for stray writes of the kernel.
#pragma once
#include <sinter/runtime/backend.hpp>

#include "arena.hpp"
#include "kernel.hpp"

namespace sinter::inline v1::runtime::vgpu {

/// Runs every block before it returns, on behalf of `stream`. `limit_s` is a block's limit of processor time; 0: none.
/// Throws CudaError for a launch that a GPU would reject, for pointers of another device, and for a fault of the
/// kernel; other blocks, before and after the faulting one, may have run by then.
void run_launch(const Launch& launch, const StreamImpl& stream, Arena& arena, double limit_s);

}  // namespace sinter::inline v1::runtime::vgpu

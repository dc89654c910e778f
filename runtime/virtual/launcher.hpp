// Launches on a virtual GPU: what a driver checks, then all blocks, then what the kernel left behind.
#pragma once
#include <sinter/runtime/backend.hpp>

#include "arena.hpp"
#include "kernel.hpp"

namespace sinter::inline v1::runtime::vgpu {

/// Returns when every block has run, on `stream`'s behalf. `limit_s` is the processor time that one block may take; 0:
/// any. Throws CudaError for a launch that a GPU would refuse, for pointers that are not this device's, and for a fault
/// of the kernel; then other blocks may have run, before and after.
void run_launch(const Launch& launch, const StreamImpl& stream, Arena& arena, double limit_s);

}  // namespace sinter::inline v1::runtime::vgpu

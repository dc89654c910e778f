// The occupancy that a kernel's launch bounds ask for.
#pragma once
#include "operands.hpp"

namespace sinter::inline v1::jit::loops {

/// Minimum blocks per multiprocessor. ptxas gives unrolled code as many registers as it is allowed to: if 64 per thread
/// suffice, request 1024 resident threads. With long functions or doubles that could cause spills: request one block.
int resident_blocks(const Frame& frame);

}  // namespace sinter::inline v1::jit::loops

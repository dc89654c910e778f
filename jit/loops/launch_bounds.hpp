// The occupancy that a kernel's launch bounds request.
#pragma once
#include "lowering_context.hpp"

namespace sinter::inline v1::jit::loops {

/// Minimum blocks per multiprocessor. ptxas gives unrolled code as many registers as it is allowed to: if 64 per thread
/// suffice, request 1024 resident threads. With long functions or doubles that could cause spills: request one block.
int min_blocks_per_multiprocessor(const LoweringContext& context);

}  // namespace sinter::inline v1::jit::loops

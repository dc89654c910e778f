// A kernel of a plan as nested loops, without the threads and blocks of a GPU.
#pragma once
#include "../plan/class_key.hpp"
#include "loops.hpp"

namespace sinter::inline v1::jit::loops {

/// A loop for each dim of the nest. Extents and strides that are no numbers are parameters: "extent0", "x0_stride1".
/// Pointers are "y0", "x0", scalars "s0" in the order of their nodes; "faults" is a word whose bits are the faults that
/// were found.
///
/// Sums of float32 are computed in float64, but for those of a few elements (block_elements); sums of float64 are
/// compensated. Compilers make vectors of the inner loops, and threads may share the outermost one if its iterations
/// are independent; results do not depend on that.
LoopProgram lower_serial(const Kernel& kernel, const KernelTraits& traits, const SymbolicNest& nest);

/// A bit for each fault.
constexpr int fault_bit(Fault fault) noexcept { return 1 << static_cast<int>(fault); }

}  // namespace sinter::inline v1::jit::loops

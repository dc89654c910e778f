// Lowers a kernel of a plan to the loop IR.
#pragma once
#include "../plan/class_key.hpp"
#include "loops.hpp"

namespace sinter::inline v1::jit::loops {

/// The program of `kernel` for one class, whose parameters KernelClass lists. Depends on nothing but its arguments, so
/// equal kernels have equal programs.
///
/// There is one lowering for all kernels. The threads of a team make one pass over the vectors of a row for each stage
/// of its reductions and, if outputs have an element for each element of the domain, a final one. A kernel without
/// reductions is lowered as a single row that spans the whole domain. All threads of the grid form its team, and its
/// only pass writes the outputs.
///
/// Sums of floats add the elements of a vector and the threads of a team in pairs; if a thread processes many vectors,
/// their sum is compensated. The error of a sum of n terms is at most (vectors_per_thread + vector_width + 2 log2(1024)
/// + 4) u sum |x| + n^2 u^2 sum |x|, where u is half a unit in the last place of 1.
LoopProgram lower(const Kernel& kernel, const KernelTraits& traits, const KernelClass& c);

}  // namespace sinter::inline v1::jit::loops

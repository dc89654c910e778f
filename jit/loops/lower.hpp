// A kernel of a plan as loops.
#pragma once
#include "../plan/class_key.hpp"
#include "loops.hpp"

namespace sinter::inline v1::jit::loops {

/// The loops of `kernel` for one class, whose parameters KernelClass lists. Depends on nothing but its arguments, so
/// equal kernels have equal loops.
///
/// One lowering makes all kernels. The threads of a team pass over the vectors of a row: once for each stage of its
/// reductions and, where an output has the domain's elements, once more. A kernel that does not reduce is one row, the
/// whole domain, of which all threads of the grid are the team.
///
/// Sums of floats add the lanes of a vector and the threads of a team in pairs; where a thread handles many vectors,
/// what rounding loses between them is summed as well. So the error of a sum of n terms is at most
/// (steps + lanes + 2 log2(1024) + 4) u sum |x| + n^2 u^2 sum |x|, where u is half a unit in the last place of 1.
Loops lower(const Kernel& kernel, const KernelTraits& traits, const KernelClass& c);

}  // namespace sinter::inline v1::jit::loops

// A kernel that reduces, as CUDA text.
#pragma once
#include <string>

#include "../plan/class_key.hpp"

namespace sinter::inline v1::jit::cuda {

/// The text of a kernel with rows for one class, as source() gives it for others. A thread passes through its part of a
/// row once for each stage and, where outputs have an element for each of the row's, once more. Sums of floats add the
/// lanes of a vector and the threads of a team in pairs; where a thread handles many vectors, what rounding loses
/// between them is summed as well (Knuth, TAOCP 2, 4.2.2, theorem B). So the error of a sum of n terms is at most
/// (steps + lanes + 2 log2(1024) + 4) u sum |x| + n^2 u^2 sum |x|, where u is half a unit in the last place of 1.
/// Where a row is not kept, its online sums (online_sums.hpp) are found about pivots. A pivot of exponentials moves by
/// more than 8 or not at all, so what earlier moves rounded shrinks by e^-8 each time; one of squares is the mean of a
/// third of the thread's elements at least, but for the first two batches, so the squares' sum about it, of which u is
/// lost at each of log2(n) moves, is at most four times that about the mean.
std::string row_source(const Kernel& kernel, const KernelTraits& traits, const KernelClass& c);

}  // namespace sinter::inline v1::jit::cuda

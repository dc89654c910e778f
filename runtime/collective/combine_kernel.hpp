// Elementwise reductions on a GPU, for those that a collective library lacks or defines differently from Sinter.
#pragma once
#include <string>

#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/communicator.hpp>

namespace sinter::inline v1::runtime {

/// The kernel's source. Its parameters: to, from, arrays, count. Not for bool and complex dtypes.
KernelSource combine_kernel(DType dtype, ReduceOp how);

/// The `count` elements at `to` are combined with those of `arrays` arrays at from, from + count and so on, in order,
/// like combine() except for the signs of zeros. Runs on the current stream, which the caller orders with other uses of
/// the memory. Throws what compiling and launching throw.
void combine_on_gpu(GpuBackend& gpu, DType dtype, ReduceOp how, std::byte* to, const std::byte* from,
                    std::int64_t arrays, std::int64_t count);

}  // namespace sinter::inline v1::runtime

// Combines elements on a GPU: what a library for collective operations cannot, or not as Sinter does.
#pragma once
#include <string>

#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/communicator.hpp>

namespace sinter::inline v1::runtime {

/// The kernel's text. Its parameters: to, from, arrays, count. bool and complex dtypes have none.
KernelSource combine_kernel(DType dtype, Combine how);

/// The `count` elements at `to` become the combination of as many at `from`, at from + count and so on, of so many
/// arrays, in their order, as combine() has it but for the signs of zeros. On the current stream; the caller keeps it
/// in order. Throws what compiling and launching throw.
void combine_on_gpu(GpuBackend& gpu, DType dtype, Combine how, std::byte* to, const std::byte* from,
                    std::int64_t arrays, std::int64_t count);

}  // namespace sinter::inline v1::runtime

// Writing a tensor's elements to a file.
#pragma once
#include <cstddef>
#include <functional>
#include <span>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::detail {

/// Calls write(bytes) with the bytes of a tensor without gaps, beginning with its first element: all at once from the
/// CPU, in chunks from a GPU. Throws CudaError, and what `write` throws.
void for_each_chunk(const runtime::TensorImpl& t, const std::function<void(std::span<const std::byte>)>& write);

}  // namespace sinter::inline v1::detail

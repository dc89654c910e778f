// A tensor's elements on their way to a file.
#pragma once
#include <cstddef>
#include <functional>
#include <span>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::detail {

/// Calls write(bytes) with the bytes of a tensor without gaps, from its first element on: all at once from the CPU, in
/// chunks from a GPU. Throws CudaError, and what `write` throws.
void for_each_part(const runtime::TensorImpl& t, const std::function<void(std::span<const std::byte>)>& write);

}  // namespace sinter::inline v1::detail

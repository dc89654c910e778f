// Copies of a buffer's bytes, in order with all its uses.
#pragma once
#include <sinter/runtime/buffer.hpp>

namespace sinter::inline v1::runtime {

/// A range of bytes in a buffer. All functions throw CudaError.
struct Span {
  Buffer* buffer;
  std::byte* data;
};

/// To a GPU. `host` may be reused at once. May return before the GPU has the bytes.
void upload(Span to, const void* host, std::size_t bytes);
/// From a GPU or the CPU. `host` holds the bytes on return.
void download(void* host, Span from, std::size_t bytes);
/// Between devices, or within one; the ranges must not overlap. Waits only for copies from a GPU to the CPU.
void copy(Span to, Span from, std::size_t bytes);

}  // namespace sinter::inline v1::runtime

// Stream compaction by a mask on a GPU: one kernel counts, the host scans the counts, one kernel writes. Each warp
// processes a part of the mask, and warps are ordered only through the host.
#pragma once
#include <cstdint>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::jit::cuda {

/// The true elements of a mask.
struct MaskCounts {
  std::int64_t length;         // of a part, in elements; the last may have fewer
  std::int64_t total;          // true elements
  runtime::TensorRef offsets;  // int64, on the GPU: true elements before each part; null if there are none
};

/// Waits for the GPU. The mask is contiguous and has elements.
MaskCounts count_true(const runtime::TensorImpl& mask);

/// Copies the selected elements of a contiguous array to `to`, in order.
void copy_true(const runtime::TensorImpl& to, const runtime::TensorImpl& from, const runtime::TensorImpl& mask,
               const MaskCounts& parts);

/// Writes a row of coordinates for each true element of a mask with at least one dim.
void write_positions(const runtime::TensorImpl& to, const runtime::TensorImpl& mask, const MaskCounts& parts);

}  // namespace sinter::inline v1::jit::cuda

// From tensors to the loop nest of a kernel.
#pragma once
#include <span>

#include <sinter/runtime/tensor_impl.hpp>
#include "loop_nest.hpp"
#include "plan.hpp"

namespace sinter::inline v1::jit {

/// What a nest is made of where extents and strides are symbolic; members as runtime::TensorImpl's.
struct SymbolicTensor {
  SymbolicShape shape, strides;
  Extent numel = 1;
  bool contiguous = true;
  std::byte* data = nullptr;
  std::int64_t first = 0;

  int ndim() const noexcept { return shape.ndim(); }
};

/// Fills `nest` for a kernel. `operands` are its outputs, which have one shape, then its inputs, which broadcast to it.
/// Adjacent dims that every operand traverses with one stride are merged. If the first output is not row-major, dims
/// are ordered by its memory. `arrays` are the positions of operands of indirect loads: their shape is ignored and
/// their strides are 0.
void make_nest(LoopNest& nest, std::span<runtime::TensorImpl* const> operands, int outputs,
               std::span<const std::uint32_t> arrays = {});
void make_nest(SymbolicNest& nest, std::span<SymbolicTensor* const> operands, int outputs,
               std::span<const std::uint32_t> arrays = {});

/// The loop nest of a kernel that reduces over a domain of this shape: the row dims, then the reduced dims, each
/// ordered by memory, or in axis order if a reduction returns positions. Operands with one element per row have strides
/// of 0 along the reduced dims.
void make_row_nest(LoopNest& nest, std::span<runtime::TensorImpl* const> operands, const Kernel& kernel,
                   const Shape& domain);
void make_row_nest(SymbolicNest& nest, std::span<SymbolicTensor* const> operands, const Kernel& kernel,
                   const SymbolicShape& domain);

}  // namespace sinter::inline v1::jit

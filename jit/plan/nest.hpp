// From tensors to the loop nest of a kernel.
#pragma once
#include <span>

#include <sinter/runtime/tensor_impl.hpp>
#include "loop_nest.hpp"
#include "plan.hpp"

namespace sinter::inline v1::jit {

/// Fills `nest` for a kernel. `operands` are its outputs, which have one shape, then its inputs, which broadcast to it.
/// Dims that all operands traverse as one are merged. Where an output is not row-major, dims follow its memory.
/// `arrays` are the operands that are read at computed places: their shape plays no part and their strides are 0.
void make_nest(LoopNest& nest, std::span<runtime::TensorImpl* const> operands, int outputs,
               std::span<const std::uint32_t> arrays = {});

/// The same for a kernel that reduces over a domain of this shape: the dims that make rows, then those that are
/// reduced, each in the order of memory, or of the axes where positions along the reduced ones are a result. Operands
/// that have one element for each row have strides of 0 along the latter.
void make_row_nest(LoopNest& nest, std::span<runtime::TensorImpl* const> operands, const Kernel& kernel,
                   const Shape& domain);

}  // namespace sinter::inline v1::jit

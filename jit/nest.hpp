// From tensors to the loop nest of a kernel.
#pragma once
#include <span>

#include <sinter/runtime/tensor_impl.hpp>
#include "loop_nest.hpp"

namespace sinter::inline v1::jit {

/// Fills `nest` for a kernel. `operands` are its outputs, which have one shape, then its inputs, which broadcast to it.
/// Dims that all operands walk as one are merged. Where an output is not row-major, dims follow its memory.
void make_nest(LoopNest& nest, std::span<runtime::TensorImpl* const> operands, int outputs);

}  // namespace sinter::inline v1::jit

// Checks of an evaluation's operands and outputs.
#pragma once
#include <span>

#include <sinter/runtime/tensor_impl.hpp>
#include "../graph/leaves.hpp"
#include "compiled_graph.hpp"

namespace sinter::inline v1::jit {

/// The shape of one output. Throws ShapeError that names the operation whose operands do not broadcast.
Shape output_shape(const CompiledGraph& compiled, std::size_t output, Leaves leaves);

/// Throws Error if one of a compiled graph's scalars does not fit the dtype that an operation converts it to, or if an
/// operation does not accept it.
void check_scalars(const CompiledGraph& compiled, const Scalar* scalars);

/// Throws DTypeError if a result of dtype `from` may not be written to `to`.
void check_castable(DType from, const runtime::TensorImpl& to);

/// Throws DeviceError, ShapeError or Error if a result of shape `shape` on `device` cannot be written to `to`.
void check_output(const runtime::TensorImpl& to, const Shape& shape, Device device);

/// Throws Error if two outputs of one evaluation share memory. Some may be null.
void check_outputs_disjoint(std::span<const runtime::TensorRef> outputs);

}  // namespace sinter::inline v1::jit

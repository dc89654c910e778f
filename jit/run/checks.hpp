// What an evaluation demands of its operands and outputs, and the messages that teach it.
#pragma once
#include <span>

#include <sinter/runtime/tensor_impl.hpp>
#include "recipe.hpp"

namespace sinter::inline v1::jit {

using Leaves = std::span<runtime::TensorImpl* const>;

/// Throws Error: an expression was used after it was moved from.
[[noreturn]] void throw_empty_expression();

/// Throws DeviceError: names the operation whose operands are on different devices.
[[noreturn]] void throw_devices_differ(const Graph& recorded, Leaves leaves);

/// The shape of one output. Throws ShapeError that names the operation whose operands do not broadcast.
Shape output_shape(const Recipe& recipe, std::size_t output, Leaves leaves);
/// The same of a graph. Throws IndexError as well.
Shape output_shape(const Graph& recorded, Operand output, Leaves leaves);

/// Throws ShapeError that names the operation whose operands do not broadcast, IndexError for one that reduces along an
/// axis that is not there, or looks for the largest of no element.
void check_shapes(const Graph& recorded, Leaves leaves);

/// Throws Error where an integer does not fit the dtype that an operation converts it to.
void check_fits(std::int64_t value, DType dtype);
/// The same of a recipe's scalars, and Error where an operation does not take a number.
void check_scalars(const Recipe& recipe, const Scalar* scalars);

/// Throws DtypeError where a result of dtype `from` may not be written to `to`.
void check_castable(DType from, const runtime::TensorImpl& to);

/// Throws DeviceError, ShapeError or Error where a result of shape `shape` on `device` cannot be written to `to`.
void check_output(const runtime::TensorImpl& to, const Shape& shape, Device device);

/// Throws Error where two outputs of one evaluation, of which some may be null, share memory.
void check_apart(std::span<const runtime::TensorRef> outputs);

}  // namespace sinter::inline v1::jit

// Whether an expression's operands go together, and the messages where they do not.
#pragma once
#include <cstdint>
#include <span>

#include "../graph/leaves.hpp"

namespace sinter::inline v1::jit {

/// Throws DeviceError: names the operation whose operands are on different devices.
[[noreturn]] void throw_devices_differ(const Graph& recorded, Leaves leaves);

/// What these leaves of a graph broadcast to. Throws ShapeError that names the operation whose operands do not
/// broadcast.
Shape broadcast_shape(const Graph& recorded, std::span<const std::uint32_t> numbers, Leaves leaves);

/// The shape of one output. Throws ShapeError that names the operation whose operands do not broadcast, IndexError.
Shape output_shape(const Graph& recorded, Operand output, Leaves leaves);

/// Throws ShapeError that names the operation whose operands do not broadcast, IndexError for one that reduces along an
/// axis out of range or looks for the largest of no elements.
void check_shapes(const Graph& recorded, Leaves leaves);

}  // namespace sinter::inline v1::jit

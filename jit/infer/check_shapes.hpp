// Checks that an expression's operands are compatible, with messages that name the operation.
#pragma once
#include <cstdint>
#include <span>

#include "../graph/leaves.hpp"

namespace sinter::inline v1::jit {

/// Throws DeviceError: names the operation whose operands are on different devices.
[[noreturn]] void throw_devices_differ(const Graph& recorded, Leaves leaves);

/// The shape that these leaves broadcast to. Throws ShapeError that names the operation whose operands do not
/// broadcast.
Shape broadcast_shape(const Graph& recorded, std::span<const std::uint32_t> numbers, Leaves leaves);

/// The shape of one output. Throws ShapeError that names the operation whose operands do not broadcast, IndexError.
Shape output_shape(const Graph& recorded, Operand output, Leaves leaves);

/// Throws ShapeError that names the operation whose operands do not broadcast, IndexError for a reduction along an axis
/// out of range or an argmax or argmin of no elements.
void check_shapes(const Graph& recorded, Leaves leaves);

}  // namespace sinter::inline v1::jit

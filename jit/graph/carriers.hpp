// Dtypes that are only stored: executors load and store them, and compute in their carriers.
#pragma once
#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

/// The graph with int8, half and their like in leaves, outputs and conversions alone. Floats are rounded to their dtype
/// where they are written, where a cast says so and where something else than a float is made of them (comparisons,
/// isinf, conversions to integers), not between operations. Integers wrap as if each operation did.
Graph with_carriers(const Graph& graph);

/// Whether executors convert one dtype to another in one step: 16-bit floats to and from float alone, narrow integers
/// to all that operations compute in.
constexpr bool has_conversion(DType from, DType to) noexcept {
  const bool is_16_bit_float = is_stored_only(from) && category(from) == Category::Float;
  return from == carrier(to) || (!is_stored_only(to) && (!is_16_bit_float || to == carrier(from)));
}

}  // namespace sinter::inline v1::jit

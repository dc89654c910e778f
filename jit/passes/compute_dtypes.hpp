// Storage dtypes: executors load and store them, and compute in their compute dtypes.
#pragma once
#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

/// The graph with int8, half and similar dtypes only in leaves, outputs and conversions. Floats are rounded to their
/// dtype when they are stored, by explicit casts, and as operands of operations whose result is not a float
/// (comparisons, isinf, conversions to integers), not between operations. Integers wrap as if each operation did.
Graph lower_compute_dtypes(const Graph& graph);

/// Whether executors convert one dtype to another in one step: 16-bit floats only to and from float32, storage-only
/// integers to every compute dtype, floats to uint64.
constexpr bool has_conversion(DType from, DType to) noexcept {
  const bool is_16_bit_float = is_stored_only(from) && category(from) == Category::Float;
  if (to == DType::UInt64 && category(from) == Category::Float) return !is_16_bit_float;
  return from == compute_dtype(to) || (!is_stored_only(to) && (!is_16_bit_float || to == compute_dtype(from)));
}

}  // namespace sinter::inline v1::jit

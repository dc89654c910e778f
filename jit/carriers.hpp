// Dtypes that are only stored: executors load and store them, and compute in their carriers.
#pragma once
#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

/// The graph with int8, half and their like in leaves, outputs and conversions alone. Floats are rounded to their dtype
/// where they are written and where a cast says so, not between operations. Integers wrap as if each operation did.
Graph with_carriers(const Graph& graph);

/// Whether executors convert one dtype to another in one step.
constexpr bool has_conversion(DType from, DType to) noexcept { return !is_stored_only(to) || from == carrier(to); }

}  // namespace sinter::inline v1::jit

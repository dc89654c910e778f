// From what was written to what executors compute.
#pragma once
#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

/// The same values from the operations and dtypes that executors have. Leaves, scalars and outputs keep their dtypes,
/// and leaves and scalars their numbers. With `keeps_shapes`, as where the graph reshapes, no part of a complex value
/// has another shape than the value.
Graph lower(const Graph& graph, bool keeps_shapes = false);

}  // namespace sinter::inline v1::jit

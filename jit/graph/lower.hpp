// From what was written to what executors compute.
#pragma once
#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

/// The same values from the operations and dtypes that executors have. Leaves, scalars and outputs keep their dtypes,
/// and leaves and scalars their numbers.
Graph lower(const Graph& graph);

}  // namespace sinter::inline v1::jit

// Lowering: from the recorded graph to the operations that executors implement.
#pragma once
#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

/// Lowers a graph to the operations and dtypes that executors implement. Leaves, scalars and outputs keep their
/// dtypes, and leaves and scalars their numbers. With `keeps_shapes`, or if the graph reshapes, the parts of a complex
/// value have its shape.
Graph lower(const Graph& graph, bool keeps_shapes = false);

}  // namespace sinter::inline v1::jit

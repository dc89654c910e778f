// Composite operations: those that executors do not have, and what stands for them.
#pragma once
#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

/// The same values without composite operations. Each is replaced by the operations of its body; these repeat where
/// the body repeats itself, until simplify() makes them one.
Graph expand_composites(const Graph& graph);

}  // namespace sinter::inline v1::jit

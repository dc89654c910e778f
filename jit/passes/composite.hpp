// Composite operations, which executors do not implement, and their expansion.
#pragma once
#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

/// Which composite operations: all, those that use the limits of their dtype, or those that reduce.
enum class Composites { All, WithLimits, Reductions };

/// Lowers these composite operations. Each is replaced by the operations of its body; subexpressions
/// that the body repeats stay repeated until simplify() merges them.
Graph expand_composites(const Graph& graph, Composites which = Composites::All);
/// Lowers the composite operations for which `expands` holds.
Graph expand_composites(const Graph& graph, bool (*expands)(Op));

}  // namespace sinter::inline v1::jit

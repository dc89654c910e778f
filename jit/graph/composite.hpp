// Composite operations: those that executors do not have, and what stands for them.
#pragma once
#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

/// Which composite operations: all, those that ask for the limits of their dtype, or those that reduce.
enum class Composites { All, WithLimits, Reductions };

/// The same values without these composite operations. Each is replaced by the operations of its body; these repeat
/// where the body repeats itself, until simplify() makes them one.
Graph expand_composites(const Graph& graph, Composites which = Composites::All);

}  // namespace sinter::inline v1::jit

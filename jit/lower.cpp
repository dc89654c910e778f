#include "lower.hpp"

#include "composite.hpp"

namespace sinter::inline v1::jit {

Graph lower(const Graph& graph) { return expand_composites(graph); }

}  // namespace sinter::inline v1::jit

#include "lower.hpp"

#include "carriers.hpp"

namespace sinter::inline v1::jit {

Graph lower(const Graph& graph) { return with_carriers(graph); }

}  // namespace sinter::inline v1::jit

#include "lower.hpp"

#include "carriers.hpp"
#include "complex_parts.hpp"
#include "composite.hpp"

namespace sinter::inline v1::jit {

/// Bodies are computed in the carrier, so that their constants are not rounded to half; but for limits of the dtype.
Graph lower(const Graph& graph, bool keeps_shapes) {
  const Graph real = with_complex_parts(graph, keeps_shapes);
  return expand_composites(with_carriers(expand_composites(real, Composites::WithLimits)), Composites::All);
}

}  // namespace sinter::inline v1::jit

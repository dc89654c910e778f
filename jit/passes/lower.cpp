#include "lower.hpp"

#include "complex_parts.hpp"
#include "composite.hpp"
#include "compute_dtypes.hpp"

namespace sinter::inline v1::jit {

/// Bodies are computed in the compute dtype, so that their constants are not rounded to half; only those that use the
/// limits of their dtype are expanded before.
Graph lower(const Graph& graph, bool keeps_shapes) {
  const Graph real = lower_complex(graph, keeps_shapes);
  return expand_composites(lower_compute_dtypes(expand_composites(real, Composites::WithLimits)), Composites::All);
}

}  // namespace sinter::inline v1::jit

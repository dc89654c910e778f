// Shapes of lazy values, and what broadcasts to them.
#pragma once
#include <sinter/jit/recorded.hpp>
#include "../infer/check_shapes.hpp"
#include "../infer/shapes.hpp"

namespace sinter::inline v1::jit {

inline Shape shape_of(const LazyRef& value) {
  const Recorded recorded = Recorded::unevaluated({&value, 1});
  return output_shape(recorded.graph, recorded.graph.outputs()[0], recorded.leaves);
}

inline bool broadcasts_to(const Shape& from, const Shape& shape) {
  Shape together = shape;
  return broadcast(together, from) && together == shape;
}

}  // namespace sinter::inline v1::jit

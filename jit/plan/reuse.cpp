#include "reuse.hpp"

#include <algorithm>

namespace sinter::inline v1::jit {

ReusedTemporaries reused_temporaries(const Plan& plan, const PlanShapes& shapes, std::size_t number) {
  const Kernel& kernel = plan.kernels[number];
  ReusedTemporaries reused(kernel.outputs.size());
  if (kernel.is_product || kernel.rows) return reused;
  for (std::size_t o = 0; o < reused.size(); ++o) {
    const DType dtype = kernel.graph[kernel.graph.outputs()[o]].dtype;
    for (const Slot& s : kernel.inputs) {
      if (s.kind != Slot::Kind::Temporary || plan.last_use[s.number] != number) continue;
      if (plan.temporaries[s.number] != dtype || shapes.temporaries[s.number] != shapes.kernels[number]) continue;
      if (std::ranges::find(reused, s.number) != reused.end()) continue;
      reused[o] = s.number;
      break;
    }
  }
  return reused;
}

}  // namespace sinter::inline v1::jit

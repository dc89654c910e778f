#include "reuse.hpp"

#include <algorithm>

namespace sinter::inline v1::jit {
namespace {

using Kind = Slot::Kind;

AxisMapping mapping_of(const Kernel& kernel, std::size_t operand) {
  return kernel.rows ? kernel.rows->axis_mapping[operand] : AxisMapping::Domain;
}

/// Whether each element is read before an output is written to its place.
bool is_read_by_element(const Kernel& kernel, std::uint32_t temporary) {
  for (std::size_t i = 0; i < kernel.inputs.size(); ++i)
    if (kernel.inputs[i] == Slot{Kind::Temporary, temporary} &&
        mapping_of(kernel, kernel.outputs.size() + i) != AxisMapping::Domain)
      return false;
  return true;
}

}  // namespace

ReusedTemporaries reused_temporaries(const Plan& plan, const PlanShapes& shapes, std::size_t number) {
  const Kernel& kernel = plan.kernels[number];
  ReusedTemporaries reused(kernel.outputs.size());
  if (kernel.is_product) return reused;
  for (std::size_t o = 0; o < reused.size(); ++o) {
    if (mapping_of(kernel, o) != AxisMapping::Domain) continue;
    const DType dtype = kernel.graph[kernel.graph.outputs()[o]].dtype;
    for (const Slot& s : kernel.inputs) {
      if (s.kind != Kind::Temporary || plan.last_use[s.number] != number) continue;
      if (plan.temporaries[s.number] != dtype || shapes.temporaries[s.number] != shapes.kernels[number]) continue;
      if (std::ranges::find(reused, s.number) != reused.end() || !is_read_by_element(kernel, s.number)) continue;
      reused[o] = s.number;
      break;
    }
  }
  return reused;
}

}  // namespace sinter::inline v1::jit

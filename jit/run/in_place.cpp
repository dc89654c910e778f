#include "in_place.hpp"

#include <algorithm>
#include <span>

namespace sinter::inline v1::jit {

using runtime::TensorImpl;

bool writes_in_place(const Kernel& kernel, std::size_t output, const TensorImpl& to, Leaves leaves) {
  if (kernel.is_product)
    return std::ranges::none_of(std::span(kernel.inputs).first(2), [&](const Slot& s) {
      return s.kind == Slot::Kind::Leaf && overlap(to, *leaves[s.number]) != Overlap::None;
    });
  return !kernel.rows || kernel.rows->axis_mapping[output] == AxisMapping::Domain;
}

Overlap overlap_with_reads(const TensorImpl& to, std::uint32_t output, const CompiledGraph& compiled,
                           const ExecutablePlan& plan, Leaves leaves, const MemoryIndex& index) {
  const auto [kernel, position] = plan.writers[output];
  Overlap worst = Overlap::None;
  const bool overwrites = index.any_candidate(to, [&](std::size_t leaf) {
    const std::int32_t last_read = plan.last_read_of(leaf);
    if (last_read < kernel) return false;
    const Overlap with = overlap(to, *leaves[leaf]);
    worst = std::max(worst, with);
    return with == Overlap::Some || (with == Overlap::Same && (last_read > kernel || compiled.is_array(leaf)));
  });
  if (overwrites) return Overlap::Some;
  const Kernel& writer = plan.plan.kernels[static_cast<std::size_t>(kernel)];
  return worst == Overlap::Same && !writes_in_place(writer, position, to, leaves) ? Overlap::Some : worst;
}

}  // namespace sinter::inline v1::jit

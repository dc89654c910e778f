#include "lowering_context.hpp"

#include <algorithm>

namespace sinter::inline v1::jit::loops {

LoweringContext::LoweringContext(const Kernel& k, const KernelTraits& t, const KernelClass& kernel_class)
    : kernel(k),
      graph(k.graph),
      traits(t),
      c(kernel_class),
      scheme(kernel_class.rows),
      passes(k, !kernel_class.rows.in_registers) {}

bool LoweringContext::needs_control_flow_guard() const noexcept {
  return traits.faults.any() || std::ranges::any_of(graph.nodes(), [](const Node& n) { return n.op == Op::load; });
}

}  // namespace sinter::inline v1::jit::loops

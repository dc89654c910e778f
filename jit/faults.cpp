#include "faults.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sinter::inline v1::jit {

bool has_divisor(Op op) noexcept {
  return op == Op::floor_divide || op == Op::trunc_divide || op == Op::remainder || op == Op::fmod;
}

std::optional<Operand> nonzero_operand(const Graph& graph, const Node& node) noexcept {
  if (!has_divisor(node.op)) return std::nullopt;
  const Operand divisor = graph.operands(node)[1];
  if (category(graph[divisor].dtype) == Category::Float) return std::nullopt;
  if (graph[divisor].op == Op::constant && graph[divisor].attribute != 0) return std::nullopt;
  return divisor;
}

bool may_fault(const Graph& graph) noexcept {
  return std::ranges::any_of(graph.nodes(), [&](const Node& n) { return nonzero_operand(graph, n).has_value(); });
}

std::string fault_message(const Kernel& kernel) {
  std::string operations;
  for (const Node& n : kernel.graph.nodes()) {
    if (!nonzero_operand(kernel.graph, n)) continue;
    const std::string call = fmt::format("{} of {}", name(n.op), name(kernel.graph[kernel.graph.operands(n)[1]].dtype));
    if (operations.find(call) == std::string::npos) operations += (operations.empty() ? "" : ", ") + call;
  }
  return fmt::format(
      "ZeroDivisionError: an integer was divided by zero ({} in kernel {}); the elements concerned are 0\n  Replace "
      "zeros in the divisor first, for example where(b == 0, 1, b), or divide floats, which gives inf and nan",
      operations, kernel.name);
}

}  // namespace sinter::inline v1::jit

#include "faults.hpp"

#include <fmt/format.h>

#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::jit {

std::optional<Operand> nonzero_operand(const Graph& graph, const Node& node) noexcept {
  if (!has(node.op, FaultsOnZeroDivisor)) return std::nullopt;
  const Operand divisor = graph.operands(node)[1];
  if (category(graph[divisor].dtype) == Category::Float) return std::nullopt;
  if (graph[divisor].op == Op::constant && graph[divisor].attribute != 0) return std::nullopt;
  return divisor;
}

Faults faults_of(const Graph& graph) noexcept {
  Faults faults;
  for (const Node& n : graph.nodes()) {
    faults.division_by_zero |= nonzero_operand(graph, n).has_value();
    faults.index_out_of_range |= has(n.op, BoundsChecked);
  }
  return faults;
}

namespace {

std::string division_message(const Kernel& kernel) {
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

std::string index_message(const Kernel& kernel, const RunFaults* faults) {
  bool from_end = false;
  for (const Node& n : kernel.graph.nodes()) from_end |= has(n.op, AllowsNegativeIndex);
  const std::string which =
      faults ? fmt::format("index {} is out of range for {} positions", faults->value, faults->extent)
             : "an index is out of range";
  return fmt::format(
      "IndexError: {} ({} in kernel {}); position 0 was taken instead\n  Of n positions, indices are 0 to n - 1{}: "
      "look "
      "at the indices' minimum and maximum, or limit them with clamp(index, 0, n - 1)",
      which, from_end ? "of an embedding, take, gather, x[index] or their like" : "of one_hot", kernel.name,
      from_end ? ", and -n to -1 from the end" : "");
}

}  // namespace

std::string fault_message(const Kernel& kernel, Fault fault, const RunFaults* faults) {
  return fault == Fault::DivisionByZero ? division_message(kernel) : index_message(kernel, faults);
}

void throw_fault(const Kernel& kernel, const RunFaults& faults) {
  if (faults.division_by_zero) throw Error(fault_message(kernel, Fault::DivisionByZero));
  throw IndexError(fault_message(kernel, Fault::IndexOutOfRange, &faults));
}

}  // namespace sinter::inline v1::jit

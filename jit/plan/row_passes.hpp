// What each pass over a row computes and reads.
#pragma once
#include <vector>

#include "row_stages.hpp"

namespace sinter::inline v1::jit {

/// One pass over a row: a stage, or the final pass after all stages.
struct RowPass {
  std::vector<Operand> wanted;      // computed for each element: operands of the stage's reductions, or outputs
  std::vector<Operand> reductions;  // of the stage, in node order, without online sums
  std::vector<OnlineSum> online;    // of the stage: they read the same elements as their bases
  std::vector<bool> inputs;         // for each of the kernel's inputs: whether the pass reads its elements
};

struct RowPasses {
  /// `online` as in RowStages.
  explicit RowPasses(const Kernel& kernel, bool online = false);

  bool is_element_output(std::size_t output) const noexcept { return jit::is_element_output(kernel, output); }
  /// Whether the pass writes the outputs that have one element per element of the domain: the last one does.
  bool writes(std::size_t pass) const noexcept { return stages.writes_elements && pass + 1 == passes.size(); }
  bool is_element_input(std::size_t input) const noexcept {
    return !kernel.rows || kernel.rows->axis_mapping[kernel.outputs.size() + input] == AxisMapping::Domain;
  }
  /// How many passes read the input.
  int reads(std::size_t input) const noexcept;
  /// Whether a thread should keep the input's elements for the whole row: those that several passes read, or all of
  /// them if there is only one pass.
  bool keeps_in_registers(std::size_t input) const noexcept { return reads(input) > (passes.size() > 1 ? 1 : 0); }

  const Kernel& kernel;
  RowStages stages;
  std::vector<RowPass> passes;
};

/// Size in bytes of a stage's partial results, as in its struct in CUDA text: the value of each reduction; the position
/// too for argmax and argmin, a 64-bit integer if `wide`; the four members of Moments for an online sum of squares.
int partial_size(const RowPasses& passes, int stage, bool wide) noexcept;

/// The nodes that these values depend on, including themselves; the search does not continue past a node for which
/// stops(node) holds.
template <class Stops>
std::vector<bool> backward_slice(const Graph& graph, std::span<const Operand> values, Stops stops) {
  std::vector<bool> found(graph.nodes().size());
  for (const Operand o : values) found[static_cast<std::size_t>(o.node)] = true;
  for (std::size_t i = found.size(); i-- > 0;) {
    const Node& n = graph.nodes()[i];
    if (!found[i] || n.op == Op::count || stops(i)) continue;
    for (const Operand o : graph.operands(n)) found[static_cast<std::size_t>(o.node)] = true;
  }
  return found;
}

}  // namespace sinter::inline v1::jit

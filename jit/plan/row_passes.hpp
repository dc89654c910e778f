// What each pass through a row computes and reads.
#pragma once
#include <vector>

#include "row_stages.hpp"

namespace sinter::inline v1::jit {

/// One pass through a row: a stage, or the one after all of them.
struct RowPass {
  std::vector<Operand> wanted;      // for each element: the operands of these reductions, or what outputs hold
  std::vector<Operand> reductions;  // of the stage, in the order of their nodes, but for online sums
  std::vector<OnlineSum> online;    // of the stage: they read what their leads read
  std::vector<bool> inputs;         // of the kernel: those that are read for each element
};

struct RowPasses {
  /// `online` as in RowStages.
  explicit RowPasses(const Kernel& kernel, bool online = false);

  /// Whether an output has an element for each of the domain's, even where they are all the same in a row.
  bool is_element_output(std::size_t output) const noexcept {
    return !kernel.rows || kernel.rows->over[output] == Over::Domain;
  }
  bool is_element_input(std::size_t input) const noexcept {
    return !kernel.rows || kernel.rows->over[kernel.outputs.size() + input] == Over::Domain;
  }
  /// How many passes read the input.
  int reads(std::size_t input) const noexcept;
  /// Values that a thread may want to have at hand for a whole row: inputs that several passes read, or all where there
  /// is one pass.
  bool is_kept(std::size_t input) const noexcept { return reads(input) > (passes.size() > 1 ? 1 : 0); }

  const Kernel& kernel;
  RowStages stages;
  bool writes_elements = false;  // the last pass is the one that writes
  std::vector<RowPass> passes;
};

/// Bytes of what a stage knows of a part of a row, as its struct in CUDA text has them: for each reduction its value,
/// for those that give a position that as well, which is a long where `wide`, and for online sums of squares the four
/// numbers of Moments.
int part_size(const RowPasses& passes, int stage, bool wide) noexcept;

/// Which nodes these values are made of, themselves among them; what is behind a node that `stops` is left out.
template <class Stops>
std::vector<bool> made_of(const Graph& graph, std::span<const Operand> values, Stops stops) {
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

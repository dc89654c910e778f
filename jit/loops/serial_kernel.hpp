// What the lowerings of a kernel for one thread share: its parameters, the loops over its domain, its elements.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "../plan/class_key.hpp"
#include "../plan/row_passes.hpp"
#include "elements.hpp"
#include "kept_value.hpp"

namespace sinter::inline v1::jit::loops {

class SerialKernel {
 protected:
  SerialKernel(const Kernel& kernel, const KernelTraits& traits, const SymbolicNest& nest, Builder& b);

  Value integer(std::int64_t n) { return b_.integer(Kind::Int64, n); }
  /// Values that are the same for all elements.
  Values compute_uniform();

  /// Loops over the dims [first, last), with `body` in the innermost one.
  void emit_loops(int first, int last, const std::function<void()>& body);
  /// Threads may share the outermost loop of a kernel whose rows, or elements, are independent.
  LoopHint hint(int dim) const;
  std::string counter_name(int dim) const;

  /// The position of the current element in its row.
  Value position();
  /// Computes the values that a pass wants; those of the current row are given. Stores and loads the one that is kept.
  Values elements(std::size_t pass, Values values);
  /// Computes the per-row values that become available after `stages` stages.
  void compute_row_values(int stages, Values& values);
  /// Stores the outputs that have one element per element of the domain, or those that have one per row.
  void store_outputs(const Values& values, bool of_elements);
  void report_faults();

  static std::size_t index(Operand o) noexcept { return static_cast<std::size_t>(o.node); }
  Value operand_of(const Values& values, Operand reduction) const {
    return values[index(graph_.operands(graph_[reduction])[0])];
  }

  const Kernel& kernel_;
  const Graph& graph_;
  const KernelTraits& traits_;
  const SymbolicNest& nest_;
  Builder& b_;
  const RowPasses passes_;
  const int rows_;                  // dims of rows; the others are reduced, or those of an elementwise kernel
  const std::vector<bool> needed_;  // by node
  std::vector<Value> extents_;      // by dim
  std::vector<Value> counters_;     // of the loops around, by dim

 private:
  void add_params();
  Value number_or_param(const Extent& extent, std::string name);
  std::size_t input(std::size_t i) const { return kernel_.outputs.size() + i; }
  bool keeps(std::size_t pass) const noexcept { return kept_ && pass + 2 == passes_.passes.size(); }
  bool reads_kept(std::size_t pass) const noexcept { return kept_ && pass + 1 == passes_.passes.size(); }
  /// The offset of the operand's current element.
  Value offset(std::size_t k);
  Value load(std::size_t k);
  void store(std::size_t k, Value value);
  void compute(const std::vector<bool>& needed, Values& values);

  const std::optional<KeptValue> kept_;
  const Elements elements_;
  std::vector<std::string> names_;  // of operands
  std::vector<Value> pointers_;
  std::vector<std::vector<Value>> strides_;
};

}  // namespace sinter::inline v1::jit::loops

// Loops of one thread that reduce the columns of a matrix, whose rows are contiguous.
#pragma once
#include "serial_kernel.hpp"
#include "serial_reduction.hpp"

namespace sinter::inline v1::jit::loops {

/// Compilers make vectors along the last dim that is not reduced: each lane is a column, and memory is read in rows of
/// a block of them.
class SerialColumns : SerialKernel {
 public:
  SerialColumns(const Kernel& kernel, const KernelTraits& traits, const SymbolicNest& nest, Builder& b)
      : SerialKernel(kernel, traits, nest, b), last_(rows_ - 1), columns_(graph_.nodes().size(), none) {}

  /// Whether a kernel's elements are contiguous along columns, and none along the dims that are reduced.
  static bool suits(const Kernel& kernel, const SymbolicNest& nest) noexcept;
  void run();

 private:
  using ForLane = std::function<void(Value)>;

  /// A block of columns from `first` on; `count` is an Index.
  void emit_block(Value first, Value count);
  void reduce(std::size_t number);
  /// `add` for every element of the reduced dims, in blocks: see SerialReduction::add_in_block.
  void reduce_in_blocks(std::vector<SerialReduction>& reductions, const ForLane& add, LoopHint hint);
  void write_elements();
  /// Computes the values of a column that become available after `stages` stages. `results` are those of the last
  /// stage's reductions.
  void compute_column_values(int stages, const std::function<void(Values&, Value lane)>& results);
  /// The values of the lane's column that are in columns_, and the uniform ones.
  Values column_values(Value lane);
  void emit_lanes(const ForLane& body, LoopHint hint = LoopHint::Vectors);

  const int last_;  // the dim of the lanes
  Values uniform_;
  std::vector<Value> columns_;  // by node, a local with the value of each lane's column; none until it is computed
  Value first_ = none, count_ = none;
};

}  // namespace sinter::inline v1::jit::loops

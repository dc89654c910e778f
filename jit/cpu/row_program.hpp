// The CPU executor of kernels that reduce: elementwise programs over boxes of rows that stay in cache, and loops that
// reduce each row to one value.
#pragma once
#include <cstdint>
#include <span>

#include "../plan/faults.hpp"
#include "../plan/loop_nest.hpp"
#include "../plan/plan.hpp"

namespace sinter::inline v1::jit::cpu {

/// A kernel with rows, prepared once and run any number of times, from any thread.
class RowProgram {
 public:
  /// `kernel` is simplified and lowered; it is not needed later.
  explicit RowProgram(const Kernel& kernel);
  ~RowProgram();
  RowProgram(RowProgram&&) noexcept;

  /// Prepares a run over this nest.
  void prepare(const LoopNest& nest) const;

  /// As TileProgram::run, over a nest that make_row_nest has made. Rows without elements have the values that
  /// reductions.def gives them. Sums of floats are sums of blocks of some hundred elements, rounded as floats are,
  /// added in double precision or better. Results depend on shapes, strides and the instruction set, not on threads.
  RunFaults run(const LoopNest& nest, std::span<const std::uint64_t> scalars) const;

  /// Whether the loops of some part are compiled.
  bool is_compiled() const noexcept;

 private:
  struct Impl;
  Impl* impl_;
};

}  // namespace sinter::inline v1::jit::cpu

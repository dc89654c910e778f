// Loops of one thread over elements, or over the elements of each row.
#pragma once
#include "serial_kernel.hpp"
#include "serial_reduction.hpp"

namespace sinter::inline v1::jit::loops {

/// Compilers make vectors along the innermost dim: element i is in lane i % serial_lanes. Elements of rows with
/// fewer than that are in the first lane.
class SerialRows : SerialKernel {
 public:
  SerialRows(const Kernel& kernel, const KernelTraits& traits, const SymbolicNest& nest, Builder& b)
      : SerialKernel(kernel, traits, nest, b) {}

  void run();

 private:
  using ForLane = std::function<void(Value)>;

  void reduce(std::size_t number);
  void write_elements();
  /// `add` for each element of the row, or `add_in_block` for those in blocks of the lanes.
  void reduce_in_lanes(int lanes, std::vector<SerialReduction>& reductions, const ForLane& add,
                       const ForLane& add_in_block);
  void emit_blocks(int lanes, std::vector<SerialReduction>& reductions, const ForLane& add_in_block);

  /// 1 where lanes would be empty: rows without dims, or shorter ones.
  int lanes() const;
  /// 1 if positions are returned, which takes elements in order.
  int lanes_of(const RowPass& pass) const;
  Value first_lane() { return b_.integer(Kind::Index, 0); }
  /// The number of elements that fill all lanes.
  Value whole(int lanes) { return b_.sub(extents_.back(), b_.rem_by(extents_.back(), lanes)); }
  /// `body` for all lanes of the elements from `first` to `last`, numbers of the innermost dim.
  void emit_lanes(Value first, Value last, int lanes, LoopHint lanes_hint, const ForLane& body);
  /// `body` for the elements that do not fill all lanes.
  void emit_rest(int lanes, LoopHint lanes_hint, const ForLane& body);
  void at(Value counter, Value lane, const ForLane& body);

  Values row_;  // per-row values that have been computed
};

}  // namespace sinter::inline v1::jit::loops

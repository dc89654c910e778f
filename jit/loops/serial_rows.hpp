// Loops of one thread over elements, or over the elements of each row.
#pragma once
#include "serial_kernel.hpp"
#include "serial_reduction.hpp"

namespace sinter::inline v1::jit::loops {

/// Compilers make vectors along the innermost dim: element i is in lane i % serial_lanes. The last elements, which do
/// not fill all lanes, are in the first one.
class SerialRows : SerialKernel {
 public:
  SerialRows(const Kernel& kernel, const KernelTraits& traits, const SymbolicNest& nest, Builder& b)
      : SerialKernel(kernel, traits, nest, b) {}

  void run();

 private:
  using ForLane = std::function<void(Value)>;

  void reduce(std::size_t number);
  void write_elements();
  /// `add` for each element of the row.
  void reduce_in_lanes(int lanes, std::vector<SerialReduction>& reductions, const ForLane& add);

  /// 1 where lanes would be empty: rows without dims, or shorter ones.
  int lanes() const;
  /// 1 if positions are returned, which takes elements in order.
  int lanes_of(const RowPass& pass) const;
  Value first_lane() { return b_.integer(Kind::Index, 0); }
  /// The number of elements that fill all lanes.
  Value whole(int lanes) { return b_.sub(extents_.back(), b_.rem_by(extents_.back(), lanes)); }
  void emit_lanes(int lanes, const ForLane& body);
  void emit_tail(int lanes, const ForLane& body);
  void at(Value counter, Value lane, const ForLane& body);

  Values row_;  // per-row values that have been computed
};

}  // namespace sinter::inline v1::jit::loops

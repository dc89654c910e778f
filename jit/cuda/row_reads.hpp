// How a pass through a row gets the elements that are not kept in registers: from memory, or from the row cache, where
// an earlier pass has left them.
#pragma once
#include "row_vectors.hpp"

namespace sinter::inline v1::jit::cuda {

class RowReads {
 public:
  RowReads(const RowLayout& layout, RowLines& out) : layout_(layout), c_(layout.c), vectors_(layout), out_(out) {}

  /// x0_in[steps], of the vectors at base, base + team, ...
  void batch(std::size_t pass) const;
  /// x0_in, of the vector at c, or not where these are `at_hand`; x1_at of what has no memory.
  void vector(std::size_t pass, int lanes, bool at_hand, bool may_be_outside) const;

 private:
  template <class P, class F>
  void each_of_batch(std::string_view condition, P is_wanted, F statement) const;

  const RowLayout& layout_;
  const KernelClass& c_;
  const RowVectors vectors_;
  RowLines& out_;
};

}  // namespace sinter::inline v1::jit::cuda

// The loops of one launch over memory: the dims of the kernel's outputs, collapsed, and every operand's strides.
#pragma once
#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>

#include <sinter/runtime/shape.hpp>
#include "../infer/extent.hpp"

namespace sinter::inline v1::jit {

/// One more than a shape: a nest that reduces has at least one row dim and one reduced dim, even if no axis corresponds
/// to it.
inline constexpr int max_dims = max_ndim + 1;

template <class ExtentType>
struct BasicNestOperand {
  std::byte* data;               // first element; null for an iota, whose elements are positions
  ExtentType strides[max_dims];  // in elements, 0 where broadcast; may be negative; only the first ndim are set
  std::int64_t first;            // of an iota: the position of its first element; else 0
};

/// Dims, outermost first. Extents of 1 are dropped, and adjacent dims are merged if every operand can be traversed with
/// one stride over both, so contiguous operands have one dim. A single element has one dim of extent 1. Extents
/// are numbers, or symbolic.
template <class ExtentType>
struct BasicLoopNest {
  int ndim = 1;
  bool contiguous = false;  // one dim, and every operand has stride 1
  ExtentType numel = 1;     // if 0 there is nothing to do, except in a kernel that reduces
  ExtentType extents[max_dims] = {1};
  int outputs = 1;
  // For a kernel that reduces: the number of innermost dims that are reduced; the others form the rows. There is at
  // least one dim of each kind, possibly with extent 1 or 0. Row dims and reduced dims are not merged with each other,
  // and `contiguous` is false.
  int reduced = 0;
  boost::container::small_vector<BasicNestOperand<ExtentType>, 16> operands;  // the kernel's outputs, then its inputs

  int row_dims() const noexcept { return ndim - reduced; }
  /// For a kernel that reduces: the number of rows, and of elements per row.
  ExtentType rows() const noexcept { return product(0, row_dims()); }
  ExtentType columns() const noexcept { return product(row_dims(), ndim); }

 private:
  ExtentType product(int from, int to) const noexcept {
    ExtentType n = 1;
    for (int d = from; d < to; ++d) n *= extents[d];
    return n;
  }
};

using NestOperand = BasicNestOperand<std::int64_t>;
using LoopNest = BasicLoopNest<std::int64_t>;
using SymbolicNest = BasicLoopNest<Extent>;

}  // namespace sinter::inline v1::jit

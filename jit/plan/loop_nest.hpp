// How one kernel traverses memory: the dims of its outputs, collapsed, and every operand's strides over them.
#pragma once
#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>

#include <sinter/runtime/shape.hpp>

namespace sinter::inline v1::jit {

/// A nest has a dim that no axis stands for where a kernel combines all axes, or none of more than one element.
inline constexpr int max_dims = max_ndim + 1;

struct NestOperand {
  std::byte* data;                 // first element; null for an index operand, whose values are positions
  std::int64_t strides[max_dims];  // in elements, 0 where broadcast; any sign; only those of the nest's dims are set
  std::int64_t first;              // of an index operand: the position of its first element; else 0
};

/// Extents of 1 are dropped and neighbours that all operands traverse as one are merged, so a contiguous evaluation has
/// one dim. A single element has one dim of extent 1. Outermost first.
struct LoopNest {
  int ndim = 1;
  bool linear = false;     // every operand's elements are adjacent: one dim, stride 1
  std::int64_t numel = 1;  // 0: there is nothing to do, but in a kernel that reduces
  std::int64_t extents[max_dims] = {1};
  int outputs = 1;
  // Of a kernel that reduces: how many of the dims, the innermost ones, are reduced; the others make rows. Neither of
  // the two kinds is empty: it has a dim of extent 1 at least, or of 0. Dims of different kinds are not merged, and
  // `linear` is false.
  int reduced = 0;
  boost::container::small_vector<NestOperand, 16> operands;  // the kernel's outputs, then its leaves in their order

  int row_dims() const noexcept { return ndim - reduced; }
  /// Of a kernel that reduces: how many rows it has, and how many elements each of them.
  std::int64_t rows() const noexcept { return product(0, row_dims()); }
  std::int64_t columns() const noexcept { return product(row_dims(), ndim); }

 private:
  std::int64_t product(int from, int to) const noexcept {
    std::int64_t n = 1;
    for (int d = from; d < to; ++d) n *= extents[d];
    return n;
  }
};

}  // namespace sinter::inline v1::jit

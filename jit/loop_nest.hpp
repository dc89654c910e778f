// How one kernel walks memory: the dims of its outputs, collapsed, and every operand's strides over them.
#pragma once
#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>

#include <sinter/runtime/shape.hpp>

namespace sinter::inline v1::jit {

struct NestOperand {
  std::byte* data;                 // first element; null for an index operand, whose value is its offset
  std::int64_t strides[max_rank];  // in elements, 0 where broadcast; any sign; those of the nest's dims alone are set
};

/// Extents of 1 are dropped and neighbours that all operands walk as one are merged, so a contiguous evaluation has
/// rank 1. A single element has rank 1 and extent 1. Outermost first.
struct LoopNest {
  int rank = 1;
  bool linear = false;     // every operand's elements follow each other: rank 1, strides 1
  std::int64_t numel = 1;  // 0: there is nothing to do
  std::int64_t extents[max_rank] = {1};
  int outputs = 1;
  boost::container::small_vector<NestOperand, 16> operands;  // the kernel's outputs, then its leaves in their order
};

}  // namespace sinter::inline v1::jit

// Results that are written to memory by non-temporal stores, past the caches.
#pragma once
#include <cstdint>
#include <vector>

#include <sinter/jit/graph.hpp>
#include "../plan/loop_nest.hpp"

namespace sinter::inline v1::jit::cpu {

/// Which runs of a kernel stream their result. A long one leaves little of it in the caches, so reading its lines there
/// before they are written is of no use.
class StreamRule {
 public:
  /// The graph's outputs and leaves are the operands of the kernel's nests.
  explicit StreamRule(const Graph& graph);

  /// If the arrays have more bytes in all than SINTER_CPU_STREAM_BYTES. Only one output is streamed, which varies along
  /// all dims; and none in place, whose lines have just been read.
  bool applies(const LoopNest& nest) const noexcept { return nest.numel > longest_cached_ && applies_to_long(nest); }
  /// Of one element of all operands.
  std::int64_t bytes() const noexcept { return bytes_; }

 private:
  bool applies_to_long(const LoopNest& nest) const noexcept;

  std::vector<std::uint8_t> sizes_;  // of an element of each operand
  std::int64_t bytes_ = 0;
  std::int64_t longest_cached_ = 0;  // elements of a run whose arrays cannot exceed the limit
};

/// Rows with fewer bytes are not streamed: their first and last lines are written in two pieces.
inline constexpr std::int64_t shortest_streamed_row = 1024;

/// Makes streamed elements visible to threads that learn of them by later writes.
void finish_streaming() noexcept;

}  // namespace sinter::inline v1::jit::cpu

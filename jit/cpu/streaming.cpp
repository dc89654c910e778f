#include "streaming.hpp"

#include <unistd.h>

#include <algorithm>
#include <limits>

#include <runtime/environment.hpp>
#include <sinter/runtime/dtype.hpp>
#include "../ops/traits.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

constexpr std::int64_t usual_cache = 32 << 20;

/// Half of the last level: other programs use it too.
[[maybe_unused]] std::int64_t usual_limit() noexcept {
  std::int64_t last_level = 0;
#if defined(_SC_LEVEL3_CACHE_SIZE)
  last_level = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
  return (last_level > 0 ? last_level : usual_cache) / 2;
}

std::int64_t limit() {
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
#if defined(__x86_64__)
  static const std::uint64_t bytes =
      runtime::environment_bytes("SINTER_CPU_STREAM_BYTES", static_cast<std::uint64_t>(usual_limit()));
  return static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, never));
#else
  return never;  // loops have no such stores
#endif
}

/// Of the array that the operand reads or writes.
std::int64_t elements_of(const LoopNest& nest, const NestOperand& o) noexcept {
  std::int64_t n = o.data == nullptr ? 0 : 1;
  for (int d = 0; d < nest.ndim; ++d)
    if (o.strides[d] != 0) n *= nest.extents[d];
  return n;
}

}  // namespace

StreamRule::StreamRule(const Graph& graph) {
  for (const Operand o : graph.outputs()) sizes_.push_back(static_cast<std::uint8_t>(size_of(graph[o].dtype)));
  const std::size_t outputs = sizes_.size();
  for (const Node& n : graph.nodes()) {
    if (!is_element_leaf(n.op)) continue;
    sizes_.resize(std::max(sizes_.size(), outputs + n.attribute + 1));
    sizes_[outputs + n.attribute] = static_cast<std::uint8_t>(size_of(n.dtype));
  }
  for (const std::uint8_t size : sizes_) bytes_ += size;
  longest_cached_ = limit() / std::max<std::int64_t>(bytes_, 1);
}

bool StreamRule::applies_to_long(const LoopNest& nest) const noexcept {
  const NestOperand& output = nest.operands[0];
  const std::int64_t size = sizes_[0];
  if (nest.outputs != 1 || elements_of(nest, output) != nest.numel) return false;
  if (reinterpret_cast<std::uintptr_t>(output.data) % static_cast<std::uintptr_t>(size) != 0) return false;
  std::int64_t bytes = 0;
  for (std::size_t k = 0; k < nest.operands.size(); ++k) {
    if (k > 0 && nest.operands[k].data == output.data) return false;
    if (k < sizes_.size()) bytes += elements_of(nest, nest.operands[k]) * sizes_[k];
  }
  return bytes > limit();
}

void finish_streaming() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#endif
}

}  // namespace sinter::inline v1::jit::cpu

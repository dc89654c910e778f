#include "streaming.hpp"

#include <unistd.h>

#include <algorithm>
#include <limits>

#include <runtime/environment.hpp>

namespace sinter::inline v1::jit::cpu {
namespace {

constexpr std::int64_t usual_cache = 32 << 20;

/// Half of the last level: other programs use it too.
std::uint64_t usual_limit() noexcept {
#if defined(__aarch64__)
  return std::numeric_limits<std::uint64_t>::max();  // loops have no such stores
#else
  const std::int64_t last_level = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return static_cast<std::uint64_t>(last_level > 0 ? last_level : usual_cache) / 2;
#endif
}

}  // namespace

std::int64_t longest_cached_run(std::int64_t array_bytes) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  static const std::uint64_t limit =
      std::min(most, runtime::environment_bytes("SINTER_CPU_STREAM_BYTES", usual_limit()));
  return static_cast<std::int64_t>(limit) / std::max<std::int64_t>(array_bytes, 1);
}

bool can_stream(const LoopNest& nest, std::int64_t element_bytes) noexcept {
  if (nest.outputs != 1) return false;
  const NestOperand& output = nest.operands[0];
  const auto is_output = [&](const NestOperand& o) { return o.data == output.data; };
  return reinterpret_cast<std::uintptr_t>(output.data) % static_cast<std::uintptr_t>(element_bytes) == 0 &&
         std::none_of(nest.operands.begin() + 1, nest.operands.end(), is_output);
}

void finish_streaming() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#endif
}

}  // namespace sinter::inline v1::jit::cpu

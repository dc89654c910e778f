#include <new>

#include <runtime/waits.hpp>
#include <sinter/jit/stats.hpp>
#include "../cache/kernel_cache.hpp"
#include "../stats/stats.hpp"

namespace sinter::inline v1 {

JitStats jit_stats() noexcept try {
  JitStats sum = jit::counted();
  sum.waits = runtime::waits();
  const jit::KernelFigures kernels = jit::kernel_figures();
  sum.kernels_held = kernels.loaded, sum.kernel_bytes = kernels.bytes, sum.kernels_evicted = kernels.evicted;
  return sum;
} catch (const std::bad_alloc&) {  // nothing was counted yet
  return {};
}

}  // namespace sinter::inline v1

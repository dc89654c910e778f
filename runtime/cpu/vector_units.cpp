#include "vector_units.hpp"

namespace sinter::inline v1::runtime {

VectorUnits vector_units() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  return avx512 ? VectorUnits::Avx512 : avx2 ? VectorUnits::Avx2 : VectorUnits::Baseline;
#else
  return VectorUnits::Baseline;
#endif
}

}  // namespace sinter::inline v1::runtime

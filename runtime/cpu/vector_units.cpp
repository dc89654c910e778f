#include "vector_units.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace sinter::inline v1::runtime {

VectorUnits vector_units() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool f16c = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;  // not all compilers know it by name
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && f16c;
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  return avx512 ? VectorUnits::Avx512 : avx2 ? VectorUnits::Avx2 : VectorUnits::Baseline;
#else
  return VectorUnits::Baseline;
#endif
}

}  // namespace sinter::inline v1::runtime

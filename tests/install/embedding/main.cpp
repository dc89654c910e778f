// Has exported kernels and nothing else of Sinter's.
#define INLINE_KERNELS_IMPLEMENTATION
#include "inline_kernels.h"

#include "kernels.hpp"
#ifdef FATBIN
#include "beside.h"
#endif

int main() {
  const float x[2] = {1, 2};
  float doubled[2], next[2];
  my_kernels::fused_cpu(doubled, x, 2);
  if (other_cpu(next, x, 2) != INLINE_KERNELS_OK) return 1;
  try {
    my_kernels::fused_cpu(nullptr, x, 2);
    return 2;
  } catch (const my_kernels::Error& error) {
    if (error.code() != MY_KERNELS_NULL_POINTER) return 3;
  }
#ifdef FATBIN
  if (beside_beside_open("no such file") != BESIDE_BESIDE_FILE_UNREADABLE ||
      beside_beside_open(FATBIN) != BESIDE_BESIDE_OK)
    return 5;
  if (beside_fused_cpu(doubled, x, 2) != BESIDE_BESIDE_OK) return 6;
#endif
  return doubled[1] == 4 && next[1] == 3 ? 0 : 4;
}

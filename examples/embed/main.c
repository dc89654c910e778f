/* A C program with exported kernels and nothing else of Sinter's: no library, no compiler, no header of CUDA's. */
#include <stdio.h>
#include <stdlib.h>

#include "kernels.h"

static int fail(const char *what, int code) {
  printf("%s: %s\n", what, my_kernels_error_text(code));
  return EXIT_FAILURE;
}

int main(void) {
  const float z[4] = {-2, -1, 0, 1}, y[4] = {1, 2, 3, 4}, x[6] = {1, 2, 3, 1, 1, 1};
  float out[6];
  int code, i;

  // [cpu]
  code = my_fused_cpu(out, z, y, 4, 2); /* exp(z + 2) * y */
  if (code != MY_KERNELS_OK) return fail("fused", code);
  // [/cpu]
  for (i = 0; i < 4; ++i) printf("%.3f ", out[i]);
  printf("\n");

  code = my_softmax_cpu(out, x, 2, 3);
  if (code != MY_KERNELS_OK) return fail("softmax", code);
  for (i = 0; i < 6; ++i) printf("%.3f ", out[i]);
  printf("\n");

  // [errors]
  code = my_fused_cpu(out, z, y, -1, 2);
  printf("%s\n", my_kernels_error_text(code));
  code = my_fused_cpu(NULL, z, y, 4, 2);
  printf("%s\n", my_kernels_error_text(code));
  code = my_fused_launch(NULL, out, z, y, 4, 2); /* no context is current here, or there is no driver at all */
  printf("%s\n", code == MY_KERNELS_NO_CONTEXT || code == MY_KERNELS_NO_DRIVER ? "not on a GPU" : "?");
  // [/errors]
  return EXIT_SUCCESS;
}

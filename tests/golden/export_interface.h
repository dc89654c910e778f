/* k.h: kernels exported by Sinter. Needs nothing but the C library: the CUDA driver is opened at run time.
 *
 * NAME_launch(stream, outputs, inputs, sizes, ...) starts the kernel on a GPU, in the current CUDA context, on a
 * CUstream (NULL: the default stream), and returns at once. Arrays are device memory, laid out as the host's.
 * NAME_cpu(outputs, inputs, sizes, ...) computes the same on arrays of the host, on the calling thread or, compiled
 * with OpenMP, on several. Arrays are row-major and contiguous; where one comes with strides, these are in
 * elements, one for each axis, NULL for a contiguous array. Half and bfloat16 elements are uint16_t, bools are
 * uint8_t, 0 or 1, complex elements are pairs (real, imaginary), as in C and C++.
 * All functions give 0, or a code that my_k_error_text explains, and may be called from any thread. */
#ifndef MY_K_H
#define MY_K_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MY_K_ABI_VERSION 1

enum {
  MY_K_OK = 0,               /* no error */
  MY_K_NULL_POINTER = 1,     /* a pointer to an array with elements is null */
  MY_K_BAD_SIZE = 2,         /* a size is negative, or sizes or strides make an array larger than memory */
  MY_K_MISALIGNED = 3,       /* an array is not aligned to its element size */
  MY_K_OVERLAP = 4,          /* an output shares memory with an input or with another output */
  MY_K_BAD_NUMBER = 5,       /* a number does not fit the integers that it is used with */
  MY_K_EMPTY_REDUCTION = 6,  /* amax, amin, argmax or argmin of an empty row */
  MY_K_DIVISION_BY_ZERO = 7, /* an integer was divided by 0 */
  MY_K_BAD_WORKSPACE =
      8, /* the workspace is null, not aligned to 256 bytes, too small, or shares memory with an array */
  MY_K_OUT_OF_MEMORY = 9,       /* out of memory */
  MY_K_NO_DRIVER = 10,          /* libcuda.so.1, the CUDA driver, cannot be opened */
  MY_K_OLD_DRIVER = 11,         /* the CUDA driver lacks a function: it is too old */
  MY_K_NO_CONTEXT = 12,         /* no CUDA context is current in this thread */
  MY_K_WRONG_ARCHITECTURE = 13, /* the kernels were exported for other GPUs than this one */
  MY_K_INDEX_OUT_OF_RANGE = 14, /* an index is out of range */
  MY_K_AFTER_FORK = 15,   /* this process was forked from one that had used the CUDA driver, which cannot be used here:
                             start a new process */
  MY_K_BAD_TENSOR = 16,   /* a DLPack tensor differs in ndim, dtype, shape or strides from what the function takes */
  MY_K_WRONG_DEVICE = 17, /* a DLPack tensor is on another kind of device than the function takes */
  MY_K_FILE_UNREADABLE = 18, /* the file of kernels cannot be read */
  MY_K_FILE_MISMATCH = 19,   /* the file of kernels does not match this library */
  MY_K_FILE_NOT_OPEN = 20,   /* the kernels are in a file that has not been opened */
  MY_K_DRIVER_ERROR = 1000   /* and above: 1000 and what the driver gave, a CUresult */
};

/* What a code means. Never NULL; for driver codes, valid until the driver library is unloaded. */
const char* my_k_error_text(int code);

/* The version of this interface that the functions were made for. */
int my_k_abi_version(void);

/* Loads all kernels into the current context, so that no launch has to: before a stream captures a graph. */
int my_k_load(void);

/* Unloads them from the current context: before the library is closed, or to free device memory. No launch may
 * be running, in this thread or in another. Later launches load them again. */
int my_k_unload(void);

/* Reads the kernels' binaries from k.fatbin, before any is launched; or takes them from memory, which stays
 * as it is from then on and is aligned to 8 bytes. Functions on the CPU need neither. */
int my_k_open(const char* path);
int my_k_use(const void* fatbin, size_t bytes);

/* Frees the data read by my_k_open, or drops the pointer passed to my_k_use. Loaded kernels stay loaded; to load others
 * takes an my_k_open again. */
void my_k_close(void);

/* fused: out float32 (n,) from z float32 (n,) with strides shift int64_t scale double.
 */
int my_fused_launch(void* stream, float* out, const float* z, const int64_t* z_strides, int64_t n, int64_t shift,
                    double scale);
int my_fused_cpu(float* out, const float* z, const int64_t* z_strides, int64_t n, int64_t shift, double scale);
/* The same with a DLTensor * for each array. */
int my_fused_launch_dlpack(void* stream, const void* out, const void* z, int64_t shift, double scale);
int my_fused_cpu_dlpack(const void* out, const void* z, int64_t shift, double scale);

/* soft: out float32 (rows, columns) from x float32 (rows, columns).
 * The workspace is device memory of my_soft_workspace_bytes(...) bytes, aligned to 256. Without one (NULL, 0)
 * long rows are not shared among blocks.
 */
int my_soft_launch(void* stream, float* out, const float* x, int64_t rows, int64_t columns, void* workspace,
                   size_t workspace_bytes);
int my_soft_cpu(float* out, const float* x, int64_t rows, int64_t columns);
/* The same with a DLTensor * for each array. */
int my_soft_launch_dlpack(void* stream, const void* out, const void* x, void* workspace, size_t workspace_bytes);
int my_soft_cpu_dlpack(const void* out, const void* x);
size_t my_soft_workspace_bytes(int64_t rows, int64_t columns);

/* taken: out float32 (n, s0) from x float32 (n, 4) i int64 (n, s0).
 * fault is a word of device memory, 0 before. Afterwards 2 where an index was outside its axis, and counted as 0.
 */
int my_taken_launch(void* stream, float* out, const float* x, const int64_t* i, int64_t n, int64_t s0, uint32_t* fault);
int my_taken_cpu(float* out, const float* x, const int64_t* i, int64_t n, int64_t s0);
/* The same with a DLTensor * for each array. */
int my_taken_launch_dlpack(void* stream, const void* out, const void* x, const void* i, uint32_t* fault);
int my_taken_cpu_dlpack(const void* out, const void* x, const void* i);

/* chosen: out complex64 (s0,) from mask bool (s0,) c complex64 (s0,).
 */
int my_chosen_launch(void* stream, float* out, const uint8_t* mask, const float* c, int64_t s0);
int my_chosen_cpu(float* out, const uint8_t* mask, const float* c, int64_t s0);
/* The same with a DLTensor * for each array. */
int my_chosen_launch_dlpack(void* stream, const void* out, const void* mask, const void* c);
int my_chosen_cpu_dlpack(const void* out, const void* mask, const void* c);

/* narrow: out bfloat16 (s0,) from z bfloat16 (s0,).
 */
int my_narrow_launch(void* stream, uint16_t* out, const uint16_t* z, int64_t s0);
int my_narrow_cpu(uint16_t* out, const uint16_t* z, int64_t s0);
/* The same with a DLTensor * for each array. */
int my_narrow_launch_dlpack(void* stream, const void* out, const void* z);
int my_narrow_cpu_dlpack(const void* out, const void* z);

/* moments: mean float32 (s0,) var float32 (s0,) from x0 float32 (s0, s1).
 * The workspace is device memory of my_moments_workspace_bytes(...) bytes, aligned to 256. Without one (NULL, 0)
 * long rows are not shared among blocks.
 */
int my_moments_launch(void* stream, float* mean, float* var, const float* x0, int64_t s0, int64_t s1, void* workspace,
                      size_t workspace_bytes);
int my_moments_cpu(float* mean, float* var, const float* x0, int64_t s0, int64_t s1);
/* The same with a DLTensor * for each array. */
int my_moments_launch_dlpack(void* stream, const void* mean, const void* var, const void* x0, void* workspace,
                             size_t workspace_bytes);
int my_moments_cpu_dlpack(const void* mean, const void* var, const void* x0);
size_t my_moments_workspace_bytes(int64_t s0, int64_t s1);

#ifdef __cplusplus
}
#endif

#endif

// What kernels use of HIP's headers, for clang's AMDGPU target alone: included as hipRTC does, before the text.
// Functions of HIP's device libraries are declared only, so kernels compile to assembly but do not link.
#pragma once

#define __HIPCC_RTC__ 1
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(threads, waves_per_simd) \
  __attribute__((amdgpu_flat_work_group_size(1, threads), amdgpu_waves_per_eu(waves_per_simd)))

#define HIP_INDEX(name, value)                          \
  struct name##_type {                                  \
    __declspec(property(get = get_x)) unsigned x;       \
    __device__ unsigned get_x() const { return value; } \
  };                                                    \
  extern const __device__ __attribute__((weak)) name##_type name
HIP_INDEX(threadIdx, __builtin_amdgcn_workitem_id_x());
HIP_INDEX(blockIdx, __builtin_amdgcn_workgroup_id_x());
HIP_INDEX(blockDim, __builtin_amdgcn_workgroup_size_x());
HIP_INDEX(gridDim, __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x());

__device__ inline void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// Among `width` lanes, of a wave that may have more.
__device__ inline int __shfl_xor(int value, int lanes, int width) {
  const int self = static_cast<int>(__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)));
  const int other = self ^ lanes;
  return __builtin_amdgcn_ds_bpermute((other >= ((self + width) & -width) ? self : other) * 4, value);
}
#define HIP_SHUFFLE(T)                                             \
  __device__ inline T __shfl_xor(T value, int lanes, int width) {  \
    int words[sizeof(T) / sizeof(int)];                            \
    __builtin_memcpy(words, &value, sizeof value);                 \
    for (int& word : words) word = __shfl_xor(word, lanes, width); \
    __builtin_memcpy(&value, words, sizeof value);                 \
    return value;                                                  \
  }
HIP_SHUFFLE(unsigned)
HIP_SHUFFLE(float)
HIP_SHUFFLE(double)
HIP_SHUFFLE(long)
HIP_SHUFFLE(unsigned long)
HIP_SHUFFLE(long long)
HIP_SHUFFLE(unsigned long long)

__device__ inline float __uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }
__device__ inline unsigned __float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
__device__ inline double __longlong_as_double(long long a) { return __builtin_bit_cast(double, a); }
__device__ inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}

#define HIP_UNARY(name)            \
  __device__ float name##f(float); \
  __device__ double name(double);
#define HIP_BINARY(name)                  \
  __device__ float name##f(float, float); \
  __device__ double name(double, double);
HIP_UNARY(acos)
HIP_UNARY(acosh)
HIP_UNARY(asin)
HIP_UNARY(asinh)
HIP_UNARY(atan)
HIP_UNARY(atanh)
HIP_UNARY(cos)
HIP_UNARY(cosh)
HIP_UNARY(erf)
HIP_UNARY(erfc)
HIP_UNARY(exp)
HIP_UNARY(exp2)
HIP_UNARY(expm1)
HIP_UNARY(lgamma)
HIP_UNARY(log)
HIP_UNARY(log10)
HIP_UNARY(log1p)
HIP_UNARY(log2)
HIP_UNARY(sin)
HIP_UNARY(sinh)
HIP_UNARY(tan)
HIP_UNARY(tanh)
HIP_BINARY(atan2)
HIP_BINARY(fmod)
HIP_BINARY(hypot)
HIP_BINARY(nextafter)
HIP_BINARY(pow)

#define HIP_UNARY_INSTRUCTION(name)                                           \
  __device__ inline float name##f(float a) { return __builtin_##name##f(a); } \
  __device__ inline double name(double a) { return __builtin_##name(a); }
#define HIP_BINARY_INSTRUCTION(name)                                                      \
  __device__ inline float name##f(float a, float b) { return __builtin_##name##f(a, b); } \
  __device__ inline double name(double a, double b) { return __builtin_##name(a, b); }
HIP_UNARY_INSTRUCTION(ceil)
HIP_UNARY_INSTRUCTION(fabs)
HIP_UNARY_INSTRUCTION(floor)
HIP_UNARY_INSTRUCTION(rint)
HIP_UNARY_INSTRUCTION(sqrt)
HIP_UNARY_INSTRUCTION(trunc)
HIP_BINARY_INSTRUCTION(copysign)
HIP_BINARY_INSTRUCTION(fmax)
HIP_BINARY_INSTRUCTION(fmin)
__device__ inline float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
__device__ inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

namespace sinter {

#define SINTER_DEVICE static __device__ __forceinline__

template <class T, int N>
struct alignas(sizeof(T) * N) Vec {
  T at[N];
};

SINTER_DEVICE float float_bits(unsigned bits) { return ::__uint_as_float(bits); }

SINTER_DEVICE float exp(float a) { return ::expf(a); }
SINTER_DEVICE double exp(double a) { return ::exp(a); }

// NaN if either is; -0 counts as less than +0.
template <class T>
SINTER_DEVICE T maximum(T a, T b) {
  return a < b ? b : a;
}
SINTER_DEVICE float maximum(float a, float b) {
#if defined(__CUDA_ARCH__) && !defined(SINTER_VIRTUAL_GPU) && __CUDA_ARCH__ >= 800
  float greater;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(greater) : "f"(a), "f"(b));
  return greater;
#else
  return a != a || b != b ? a + b : ::fmaxf(a, b);
#endif
}
SINTER_DEVICE double maximum(double a, double b) { return a != a || b != b ? a + b : ::fmax(a, b); }

// The value of the lane whose index is the own one XOR `lane_mask`.
template <class T>
SINTER_DEVICE T shuffle_xor(T a, int lane_mask) {
  return T(__shfl_xor_sync(~0u, a, lane_mask));
}

// Adds b to a; adds the rounding error to the compensation (Knuth's two-sum).
template <class T>
SINTER_DEVICE void compensated_add(T& a, T& compensation, T b) {
  const T sum = a + b, rounded = sum - a;
  compensation += (a - (sum - rounded)) + (b - rounded);
  a = sum;
}

// An infinite or NaN sum is not compensated.
template <class T>
SINTER_DEVICE T compensated_value(T a, T compensation) {
  return compensation - compensation == T(0) ? a + compensation : a;
}

// Returns n through an empty asm statement, so that the compiler recomputes addresses for a later pass instead of
// keeping those of an earlier one in registers.
SINTER_DEVICE unsigned hide_from_optimizer(unsigned n) {
#ifndef SINTER_VIRTUAL_GPU
  asm volatile("mov.u32 %0, %0;" : "+r"(n));
#endif
  return n;
}

}  // namespace sinter

namespace sinter {

struct sinter_softmax_f32_params {
  float* y0;
  const float* x0;
  alignas(8) long long work_items;
  alignas(8) long long rows;
  alignas(8) unsigned columns;
  alignas(8) long long y0_row0;
  alignas(8) long long x0_row0;
};

SINTER_DEVICE void run(const sinter_softmax_f32_params& p) {
  float* __restrict__ y0_memory = p.y0;
  const float* __restrict__ x0_memory = p.x0;
  const unsigned t0 = threadIdx.x % 32;
#pragma unroll 1
  for (long long work_item = static_cast<long long>(blockIdx.x); work_item < p.work_items; work_item += static_cast<long long>(gridDim.x)) {
    const long long row = (work_item * 8) + (static_cast<long long>(threadIdx.x / 32));
    const bool row_active = row < p.rows;
    const float* x0_row = x0_memory + (row * p.x0_row0);
    Vec<float, 4> x0_registers[8];
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
      const float* x0_thread = x0_row + ((static_cast<long long>(t0)) * 4);
      Vec<float, 4> t1{};
      if (row_active) t1 = reinterpret_cast<const Vec<float, 4>*>(x0_thread)[k * 32];
      x0_registers[k] = t1;
    }
    const float t1 = float_bits(0xff800000u);  // -inf
    float amax = t1;
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
      Vec<float, 2> t2;
#pragma unroll
      for (int l = 0; l < 2; ++l) {
        t2.at[l] = maximum(x0_registers[k].at[l], x0_registers[k].at[l + 2]);
      }
      const float t3 = maximum(t2.at[0], t2.at[1]);
      const float t4 = row_active ? t3 : t1;
      const float t5 = maximum(amax, t4);
      amax = t5;
    }
    const float t2 = shuffle_xor(amax, 16);
    const float t3 = maximum(amax, t2);
    const float t4 = shuffle_xor(t3, 8);
    const float t5 = maximum(t3, t4);
    const float t6 = shuffle_xor(t5, 4);
    const float t7 = maximum(t5, t6);
    const float t8 = shuffle_xor(t7, 2);
    const float t9 = maximum(t7, t8);
    const float t10 = shuffle_xor(t9, 1);
    const float t11 = maximum(t9, t10);
    Vec<float, 4> saved[8];
    const float t12 = 0x0p+0f;  // 0
    float sum = t12;
    float sum_comp = t12;
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
      Vec<float, 4> t13;
#pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float t14 = x0_registers[k].at[l] - t11;
        t13.at[l] = exp(t14);
      }
      saved[k] = t13;
      Vec<float, 2> t14;
#pragma unroll
      for (int l = 0; l < 2; ++l) {
        t14.at[l] = t13.at[l] + t13.at[l + 2];
      }
      const float t15 = t14.at[0] + t14.at[1];
      const float t16 = row_active ? t15 : t12;
      compensated_add(sum, sum_comp, t16);
    }
    const float t13 = compensated_value(sum, sum_comp);
    const float t14 = shuffle_xor(t13, 16);
    const float t15 = t13 + t14;
    const float t16 = shuffle_xor(t15, 8);
    const float t17 = t15 + t16;
    const float t18 = shuffle_xor(t17, 4);
    const float t19 = t17 + t18;
    const float t20 = shuffle_xor(t19, 2);
    const float t21 = t19 + t20;
    const float t22 = shuffle_xor(t21, 1);
    const float t23 = t21 + t22;
    const unsigned t24 = hide_from_optimizer(t0);
    float* y0_row = y0_memory + (row * p.y0_row0);
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
      Vec<float, 4> t25;
#pragma unroll
      for (int l = 0; l < 4; ++l) {
        t25.at[l] = saved[k].at[l] / t23;
      }
      float* y0_thread = y0_row + ((static_cast<long long>(t24)) * 4);
      if (row_active) reinterpret_cast<Vec<float, 4>*>(y0_thread)[k * 32] = t25;
    }
  }
}

}  // namespace sinter

extern "C" __global__ void __launch_bounds__(256, 4) sinter_softmax_f32(const __grid_constant__ sinter::sinter_softmax_f32_params p) {
  sinter::run(p);
}

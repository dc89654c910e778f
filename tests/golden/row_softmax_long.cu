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

// Updates the shift of a sum of exponentials if the maximum so far is so much greater that the sum might overflow, and
// rescales the sum. That happens seldom: each rescaling rounds.
template <class T>
SINTER_DEVICE void update_max_shift(T& shift, T& sum, T& compensation, T max) {
  if (!(max - shift > T(8)) || max - max != T(0)) return;
  const T scale = exp(shift - max);
  sum *= scale;
  compensation *= scale;
  shift = max;
}

// Rescales sum(exp(x - shift)) to sum(exp(x - max)); if max is not finite, the shift is irrelevant.
template <class T>
SINTER_DEVICE T rescale_to_max(T sum, T shift, T max) {
  return max - max == T(0) ? sum * exp(shift - max) : sum;
}

// Rescales a partial sum(exp(x - max)) to the larger of two partial maxima.
template <class T>
SINTER_DEVICE T rescale_to_larger_max(T sum, T max, T other) {
  return other > max ? sum * exp(max - other) : sum;
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
  __shared__ __align__(16) float shared0_0[32];
  __shared__ __align__(16) float shared0_1[32];
  const unsigned t0 = threadIdx.x;
  const unsigned vectors = p.columns / 4;
  const unsigned t1 = t0;
#pragma unroll 1
  for (long long work_item = static_cast<long long>(blockIdx.x); work_item < p.work_items; work_item += static_cast<long long>(gridDim.x)) {
    const float* x0_row = x0_memory + (work_item * p.x0_row0);
    const float t2 = float_bits(0xff800000u);  // -inf
    const float t3 = 0x0p+0f;  // 0
    float amax = t2;
    const float t4 = -0x1.fffffep+127f;  // -3.4028235e+38
    float shift = t4;
    float exponentials = t3;
    float exponentials_comp = t3;
    const unsigned t5 = (vectors / 4096) * 4096;
#pragma unroll 1
    for (unsigned base = t1; base < t5; base += 4096) {
      Vec<float, 4> x0_in[4];
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        const Vec<float, 4> t6 = reinterpret_cast<const Vec<float, 4>*>(x0_row)[base + (k * 1024)];
        x0_in[k] = t6;
      }
      float amax_1 = t2;
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        Vec<float, 2> t6;
#pragma unroll
        for (int l = 0; l < 2; ++l) {
          t6.at[l] = maximum(x0_in[k].at[l], x0_in[k].at[l + 2]);
        }
        const float t7 = maximum(t6.at[0], t6.at[1]);
        const float t8 = maximum(amax_1, t7);
        amax_1 = t8;
      }
      const float t6 = maximum(amax, amax_1);
      amax = t6;
      update_max_shift(shift, exponentials, exponentials_comp, amax);
      float batch = t3;
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        Vec<float, 4> t7;
#pragma unroll
        for (int l = 0; l < 4; ++l) {
          const float t8 = x0_in[k].at[l] - shift;
          t7.at[l] = exp(t8);
        }
        Vec<float, 2> t8;
#pragma unroll
        for (int l = 0; l < 2; ++l) {
          t8.at[l] = t7.at[l] + t7.at[l + 2];
        }
        const float t9 = t8.at[0] + t8.at[1];
        const float t10 = batch + t9;
        batch = t10;
      }
      compensated_add(exponentials, exponentials_comp, batch);
    }
    const unsigned t6 = t1 + t5;
#pragma unroll 1
    for (unsigned i = t6; i < vectors; i += 1024) {
      const Vec<float, 4> x0 = reinterpret_cast<const Vec<float, 4>*>(x0_row)[i];
      Vec<float, 2> t7;
#pragma unroll
      for (int l = 0; l < 2; ++l) {
        t7.at[l] = maximum(x0.at[l], x0.at[l + 2]);
      }
      const float t8 = maximum(t7.at[0], t7.at[1]);
      const float t9 = maximum(amax, t8);
      amax = t9;
      update_max_shift(shift, exponentials, exponentials_comp, amax);
      const Vec<float, 4> x0_1 = reinterpret_cast<const Vec<float, 4>*>(x0_row)[i];
      Vec<float, 4> t10;
#pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float t11 = x0_1.at[l] - shift;
        t10.at[l] = exp(t11);
      }
      Vec<float, 2> t11;
#pragma unroll
      for (int l = 0; l < 2; ++l) {
        t11.at[l] = t10.at[l] + t10.at[l + 2];
      }
      const float t12 = t11.at[0] + t11.at[1];
      compensated_add(exponentials, exponentials_comp, t12);
    }
    const float t7 = compensated_value(exponentials, exponentials_comp);
    const float t8 = rescale_to_max(t7, shift, amax);
    const float t9 = shuffle_xor(amax, 16);
    const float t10 = shuffle_xor(t8, 16);
    const float t11 = maximum(amax, t9);
    const float t12 = rescale_to_larger_max(t8, amax, t9);
    const float t13 = rescale_to_larger_max(t10, t9, amax);
    const float t14 = t12 + t13;
    const float t15 = shuffle_xor(t11, 8);
    const float t16 = shuffle_xor(t14, 8);
    const float t17 = maximum(t11, t15);
    const float t18 = rescale_to_larger_max(t14, t11, t15);
    const float t19 = rescale_to_larger_max(t16, t15, t11);
    const float t20 = t18 + t19;
    const float t21 = shuffle_xor(t17, 4);
    const float t22 = shuffle_xor(t20, 4);
    const float t23 = maximum(t17, t21);
    const float t24 = rescale_to_larger_max(t20, t17, t21);
    const float t25 = rescale_to_larger_max(t22, t21, t17);
    const float t26 = t24 + t25;
    const float t27 = shuffle_xor(t23, 2);
    const float t28 = shuffle_xor(t26, 2);
    const float t29 = maximum(t23, t27);
    const float t30 = rescale_to_larger_max(t26, t23, t27);
    const float t31 = rescale_to_larger_max(t28, t27, t23);
    const float t32 = t30 + t31;
    const float t33 = shuffle_xor(t29, 1);
    const float t34 = shuffle_xor(t32, 1);
    const float t35 = maximum(t29, t33);
    const float t36 = rescale_to_larger_max(t32, t29, t33);
    const float t37 = rescale_to_larger_max(t34, t33, t29);
    const float t38 = t36 + t37;
    const unsigned lane = t0 % 32;
    if (lane == 0) {
      const unsigned t39 = t0 / 32;
      shared0_0[t39] = t35;
      shared0_1[t39] = t38;
    }
    __syncthreads();
    const bool t39 = lane < (blockDim.x / 32);
    float t40{};
    if (t39) t40 = shared0_0[lane];
    float t41{};
    if (t39) t41 = shared0_1[lane];
    const float t42 = t39 ? t40 : t2;
    const float t43 = t39 ? t41 : t3;
    const float t44 = shuffle_xor(t42, 16);
    const float t45 = shuffle_xor(t43, 16);
    const float t46 = maximum(t42, t44);
    const float t47 = rescale_to_larger_max(t43, t42, t44);
    const float t48 = rescale_to_larger_max(t45, t44, t42);
    const float t49 = t47 + t48;
    const float t50 = shuffle_xor(t46, 8);
    const float t51 = shuffle_xor(t49, 8);
    const float t52 = maximum(t46, t50);
    const float t53 = rescale_to_larger_max(t49, t46, t50);
    const float t54 = rescale_to_larger_max(t51, t50, t46);
    const float t55 = t53 + t54;
    const float t56 = shuffle_xor(t52, 4);
    const float t57 = shuffle_xor(t55, 4);
    const float t58 = maximum(t52, t56);
    const float t59 = rescale_to_larger_max(t55, t52, t56);
    const float t60 = rescale_to_larger_max(t57, t56, t52);
    const float t61 = t59 + t60;
    const float t62 = shuffle_xor(t58, 2);
    const float t63 = shuffle_xor(t61, 2);
    const float t64 = maximum(t58, t62);
    const float t65 = rescale_to_larger_max(t61, t58, t62);
    const float t66 = rescale_to_larger_max(t63, t62, t58);
    const float t67 = t65 + t66;
    const float t68 = shuffle_xor(t64, 1);
    const float t69 = shuffle_xor(t67, 1);
    const float t70 = maximum(t64, t68);
    const float t71 = rescale_to_larger_max(t67, t64, t68);
    const float t72 = rescale_to_larger_max(t69, t68, t64);
    const float t73 = t71 + t72;
    const float t74 = t70 - t70;
    const float t75 = t73 + t74;
    float* y0_row = y0_memory + (work_item * p.y0_row0);
#pragma unroll 1
    for (unsigned base = t1; base < t5; base += 4096) {
      Vec<float, 4> x0_in[4];
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        const Vec<float, 4> t76 = reinterpret_cast<const Vec<float, 4>*>(x0_row)[base + (k * 1024)];
        x0_in[k] = t76;
      }
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        Vec<float, 4> t76;
#pragma unroll
        for (int l = 0; l < 4; ++l) {
          const float t77 = x0_in[k].at[l] - t70;
          const float t78 = exp(t77);
          t76.at[l] = t78 / t75;
        }
        reinterpret_cast<Vec<float, 4>*>(y0_row)[base + (k * 1024)] = t76;
      }
    }
#pragma unroll 1
    for (unsigned i = t6; i < vectors; i += 1024) {
      const Vec<float, 4> x0 = reinterpret_cast<const Vec<float, 4>*>(x0_row)[i];
      Vec<float, 4> t76;
#pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float t77 = x0.at[l] - t70;
        const float t78 = exp(t77);
        t76.at[l] = t78 / t75;
      }
      reinterpret_cast<Vec<float, 4>*>(y0_row)[i] = t76;
    }
    __syncthreads();
  }
}

}  // namespace sinter

extern "C" __global__ void __launch_bounds__(1024, 1) sinter_softmax_f32(const __grid_constant__ sinter::sinter_softmax_f32_params p) {
  sinter::run(p);
}

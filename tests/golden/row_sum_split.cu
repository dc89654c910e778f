namespace sinter {

#define SINTER_DEVICE static __device__ __forceinline__

template <class T, int N>
struct alignas(sizeof(T) * N) Vec {
  T at[N];
};

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

}  // namespace sinter

namespace sinter {

struct sinter_sum_f32_params {
  float* y0;
  const float* x0;
  unsigned char* partials0;
  alignas(8) long long work_items;
  alignas(8) long long rows;
  alignas(8) unsigned columns;
  alignas(8) long long splits;
  alignas(8) unsigned vectors_per_split;
  alignas(8) long long splits_in_launch;
  alignas(8) long long pass;
  alignas(8) long long y0_row0;
  alignas(8) long long x0_row0;
};

SINTER_DEVICE void run(const sinter_sum_f32_params& p) {
  float* __restrict__ y0_memory = p.y0;
  const float* __restrict__ x0_memory = p.x0;
  unsigned char* __restrict__ partials0_memory = p.partials0;
  __shared__ __align__(16) float shared0_0[32];
  const unsigned t0 = threadIdx.x;
  const unsigned vectors = p.columns / 4;
  const unsigned t1 = t0;
#pragma unroll 1
  for (long long work_item = static_cast<long long>(blockIdx.x); work_item < p.work_items; work_item += static_cast<long long>(gridDim.x)) {
    const long long row_group = work_item / p.splits_in_launch;
    const long long split = work_item - (row_group * p.splits_in_launch);
    const unsigned begin = static_cast<unsigned>(split) * p.vectors_per_split;
    const unsigned t2 = begin + p.vectors_per_split;
    const unsigned end = (t2 < vectors) ? t2 : vectors;
    const float* x0_row = x0_memory + (row_group * p.x0_row0);
    if (p.pass == 0) {
      const float t3 = 0x0p+0f;  // 0
      float sum = t3;
      float sum_comp = t3;
      const unsigned t4 = begin + t1;
      const unsigned t5 = ((end - begin) / 4096) * 4096;
#pragma unroll 1
      for (unsigned base = t4; base < begin + t5; base += 4096) {
        Vec<float, 4> x0_in[4];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
          const Vec<float, 4> t6 = reinterpret_cast<const Vec<float, 4>*>(x0_row)[base + (k * 1024)];
          x0_in[k] = t6;
        }
        float sum_1 = t3;
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
          Vec<float, 2> t6;
#pragma unroll
          for (int l = 0; l < 2; ++l) {
            t6.at[l] = x0_in[k].at[l] + x0_in[k].at[l + 2];
          }
          const float t7 = t6.at[0] + t6.at[1];
          const float t8 = sum_1 + t7;
          sum_1 = t8;
        }
        compensated_add(sum, sum_comp, sum_1);
      }
#pragma unroll 1
      for (unsigned i = t4 + t5; i < end; i += 1024) {
        const Vec<float, 4> x0 = reinterpret_cast<const Vec<float, 4>*>(x0_row)[i];
        Vec<float, 2> t6;
#pragma unroll
        for (int l = 0; l < 2; ++l) {
          t6.at[l] = x0.at[l] + x0.at[l + 2];
        }
        const float t7 = t6.at[0] + t6.at[1];
        compensated_add(sum, sum_comp, t7);
      }
      const unsigned c = (vectors * 4) + t1;
      if ((split == (p.splits - 1)) && (c < p.columns)) {
        const float x0 = x0_row[c];
        compensated_add(sum, sum_comp, x0);
      }
      const float t6 = compensated_value(sum, sum_comp);
      const float t7 = shuffle_xor(t6, 16);
      const float t8 = t6 + t7;
      const float t9 = shuffle_xor(t8, 8);
      const float t10 = t8 + t9;
      const float t11 = shuffle_xor(t10, 4);
      const float t12 = t10 + t11;
      const float t13 = shuffle_xor(t12, 2);
      const float t14 = t12 + t13;
      const float t15 = shuffle_xor(t14, 1);
      const float t16 = t14 + t15;
      const unsigned lane = t0 % 32;
      if (lane == 0) {
        shared0_0[t0 / 32] = t16;
      }
      __syncthreads();
      const bool t17 = lane < (blockDim.x / 32);
      float t18{};
      if (t17) t18 = shared0_0[lane];
      const float t19 = t17 ? t18 : t3;
      const float t20 = shuffle_xor(t19, 16);
      const float t21 = t19 + t20;
      const float t22 = shuffle_xor(t21, 8);
      const float t23 = t21 + t22;
      const float t24 = shuffle_xor(t23, 4);
      const float t25 = t23 + t24;
      const float t26 = shuffle_xor(t25, 2);
      const float t27 = t25 + t26;
      const float t28 = shuffle_xor(t27, 1);
      const float t29 = t27 + t28;
      if (t0 == 0) {
        float* t30 = reinterpret_cast<float*>(partials0_memory + 0);
        t30[(row_group * p.splits) + split] = t29;
      }
    }
    if (0 < p.pass) {
      const float t3 = 0x0p+0f;  // 0
      float sum = t3;
      for (long long other = static_cast<long long>(t0); other < p.splits; other += 1024) {
        float* t4 = reinterpret_cast<float*>(partials0_memory + 0);
        const float t5 = t4[(row_group * p.splits) + other];
        const float t6 = sum + t5;
        sum = t6;
      }
      const float t4 = shuffle_xor(sum, 16);
      const float t5 = sum + t4;
      const float t6 = shuffle_xor(t5, 8);
      const float t7 = t5 + t6;
      const float t8 = shuffle_xor(t7, 4);
      const float t9 = t7 + t8;
      const float t10 = shuffle_xor(t9, 2);
      const float t11 = t9 + t10;
      const float t12 = shuffle_xor(t11, 1);
      const float t13 = t11 + t12;
      const unsigned lane = t0 % 32;
      if (lane == 0) {
        shared0_0[t0 / 32] = t13;
      }
      __syncthreads();
      const bool t14 = lane < (blockDim.x / 32);
      float t15{};
      if (t14) t15 = shared0_0[lane];
      const float t16 = t14 ? t15 : t3;
      const float t17 = shuffle_xor(t16, 16);
      const float t18 = t16 + t17;
      const float t19 = shuffle_xor(t18, 8);
      const float t20 = t18 + t19;
      const float t21 = shuffle_xor(t20, 4);
      const float t22 = t20 + t21;
      const float t23 = shuffle_xor(t22, 2);
      const float t24 = t22 + t23;
      const float t25 = shuffle_xor(t24, 1);
      const float t26 = t24 + t25;
      if ((t0 == 0) && (split == 0)) {
        float* y0_row = y0_memory + (row_group * p.y0_row0);
        y0_row[0] = t26;
      }
    }
    __syncthreads();
  }
}

}  // namespace sinter

extern "C" __global__ void __launch_bounds__(1024, 1) sinter_sum_f32(const __grid_constant__ sinter::sinter_sum_f32_params p) {
  sinter::run(p);
}

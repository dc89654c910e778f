namespace sinter {

#define SINTER_DEVICE static __device__ __forceinline__

template <class T, int N>
struct alignas(sizeof(T) * N) Lanes {
  T at[N];
};

// The value of the lane whose number differs by the bits of `lanes`.
template <class T>
SINTER_DEVICE T from_lane(T a, int lanes) {
  return T(__shfl_xor_sync(~0u, a, lanes));
}

// What adding b to a loses in rounding goes to the compensation (Knuth's two-sum).
template <class T>
SINTER_DEVICE void add_exactly(T& a, T& compensation, T b) {
  const T sum = a + b, rounded = sum - a;
  compensation += (a - (sum - rounded)) + (b - rounded);
  a = sum;
}

// An infinite or NaN sum has no compensation.
template <class T>
SINTER_DEVICE T compensated(T a, T compensation) {
  return compensation - compensation == T(0) ? a + compensation : a;
}

}  // namespace sinter

namespace sinter {

struct sinter_sum_f32_params {
  float* y0;
  const float* x0;
  unsigned char* parts0;
  alignas(8) long long items;
  alignas(8) long long rows;
  alignas(8) unsigned columns;
  alignas(8) long long splits;
  alignas(8) unsigned part;
  alignas(8) long long spread;
  alignas(8) long long pass;
  alignas(8) long long y0_row0;
  alignas(8) long long x0_row0;
};

SINTER_DEVICE void run(const sinter_sum_f32_params& p) {
  float* __restrict__ y0_memory = p.y0;
  const float* __restrict__ x0_memory = p.x0;
  unsigned char* __restrict__ parts0_memory = p.parts0;
  __shared__ __align__(16) float shared0_0[32];
  const unsigned t0 = threadIdx.x;
  const unsigned vectors = p.columns / 4;
  const unsigned t1 = t0;
#pragma unroll 1
  for (long long item = static_cast<long long>(blockIdx.x); item < p.items; item += static_cast<long long>(gridDim.x)) {
    const long long tile = item / p.spread;
    const long long split = item - (tile * p.spread);
    const unsigned begin = static_cast<unsigned>(split) * p.part;
    const unsigned t2 = begin + p.part;
    const unsigned end = (t2 < vectors) ? t2 : vectors;
    const float* x0_row = x0_memory + (tile * p.x0_row0);
    if (p.pass == 0) {
      const float t3 = 0x0p+0f;  // 0
      float sum = t3;
      float sum_rest = t3;
      const unsigned t4 = begin + t1;
      const unsigned t5 = ((end - begin) / 1024) * 1024;
#pragma unroll 1
      for (unsigned base = t4; base < begin + t5; base += 1024) {
        Lanes<float, 4> x0_in[4];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
          const Lanes<float, 4> t6 = reinterpret_cast<const Lanes<float, 4>*>(x0_row)[base + (k * 256)];
          x0_in[k] = t6;
        }
        float sum_1 = t3;
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
          Lanes<float, 2> t6;
#pragma unroll
          for (int l = 0; l < 2; ++l) {
            t6.at[l] = x0_in[k].at[l] + x0_in[k].at[l + 2];
          }
          const float t7 = t6.at[0] + t6.at[1];
          const float t8 = sum_1 + t7;
          sum_1 = t8;
        }
        add_exactly(sum, sum_rest, sum_1);
      }
#pragma unroll 1
      for (unsigned i = t4 + t5; i < end; i += 256) {
        const Lanes<float, 4> x0 = reinterpret_cast<const Lanes<float, 4>*>(x0_row)[i];
        Lanes<float, 2> t6;
#pragma unroll
        for (int l = 0; l < 2; ++l) {
          t6.at[l] = x0.at[l] + x0.at[l + 2];
        }
        const float t7 = t6.at[0] + t6.at[1];
        add_exactly(sum, sum_rest, t7);
      }
      const unsigned c = (vectors * 4) + t1;
      if ((split == (p.splits - 1)) && (c < p.columns)) {
        const float x0 = x0_row[c];
        add_exactly(sum, sum_rest, x0);
      }
      const float t6 = compensated(sum, sum_rest);
      const float t7 = from_lane(t6, 16);
      const float t8 = t6 + t7;
      const float t9 = from_lane(t8, 8);
      const float t10 = t8 + t9;
      const float t11 = from_lane(t10, 4);
      const float t12 = t10 + t11;
      const float t13 = from_lane(t12, 2);
      const float t14 = t12 + t13;
      const float t15 = from_lane(t14, 1);
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
      const float t20 = from_lane(t19, 16);
      const float t21 = t19 + t20;
      const float t22 = from_lane(t21, 8);
      const float t23 = t21 + t22;
      const float t24 = from_lane(t23, 4);
      const float t25 = t23 + t24;
      const float t26 = from_lane(t25, 2);
      const float t27 = t25 + t26;
      const float t28 = from_lane(t27, 1);
      const float t29 = t27 + t28;
      if (t0 == 0) {
        float* t30 = reinterpret_cast<float*>(parts0_memory + 0);
        t30[(tile * p.splits) + split] = t29;
      }
    }
    if (0 < p.pass) {
      const float t3 = 0x0p+0f;  // 0
      float sum = t3;
      for (long long other = static_cast<long long>(t0); other < p.splits; other += 256) {
        float* t4 = reinterpret_cast<float*>(parts0_memory + 0);
        const float t5 = t4[(tile * p.splits) + other];
        const float t6 = sum + t5;
        sum = t6;
      }
      const float t4 = from_lane(sum, 16);
      const float t5 = sum + t4;
      const float t6 = from_lane(t5, 8);
      const float t7 = t5 + t6;
      const float t8 = from_lane(t7, 4);
      const float t9 = t7 + t8;
      const float t10 = from_lane(t9, 2);
      const float t11 = t9 + t10;
      const float t12 = from_lane(t11, 1);
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
      const float t17 = from_lane(t16, 16);
      const float t18 = t16 + t17;
      const float t19 = from_lane(t18, 8);
      const float t20 = t18 + t19;
      const float t21 = from_lane(t20, 4);
      const float t22 = t20 + t21;
      const float t23 = from_lane(t22, 2);
      const float t24 = t22 + t23;
      const float t25 = from_lane(t24, 1);
      const float t26 = t24 + t25;
      if ((t0 == 0) && (split == 0)) {
        float* y0_row = y0_memory + (tile * p.y0_row0);
        y0_row[0] = t26;
      }
    }
    __syncthreads();
  }
}

}  // namespace sinter

extern "C" __global__ void __launch_bounds__(256, 4) sinter_sum_f32(const __grid_constant__ sinter::sinter_sum_f32_params p) {
  sinter::run(p);
}

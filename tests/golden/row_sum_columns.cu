namespace sinter {

#define SINTER_DEVICE static __device__ __forceinline__

template <class T, int N>
struct alignas(sizeof(T) * N) Lanes {
  T at[N];
};

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
  alignas(8) long long items;
  alignas(8) long long rows;
  alignas(8) unsigned columns;
  alignas(8) long long y0_row0;
  alignas(8) long long x0_row0;
  alignas(8) int x0_stride0;
};

SINTER_DEVICE void run(const sinter_sum_f32_params& p) {
  float* __restrict__ y0_memory = p.y0;
  const float* __restrict__ x0_memory = p.x0;
  __shared__ __align__(16) float shared0_0[1024];
  const unsigned t0 = threadIdx.x / 32;
  const unsigned t1 = threadIdx.x % 32;
  const unsigned t2 = t0;
#pragma unroll 1
  for (long long item = static_cast<long long>(blockIdx.x); item < p.items; item += static_cast<long long>(gridDim.x)) {
    const long long row = ((item * 32) + (static_cast<long long>(t1))) * 4;
    const bool here = row < p.rows;
    const unsigned t3 = here ? p.columns : 0;
    const float* x0_row = x0_memory + (row * p.x0_row0);
    const float t4 = 0x0p+0f;  // 0
    Lanes<float, 4> sum;
#pragma unroll
    for (int l = 0; l < 4; ++l) sum.at[l] = t4;
    Lanes<float, 4> sum_rest;
#pragma unroll
    for (int l = 0; l < 4; ++l) sum_rest.at[l] = t4;
    const unsigned t5 = (t3 / 32) * 32;
#pragma unroll 1
    for (unsigned base = t2; base < t5; base += 32) {
      Lanes<float, 4> x0_in[4];
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        const Lanes<float, 4> t6 = *reinterpret_cast<const Lanes<float, 4>*>(x0_row + ((static_cast<int>(base + (k * 8))) * p.x0_stride0));
        x0_in[k] = t6;
      }
      Lanes<float, 4> sum_1;
#pragma unroll
      for (int l = 0; l < 4; ++l) sum_1.at[l] = t4;
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        Lanes<float, 4> t6;
#pragma unroll
        for (int l = 0; l < 4; ++l) {
          t6.at[l] = sum_1.at[l] + x0_in[k].at[l];
        }
        sum_1 = t6;
      }
#pragma unroll
      for (int l = 0; l < 4; ++l) {
        add_exactly(sum.at[l], sum_rest.at[l], sum_1.at[l]);
      }
    }
#pragma unroll 1
    for (unsigned i = t2 + t5; i < t3; i += 8) {
      const Lanes<float, 4> x0 = *reinterpret_cast<const Lanes<float, 4>*>(x0_row + (static_cast<int>(i) * p.x0_stride0));
#pragma unroll
      for (int l = 0; l < 4; ++l) {
        add_exactly(sum.at[l], sum_rest.at[l], x0.at[l]);
      }
    }
    Lanes<float, 4> t6;
#pragma unroll
    for (int l = 0; l < 4; ++l) {
      t6.at[l] = compensated(sum.at[l], sum_rest.at[l]);
    }
    reinterpret_cast<Lanes<float, 4>*>(shared0_0)[threadIdx.x] = t6;
    __syncthreads();
    if (threadIdx.x < 128) {
      const Lanes<float, 4> t7 = reinterpret_cast<Lanes<float, 4>*>(shared0_0)[threadIdx.x];
      const Lanes<float, 4> t8 = reinterpret_cast<Lanes<float, 4>*>(shared0_0)[threadIdx.x + 128];
      Lanes<float, 4> t9;
#pragma unroll
      for (int l = 0; l < 4; ++l) {
        t9.at[l] = t7.at[l] + t8.at[l];
      }
      reinterpret_cast<Lanes<float, 4>*>(shared0_0)[threadIdx.x] = t9;
    }
    __syncthreads();
    if (threadIdx.x < 64) {
      const Lanes<float, 4> t7 = reinterpret_cast<Lanes<float, 4>*>(shared0_0)[threadIdx.x];
      const Lanes<float, 4> t8 = reinterpret_cast<Lanes<float, 4>*>(shared0_0)[threadIdx.x + 64];
      Lanes<float, 4> t9;
#pragma unroll
      for (int l = 0; l < 4; ++l) {
        t9.at[l] = t7.at[l] + t8.at[l];
      }
      reinterpret_cast<Lanes<float, 4>*>(shared0_0)[threadIdx.x] = t9;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
      const Lanes<float, 4> t7 = reinterpret_cast<Lanes<float, 4>*>(shared0_0)[threadIdx.x];
      const Lanes<float, 4> t8 = reinterpret_cast<Lanes<float, 4>*>(shared0_0)[threadIdx.x + 32];
      Lanes<float, 4> t9;
#pragma unroll
      for (int l = 0; l < 4; ++l) {
        t9.at[l] = t7.at[l] + t8.at[l];
      }
      reinterpret_cast<Lanes<float, 4>*>(shared0_0)[threadIdx.x] = t9;
    }
    __syncthreads();
    const Lanes<float, 4> t7 = reinterpret_cast<Lanes<float, 4>*>(shared0_0)[t1];
    if ((t0 == 0) && here) {
      float* y0_row = y0_memory + (row * p.y0_row0);
#pragma unroll
      for (int l = 0; l < 4; ++l) y0_row[0 + l * p.y0_row0] = t7.at[l];
    }
    __syncthreads();
  }
}

}  // namespace sinter

extern "C" __global__ void __launch_bounds__(256, 4) sinter_sum_f32(const __grid_constant__ sinter::sinter_sum_f32_params p) {
  sinter::run(p);
}

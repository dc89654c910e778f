namespace sinter {

#define SINTER_DEVICE static __device__ __forceinline__

template <class T, int N>
struct alignas(sizeof(T) * N) Vec {
  T at[N];
};

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
  alignas(8) long long work_items;
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
  for (long long work_item = static_cast<long long>(blockIdx.x); work_item < p.work_items; work_item += static_cast<long long>(gridDim.x)) {
    const long long row = ((work_item * 32) + (static_cast<long long>(t1))) * 4;
    const bool row_active = row < p.rows;
    const unsigned t3 = row_active ? p.columns : 0;
    const float* x0_row = x0_memory + (row * p.x0_row0);
    const float t4 = 0x0p+0f;  // 0
    Vec<float, 4> sum;
#pragma unroll
    for (int l = 0; l < 4; ++l) sum.at[l] = t4;
    Vec<float, 4> sum_comp;
#pragma unroll
    for (int l = 0; l < 4; ++l) sum_comp.at[l] = t4;
    const unsigned t5 = (t3 / 32) * 32;
#pragma unroll 1
    for (unsigned base = t2; base < t5; base += 32) {
      Vec<float, 4> x0_in[4];
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        const Vec<float, 4> t6 = *reinterpret_cast<const Vec<float, 4>*>(x0_row + ((static_cast<int>(base + (k * 8))) * p.x0_stride0));
        x0_in[k] = t6;
      }
      Vec<float, 4> sum_1;
#pragma unroll
      for (int l = 0; l < 4; ++l) sum_1.at[l] = t4;
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        Vec<float, 4> t6;
#pragma unroll
        for (int l = 0; l < 4; ++l) {
          t6.at[l] = sum_1.at[l] + x0_in[k].at[l];
        }
        sum_1 = t6;
      }
#pragma unroll
      for (int l = 0; l < 4; ++l) {
        compensated_add(sum.at[l], sum_comp.at[l], sum_1.at[l]);
      }
    }
#pragma unroll 1
    for (unsigned i = t2 + t5; i < t3; i += 8) {
      const Vec<float, 4> x0 = *reinterpret_cast<const Vec<float, 4>*>(x0_row + (static_cast<int>(i) * p.x0_stride0));
#pragma unroll
      for (int l = 0; l < 4; ++l) {
        compensated_add(sum.at[l], sum_comp.at[l], x0.at[l]);
      }
    }
    Vec<float, 4> t6;
#pragma unroll
    for (int l = 0; l < 4; ++l) {
      t6.at[l] = compensated_value(sum.at[l], sum_comp.at[l]);
    }
    reinterpret_cast<Vec<float, 4>*>(shared0_0)[threadIdx.x] = t6;
    __syncthreads();
    if (threadIdx.x < 128) {
      const Vec<float, 4> t7 = reinterpret_cast<Vec<float, 4>*>(shared0_0)[threadIdx.x];
      const Vec<float, 4> t8 = reinterpret_cast<Vec<float, 4>*>(shared0_0)[threadIdx.x + 128];
      Vec<float, 4> t9;
#pragma unroll
      for (int l = 0; l < 4; ++l) {
        t9.at[l] = t7.at[l] + t8.at[l];
      }
      reinterpret_cast<Vec<float, 4>*>(shared0_0)[threadIdx.x] = t9;
    }
    __syncthreads();
    if (threadIdx.x < 64) {
      const Vec<float, 4> t7 = reinterpret_cast<Vec<float, 4>*>(shared0_0)[threadIdx.x];
      const Vec<float, 4> t8 = reinterpret_cast<Vec<float, 4>*>(shared0_0)[threadIdx.x + 64];
      Vec<float, 4> t9;
#pragma unroll
      for (int l = 0; l < 4; ++l) {
        t9.at[l] = t7.at[l] + t8.at[l];
      }
      reinterpret_cast<Vec<float, 4>*>(shared0_0)[threadIdx.x] = t9;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
      const Vec<float, 4> t7 = reinterpret_cast<Vec<float, 4>*>(shared0_0)[threadIdx.x];
      const Vec<float, 4> t8 = reinterpret_cast<Vec<float, 4>*>(shared0_0)[threadIdx.x + 32];
      Vec<float, 4> t9;
#pragma unroll
      for (int l = 0; l < 4; ++l) {
        t9.at[l] = t7.at[l] + t8.at[l];
      }
      reinterpret_cast<Vec<float, 4>*>(shared0_0)[threadIdx.x] = t9;
    }
    __syncthreads();
    const Vec<float, 4> t7 = reinterpret_cast<Vec<float, 4>*>(shared0_0)[t1];
    if ((t0 == 0) && row_active) {
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

namespace sinter {

#define SINTER_DEVICE static __device__ __forceinline__

template <class T, int N>
struct alignas(sizeof(T) * N) Lanes {
  T at[N];
};

SINTER_DEVICE float exp(float a) { return ::expf(a); }
SINTER_DEVICE double exp(double a) { return ::exp(a); }

}  // namespace sinter

struct sinter_add_exp_mul_f32_2319_params {
  float* y0;
  const float* x0;
  const float* x1;
  alignas(8) unsigned count;
  alignas(8) float s0;
};

namespace sinter {

SINTER_DEVICE void element(const sinter_add_exp_mul_f32_2319_params& p, float x0, float x1, float& y0) {
  const float t0 = x0 + p.s0;
  const float t1 = exp(t0);
  const float t2 = t1 * x1;
  y0 = t2;
}

}  // namespace sinter

extern "C" __global__ void __launch_bounds__(256, 1) sinter_add_exp_mul_f32_2319(const __grid_constant__ sinter_add_exp_mul_f32_2319_params p) {
  float* __restrict__ y0 = p.y0;
  const float* __restrict__ x0 = p.x0;
  const float* __restrict__ x1 = p.x1;
  const unsigned threads = gridDim.x * blockDim.x, thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned vectors = p.count / 4;
#pragma unroll 1
  for (unsigned i = thread; i < vectors; i += threads) {
    sinter::Lanes<float, 4> y0_lanes;
    const sinter::Lanes<float, 4> x0_lanes = reinterpret_cast<const sinter::Lanes<float, 4>*>(x0)[i];
    const sinter::Lanes<float, 4> x1_lanes = reinterpret_cast<const sinter::Lanes<float, 4>*>(x1)[i];
#pragma unroll
    for (int l = 0; l < 4; ++l)
      sinter::element(p, x0_lanes.at[l], x1_lanes.at[l], y0_lanes.at[l]);
    reinterpret_cast<sinter::Lanes<float, 4>*>(y0)[i] = y0_lanes;
  }
#pragma unroll 1
  for (unsigned i = vectors * 4 + thread; i < p.count; i += threads) {
    sinter::element(p, x0[i], x1[i], y0[i]);
  }
}

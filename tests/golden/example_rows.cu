namespace sinter {

#define SINTER_DEVICE static __device__ __forceinline__

template <class T, int N>
struct alignas(sizeof(T) * N) Lanes {
  T at[N];
};

// Division of numbers below 2^31 by a fixed one.
struct Divider {
  unsigned multiplier, shift;
};
SINTER_DEVICE unsigned divide(unsigned a, Divider d) {
  return (unsigned(static_cast<unsigned long long>(a) * d.multiplier >> 32) + a) >> d.shift;
}

SINTER_DEVICE float exp(float a) { return ::expf(a); }
SINTER_DEVICE double exp(double a) { return ::exp(a); }

}  // namespace sinter

struct sinter_add_exp_mul_f32_2319_params {
  float* y0;
  const float* x0;
  const float* x1;
  alignas(8) unsigned count;
  alignas(8) unsigned extent1;
  alignas(8) sinter::Divider divide1;
  alignas(8) int x0_stride0;
  alignas(8) int x1_stride0;
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
  float* y0 = p.y0;
  const float* x0 = p.x0;
  const float* x1 = p.x1;
  const unsigned threads = gridDim.x * blockDim.x, thread = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (unsigned i = thread; i < p.count; i += threads) {
    const unsigned q1 = sinter::divide(i, p.divide1);
    const int c1 = int(i - q1 * p.extent1);
    const int c0 = int(q1);
    const int x0_at = c0 * p.x0_stride0 + c1 * 4;
    const int x1_at = c0 * p.x1_stride0;
    sinter::Lanes<float, 4> y0_lanes;
    const sinter::Lanes<float, 4> x0_lanes = *reinterpret_cast<const sinter::Lanes<float, 4>*>(x0 + x0_at);
    const float x1_row = x1[x1_at];
#pragma unroll
    for (int l = 0; l < 4; ++l)
      sinter::element(p, x0_lanes.at[l], x1_row, y0_lanes.at[l]);
    reinterpret_cast<sinter::Lanes<float, 4>*>(y0)[i] = y0_lanes;
  }
}

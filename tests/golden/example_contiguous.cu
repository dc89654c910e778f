namespace sinter {

#define SINTER_DEVICE static __device__ __forceinline__

template <class T, int N>
struct alignas(sizeof(T) * N) Vec {
  T at[N];
};

SINTER_DEVICE float exp(float a) { return ::expf(a); }
SINTER_DEVICE double exp(double a) { return ::exp(a); }

}  // namespace sinter

namespace sinter {

struct sinter_add_exp_mul_f32_ccce_params {
  float* y0;
  const float* x0;
  const float* x1;
  alignas(8) unsigned count;
  alignas(8) float s0;
};

SINTER_DEVICE void run(const sinter_add_exp_mul_f32_ccce_params& p) {
  float* __restrict__ y0_memory = p.y0;
  const float* __restrict__ x0_memory = p.x0;
  const float* __restrict__ x1_memory = p.x1;
  const unsigned t0 = blockDim.x;
  const unsigned thread = (blockIdx.x * t0) + threadIdx.x;
  const unsigned threads = gridDim.x * t0;
  const unsigned t1 = p.count / 4;
#pragma unroll 1
  for (unsigned i = thread; i < t1; i += threads) {
    const Vec<float, 4> x0 = reinterpret_cast<const Vec<float, 4>*>(x0_memory)[i];
    const Vec<float, 4> x1 = reinterpret_cast<const Vec<float, 4>*>(x1_memory)[i];
    Vec<float, 4> t2;
#pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float t3 = x0.at[l] + p.s0;
      const float t4 = exp(t3);
      t2.at[l] = t4 * x1.at[l];
    }
    reinterpret_cast<Vec<float, 4>*>(y0_memory)[i] = t2;
  }
  const unsigned c = (t1 * 4) + thread;
  if (c < p.count) {
    const float x0 = x0_memory[c];
    const float x1 = x1_memory[c];
    const float t2 = x0 + p.s0;
    const float t3 = exp(t2);
    const float t4 = t3 * x1;
    y0_memory[c] = t4;
  }
}

}  // namespace sinter

extern "C" __global__ void __launch_bounds__(256, 1) sinter_add_exp_mul_f32_ccce(const __grid_constant__ sinter::sinter_add_exp_mul_f32_ccce_params p) {
  sinter::run(p);
}

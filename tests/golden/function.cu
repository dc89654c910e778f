namespace sinter {

#define SINTER_DEVICE static __device__ __forceinline__

template <class T, int N>
struct alignas(sizeof(T) * N) Vec {
  T at[N];
};

}  // namespace sinter

static __device__ inline float golden_9274f27e(float x, float y) {
  const long long n = 2;
  return x > y && x < __uint_as_float(0x7f800000u) ? x * y : x - n * y;
}

namespace sinter {

struct sinter_golden_mul_f32_4478_params {
  float* y0;
  const float* x0;
  const float* x1;
  alignas(8) unsigned count;
};

SINTER_DEVICE void run(const sinter_golden_mul_f32_4478_params& p) {
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
      const float t3 = golden_9274f27e(x0.at[l], x1.at[l]);
      t2.at[l] = t3 * t3;
    }
    reinterpret_cast<Vec<float, 4>*>(y0_memory)[i] = t2;
  }
  const unsigned c = (t1 * 4) + thread;
  if (c < p.count) {
    const float x0 = x0_memory[c];
    const float x1 = x1_memory[c];
    const float t2 = golden_9274f27e(x0, x1);
    const float t3 = t2 * t2;
    y0_memory[c] = t3;
  }
}

}  // namespace sinter

extern "C" __global__ void __launch_bounds__(256, 1) sinter_golden_mul_f32_4478(const __grid_constant__ sinter::sinter_golden_mul_f32_4478_params p) {
  sinter::run(p);
}

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

// Of the threads of a block that are multiples of `side` apart, to each of them; for N columns.
template <class Part, int N>
SINTER_DEVICE void combine_columns(Part (&a)[N], Part* of_threads, int side) {
  const int threads = blockDim.x;
  Part* mine = of_threads + threadIdx.x;
#pragma unroll
  for (int l = 0; l < N; ++l) mine[l * threads] = a[l];
#pragma unroll 1
  for (int d = threads / 2; d >= side; d /= 2) {
    __syncthreads();
    if (int(threadIdx.x) < d)
#pragma unroll
      for (int l = 0; l < N; ++l) add(mine[l * threads], mine[l * threads + d]);
  }
  __syncthreads();
#pragma unroll
  for (int l = 0; l < N; ++l) a[l] = of_threads[l * threads + threadIdx.x % side];
}

}  // namespace sinter

namespace sinter {

// What is one for each row.
struct Row {
  float v0;  // sum
};

// Of some elements of a row, when 0 stages are over.
struct Part0 {
  float a0;  // sum
  SINTER_DEVICE Part0 identity() { return {float(0)}; }
};
SINTER_DEVICE void add(Part0& a, const Part0& b) {
  a.a0 = a.a0 + b.a0;
}
SINTER_DEVICE void add_long(Part0& a, Part0& compensation, const Part0& b) {
  add_exactly(a.a0, compensation.a0, b.a0);
}
SINTER_DEVICE void finalize(Part0& a, const Part0& compensation) {
  a.a0 = compensated(a.a0, compensation.a0);
}
SINTER_DEVICE Part0 across(const Part0& a, int lanes) { return {from_lane(a.a0, lanes)}; }

}  // namespace sinter

struct sinter_sum_f32_params {
  float* y0;
  const float* x0;
  long long items, rows;
  alignas(8) unsigned columns;
  long long y0_row0;
  long long x0_row0;
  alignas(8) int x0_stride0;
};

namespace sinter {

SINTER_DEVICE Part0 stage0(const sinter_sum_f32_params& p, const Row& r, float x0) {
  return {x0};
}

SINTER_DEVICE void row1(const sinter_sum_f32_params& p, const Part0& a, Row& r) {
  r.v0 = a.a0;
}

SINTER_DEVICE void finish(const sinter_sum_f32_params& p, const Row& r, float& y0) {
  y0 = r.v0;
}

}  // namespace sinter

extern "C" __global__ void __launch_bounds__(256, 1) sinter_sum_f32(const __grid_constant__ sinter_sum_f32_params p) {
  __shared__ sinter::Part0 shared0[1024];
  float* __restrict__ y0_rows = p.y0;
  const float* __restrict__ x0_rows = p.x0;
  const unsigned t = threadIdx.x / 32, team = threadIdx.x % 32;
  const unsigned vectors = p.columns;
#pragma unroll 1
  for (long long item = blockIdx.x; item < p.items; item += gridDim.x) {
    const long long row = (item * 32 + team) * 4;
    const bool here = row < p.rows;
    const unsigned end = here ? vectors : 0;
    const long long r0 = row;
    const float* x0 = x0_rows + (r0 * p.x0_row0);
    sinter::Row r[4];
    sinter::Part0 a0[4];
#pragma unroll
    for (int l = 0; l < 4; ++l) a0[l] = sinter::Part0::identity();
    sinter::Part0 compensation0[4]{};
    {
      unsigned base = t;
#pragma unroll 1
      for (; base + 3 * 8 < end; base += 4 * 8) {
        sinter::Lanes<float, 4> x0_in[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const unsigned c = base + k * 8;
          x0_in[k] = reinterpret_cast<const sinter::Lanes<float, 4>*>(x0)[(static_cast<int>(c) * p.x0_stride0) / 4];
        }
        sinter::Part0 batch[4];
#pragma unroll
        for (int l = 0; l < 4; ++l) batch[l] = sinter::Part0::identity();
#pragma unroll
        for (int k = 0; k < 4; ++k) {
#pragma unroll
          for (int l = 0; l < 4; ++l) sinter::add(batch[l], sinter::stage0(p, r[l], x0_in[k].at[l]));
        }
#pragma unroll
        for (int l = 0; l < 4; ++l) sinter::add_long(a0[l], compensation0[l], batch[l]);
      }
#pragma unroll 1
      for (; base < end; base += 8) {
        const unsigned c = base;
        const sinter::Lanes<float, 4> x0_in = reinterpret_cast<const sinter::Lanes<float, 4>*>(x0)[(static_cast<int>(c) * p.x0_stride0) / 4];
#pragma unroll
        for (int l = 0; l < 4; ++l) sinter::add_long(a0[l], compensation0[l], sinter::stage0(p, r[l], x0_in.at[l]));
      }
    }
#pragma unroll
    for (int l = 0; l < 4; ++l) sinter::finalize(a0[l], compensation0[l]);
    sinter::combine_columns(a0, shared0, 32);
#pragma unroll
    for (int l = 0; l < 4; ++l) if (here) sinter::row1(p, a0[l], r[l]);
    float* y0 = y0_rows + (r0 * p.y0_row0);
    if (t == 0 && here) {
#pragma unroll
      for (int l = 0; l < 4; ++l) sinter::finish(p, r[l], y0[l * p.y0_row0]);
    }
    __syncthreads();
  }
}

namespace sinter {

#define SINTER_DEVICE static __device__ __forceinline__

template <class T, int N>
struct alignas(sizeof(T) * N) Lanes {
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
SINTER_DEVICE float maximum(float a, float b) { return a != a || b != b ? a + b : ::fmaxf(a, b); }
SINTER_DEVICE double maximum(double a, double b) { return a != a || b != b ? a + b : ::fmax(a, b); }

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

// The same number, of which the compiler does not know that: it computes addresses anew for a later pass, where it would
// else keep those of an earlier one in registers.
SINTER_DEVICE unsigned again(unsigned n) {
#ifndef SINTER_VIRTUAL_GPU
  asm volatile("mov.u32 %0, %0;" : "+r"(n));
#endif
  return n;
}

// Parts of rows, which add(part, part) combines in an order that is always the same.
template <class Part, int N>
SINTER_DEVICE Part in_pairs(Part (&lane)[N]) {
#pragma unroll
  for (int d = N / 2; d > 0; d /= 2)
#pragma unroll
    for (int l = 0; l < d; ++l) add(lane[l], lane[l + d]);
  return lane[0];
}

// Of so many neighbours in a warp, to each of them.
template <int Lanes, class Part>
SINTER_DEVICE void combine_lanes(Part& a) {
#pragma unroll
  for (int d = Lanes / 2; d > 0; d /= 2) add(a, across(a, d));
}

}  // namespace sinter

namespace sinter {

// What is one for each row.
struct Row {
  float v0;  // amax
  float v1;  // sum
};

// Of some elements of a row, when 0 stages are over.
struct Part0 {
  float a0;  // amax
  SINTER_DEVICE Part0 identity() { return {float_bits(0xff800000u)}; }
};
SINTER_DEVICE void add(Part0& a, const Part0& b) {
  a.a0 = maximum(a.a0, b.a0);
}
SINTER_DEVICE Part0 across(const Part0& a, int lanes) { return {from_lane(a.a0, lanes)}; }

// Of some elements of a row, when 1 stage is over.
struct Part1 {
  float a0;  // sum
  SINTER_DEVICE Part1 identity() { return {float(0)}; }
};
SINTER_DEVICE void add(Part1& a, const Part1& b) {
  a.a0 = a.a0 + b.a0;
}
SINTER_DEVICE void add_long(Part1& a, Part1& compensation, const Part1& b) {
  add_exactly(a.a0, compensation.a0, b.a0);
}
SINTER_DEVICE void finalize(Part1& a, const Part1& compensation) {
  a.a0 = compensated(a.a0, compensation.a0);
}
SINTER_DEVICE Part1 across(const Part1& a, int lanes) { return {from_lane(a.a0, lanes)}; }

}  // namespace sinter

struct sinter_softmax_f32_params {
  float* y0;
  const float* x0;
  long long items, rows;
  alignas(8) unsigned columns;
  long long y0_row0;
  long long x0_row0;
};

namespace sinter {

SINTER_DEVICE Part0 stage0(const sinter_softmax_f32_params& p, const Row& r, float x0) {
  return {x0};
}

SINTER_DEVICE void row1(const sinter_softmax_f32_params& p, const Part0& a, Row& r) {
  r.v0 = a.a0;
}

SINTER_DEVICE Part1 stage1(const sinter_softmax_f32_params& p, const Row& r, float x0) {
  const float t0 = x0 - r.v0;
  const float t1 = exp(t0);
  return {t1};
}

SINTER_DEVICE void row2(const sinter_softmax_f32_params& p, const Part1& a, Row& r) {
  r.v1 = a.a0;
}

SINTER_DEVICE void element(const sinter_softmax_f32_params& p, const Row& r, float x0, float& y0) {
  const float t0 = x0 - r.v0;
  const float t1 = exp(t0);
  const float t2 = t1 / r.v1;
  y0 = t2;
}

}  // namespace sinter

extern "C" __global__ void __launch_bounds__(256, 4) sinter_softmax_f32(const __grid_constant__ sinter_softmax_f32_params p) {
  float* __restrict__ y0_rows = p.y0;
  const float* __restrict__ x0_rows = p.x0;
  const unsigned t = threadIdx.x % 32, team = threadIdx.x / 32;
  const unsigned vectors = p.columns / 4;
#pragma unroll 1
  for (long long item = blockIdx.x; item < p.items; item += gridDim.x) {
    const long long row = item * 8 + team;
    const bool here = row < p.rows;
    const unsigned end = here ? vectors : 0;
    const long long r0 = row;
    const float* x0 = x0_rows + (r0 * p.x0_row0);
    sinter::Row r;
    sinter::Lanes<float, 4> x0_kept[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const unsigned c = t + k * 32;
      const bool inside = c < end;
      x0_kept[k] = inside ? reinterpret_cast<const sinter::Lanes<float, 4>*>(x0)[c] : sinter::Lanes<float, 4>{};
    }
    sinter::Part0 a0 = sinter::Part0::identity();
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const unsigned c = t + k * 32;
      const bool inside = c < end;
      sinter::Part0 lane[4];
#pragma unroll
      for (int l = 0; l < 4; ++l) lane[l] = sinter::stage0(p, r, x0_kept[k].at[l]);
      sinter::add(a0, inside ? sinter::in_pairs(lane) : sinter::Part0::identity());
    }
    sinter::combine_lanes<32>(a0);
    if (here) sinter::row1(p, a0, r);
    sinter::Part1 a1 = sinter::Part1::identity();
    sinter::Part1 compensation1{};
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const unsigned c = t + k * 32;
      const bool inside = c < end;
      sinter::Part1 lane[4];
#pragma unroll
      for (int l = 0; l < 4; ++l) lane[l] = sinter::stage1(p, r, x0_kept[k].at[l]);
      sinter::add_long(a1, compensation1, inside ? sinter::in_pairs(lane) : sinter::Part1::identity());
    }
    sinter::finalize(a1, compensation1);
    sinter::combine_lanes<32>(a1);
    if (here) sinter::row2(p, a1, r);
    float* y0 = y0_rows + (r0 * p.y0_row0);
    const unsigned again = sinter::again(t);
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const unsigned c = again + k * 32;
      const bool inside = c < end;
      sinter::Lanes<float, 4> y0_out;
#pragma unroll
      for (int l = 0; l < 4; ++l) sinter::element(p, r, x0_kept[k].at[l], y0_out.at[l]);
      if (inside) {
        reinterpret_cast<sinter::Lanes<float, 4>*>(y0)[c] = y0_out;
      }
    }
  }
}

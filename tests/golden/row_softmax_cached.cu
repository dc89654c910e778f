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

// Of a block, to each of its threads.
template <class Part>
SINTER_DEVICE void combine_block(Part& a, Part* of_warps) {
  combine_lanes<32>(a);
  const unsigned lane = threadIdx.x % 32;
  if (lane == 0) of_warps[threadIdx.x / 32] = a;
  __syncthreads();
  a = lane < blockDim.x / 32 ? of_warps[lane] : Part::identity();
  combine_lanes<32>(a);
}

// What lies in dynamic shared memory from here on, as vectors.
template <class Vector>
SINTER_DEVICE Vector* cached(unsigned char* part) {
  return reinterpret_cast<Vector*>(part);
}

// Moves the pivot of a sum of exponentials to the greatest element so far where that is so much greater that the sum
// might overflow. Seldom: the sum is rounded each time.
template <class T>
SINTER_DEVICE void raise_pivot(T& pivot, T& sum, T& compensation, T greatest) {
  if (!(greatest - pivot > T(8)) || greatest - greatest != T(0)) return;
  const T scale = exp(pivot - greatest);
  sum *= scale;
  compensation *= scale;
  pivot = greatest;
}

// A sum of exponentials about the greatest element; where that is not finite about any.
template <class T>
SINTER_DEVICE T at_greatest(T sum, T pivot, T greatest) {
  return greatest - greatest == T(0) ? sum * exp(pivot - greatest) : sum;
}

// A sum of exponentials about the greatest element of a part of a row, as one about that of two parts.
template <class T>
SINTER_DEVICE T raised(T sum, T greatest, T other) {
  return other > greatest ? sum * exp(greatest - other) : sum;
}

}  // namespace sinter

namespace sinter {

// What is one for each row.
struct Row {
  float v0;  // amax
  float v1;  // sum
};

// Of some elements of a row, when 0 stages are over: what pivots come from.
struct Pivot0 {
  float a0;  // amax
  SINTER_DEVICE Pivot0 identity() { return {float_bits(0xff800000u)}; }
};
SINTER_DEVICE void add(Pivot0& a, const Pivot0& b) {
  a.a0 = maximum(a.a0, b.a0);
}

// Of the same elements: sums of their distances from a pivot.
struct Centered0 {
  float a1;  // of exponentials
  SINTER_DEVICE Centered0 identity() { return {float(0)}; }
};
SINTER_DEVICE void add(Centered0& a, const Centered0& b) {
  a.a1 = a.a1 + b.a1;
}
SINTER_DEVICE void add_long(Centered0& a, Centered0& compensation, const Centered0& b) {
  add_exactly(a.a1, compensation.a1, b.a1);
}
SINTER_DEVICE void finalize(Centered0& a, const Centered0& compensation) {
  a.a1 = compensated(a.a1, compensation.a1);
}

// What a thread knows of its elements.
struct Online0 {
  Pivot0 pivot, pivot_compensation;
  Centered0 centered, centered_compensation;
  float a1_pivot;
  SINTER_DEVICE Online0 identity() { return {Pivot0::identity(), {}, Centered0::identity(), {}, -0x1.fffffep+127f}; }
};
SINTER_DEVICE void advance(Online0& o, const Pivot0& batch, unsigned count) {
  add(o.pivot, batch);
  raise_pivot(o.a1_pivot, o.centered.a1, o.centered_compensation.a1, o.pivot.a0);
}
SINTER_DEVICE void add(Online0& o, const Centered0& batch) { add_long(o.centered, o.centered_compensation, batch); }

struct Part0 {
  float a0;  // amax
  float a1;  // sum of exponentials of distances from a0
  SINTER_DEVICE Part0 identity() { return {float_bits(0xff800000u), float(0)}; }
};
SINTER_DEVICE void add(Part0& a, const Part0& b) {
  a.a1 = raised(a.a1, a.a0, b.a0) + raised(b.a1, b.a0, a.a0);
  a.a0 = maximum(a.a0, b.a0);
}
SINTER_DEVICE Part0 across(const Part0& a, int lanes) { return {from_lane(a.a0, lanes), from_lane(a.a1, lanes)}; }
SINTER_DEVICE Part0 whole(Online0& o) {
  finalize(o.centered, o.centered_compensation);
  return {o.pivot.a0, at_greatest(o.centered.a1, o.a1_pivot, o.pivot.a0)};
}

}  // namespace sinter

struct sinter_softmax_f32_params {
  float* y0;
  const float* x0;
  long long items, rows;
  alignas(8) unsigned columns;
  alignas(8) unsigned row_cache;
  long long y0_row0;
  long long x0_row0;
};

namespace sinter {

SINTER_DEVICE Pivot0 pivot0(const sinter_softmax_f32_params& p, const Row& r, float x0) {
  return {x0};
}

SINTER_DEVICE Centered0 centered0(const sinter_softmax_f32_params& p, const Row& r, float x0, const Online0& o) {
  const float t0 = x0 - o.a1_pivot;
  const float t1 = exp(t0);
  return {t1};
}

SINTER_DEVICE void row1(const sinter_softmax_f32_params& p, const Part0& a, Row& r) {
  r.v0 = a.a0;
  r.v1 = a.a1 + (a.a0 - a.a0);
}

SINTER_DEVICE void element(const sinter_softmax_f32_params& p, const Row& r, float x0, float& y0) {
  const float t0 = x0 - r.v0;
  const float t1 = exp(t0);
  const float t2 = t1 / r.v1;
  y0 = t2;
}

}  // namespace sinter

extern __shared__ __align__(16) unsigned char row_cache[];

extern "C" __global__ void __launch_bounds__(1024, 1) sinter_softmax_f32(const __grid_constant__ sinter_softmax_f32_params p) {
  __shared__ sinter::Part0 shared0[32];
  float* __restrict__ y0_rows = p.y0;
  const float* __restrict__ x0_rows = p.x0;
  const unsigned t = threadIdx.x;
  const unsigned vectors = p.columns / 4;
#pragma unroll 1
  for (long long item = blockIdx.x; item < p.items; item += gridDim.x) {
    const long long row = item;
    const unsigned end = vectors;
    const long long r0 = row;
    const float* x0 = x0_rows + (r0 * p.x0_row0);
    sinter::Row r;
    sinter::Online0 o0 = sinter::Online0::identity();
    {
      unsigned base = t;
#pragma unroll 1
      for (; base + 3 * 1024 < end; base += 4 * 1024) {
        sinter::Lanes<float, 4> x0_in[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const unsigned c = base + k * 1024;
          x0_in[k] = reinterpret_cast<const sinter::Lanes<float, 4>*>(x0)[c];
        }
        if (p.row_cache) {
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            const unsigned c = base + k * 1024;
            sinter::cached<sinter::Lanes<float, 4>>(row_cache)[c] = x0_in[k];
          }
        }
        sinter::Pivot0 batch = sinter::Pivot0::identity();
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          sinter::Pivot0 lane[4];
#pragma unroll
          for (int l = 0; l < 4; ++l) lane[l] = sinter::pivot0(p, r, x0_in[k].at[l]);
          sinter::add(batch, sinter::in_pairs(lane));
        }
        sinter::advance(o0, batch, 16);
        sinter::Centered0 close = sinter::Centered0::identity();
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          sinter::Centered0 lane[4];
#pragma unroll
          for (int l = 0; l < 4; ++l) lane[l] = sinter::centered0(p, r, x0_in[k].at[l], o0);
          sinter::add(close, sinter::in_pairs(lane));
        }
        sinter::add(o0, close);
      }
#pragma unroll 1
      for (; base < end; base += 1024) {
        const unsigned c = base;
        const sinter::Lanes<float, 4> x0_in = reinterpret_cast<const sinter::Lanes<float, 4>*>(x0)[c];
        if (p.row_cache) sinter::cached<sinter::Lanes<float, 4>>(row_cache)[c] = x0_in;
        {
          sinter::Pivot0 lane[4];
#pragma unroll
          for (int l = 0; l < 4; ++l) lane[l] = sinter::pivot0(p, r, x0_in.at[l]);
          sinter::advance(o0, sinter::in_pairs(lane), 4);
        }
        {
          sinter::Centered0 lane[4];
#pragma unroll
          for (int l = 0; l < 4; ++l) lane[l] = sinter::centered0(p, r, x0_in.at[l], o0);
          sinter::add(o0, sinter::in_pairs(lane));
        }
      }
    }
    sinter::Part0 a0 = sinter::whole(o0);
    sinter::combine_block(a0, shared0);
    sinter::row1(p, a0, r);
    float* y0 = y0_rows + (r0 * p.y0_row0);
    {
      unsigned base = t;
#pragma unroll 1
      for (; base + 3 * 1024 < end; base += 4 * 1024) {
        sinter::Lanes<float, 4> x0_in[4];
        if (p.row_cache) {
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            const unsigned c = base + k * 1024;
            x0_in[k] = sinter::cached<sinter::Lanes<float, 4>>(row_cache)[c];
          }
        }
        if (!p.row_cache) {
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            const unsigned c = base + k * 1024;
            x0_in[k] = reinterpret_cast<const sinter::Lanes<float, 4>*>(x0)[c];
          }
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const unsigned c = base + k * 1024;
          sinter::Lanes<float, 4> y0_out;
#pragma unroll
          for (int l = 0; l < 4; ++l) sinter::element(p, r, x0_in[k].at[l], y0_out.at[l]);
          reinterpret_cast<sinter::Lanes<float, 4>*>(y0)[c] = y0_out;
        }
      }
#pragma unroll 1
      for (; base < end; base += 1024) {
        const unsigned c = base;
        sinter::Lanes<float, 4> x0_in;
        if (p.row_cache) x0_in = sinter::cached<sinter::Lanes<float, 4>>(row_cache)[c];
        if (!p.row_cache) x0_in = reinterpret_cast<const sinter::Lanes<float, 4>*>(x0)[c];
        sinter::Lanes<float, 4> y0_out;
#pragma unroll
        for (int l = 0; l < 4; ++l) sinter::element(p, r, x0_in.at[l], y0_out.at[l]);
        reinterpret_cast<sinter::Lanes<float, 4>*>(y0)[c] = y0_out;
      }
    }
    __syncthreads();
  }
}

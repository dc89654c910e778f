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
  sinter::Part0* parts0;
  long long items, rows;
  alignas(8) unsigned columns;
  long long splits;
  alignas(8) unsigned part;
  long long spread, pass;
  long long y0_row0;
  long long x0_row0;
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
  __shared__ sinter::Part0 shared0[32];
  float* __restrict__ y0_rows = p.y0;
  const float* __restrict__ x0_rows = p.x0;
  const unsigned t = threadIdx.x;
  const unsigned vectors = p.columns / 4;
#pragma unroll 1
  for (long long item = blockIdx.x; item < p.items; item += gridDim.x) {
    const long long tile = item / p.spread, split = item - tile * p.spread;
    const long long row = tile;
    const unsigned begin = static_cast<unsigned>(split) * p.part, whole = vectors;
    const unsigned end = begin + p.part < whole ? begin + p.part : whole;
    const long long r0 = row;
    const float* x0 = x0_rows + (r0 * p.x0_row0);
    sinter::Row r;
    if (p.pass == 0) {
      sinter::Part0 a0 = sinter::Part0::identity();
      sinter::Part0 compensation0{};
      {
        unsigned base = begin + t;
#pragma unroll 1
        for (; base + 3 * 256 < end; base += 4 * 256) {
          sinter::Lanes<float, 4> x0_in[4];
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            const unsigned c = base + k * 256;
            x0_in[k] = reinterpret_cast<const sinter::Lanes<float, 4>*>(x0)[c];
          }
          sinter::Part0 batch = sinter::Part0::identity();
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            sinter::Part0 lane[4];
#pragma unroll
            for (int l = 0; l < 4; ++l) lane[l] = sinter::stage0(p, r, x0_in[k].at[l]);
            sinter::add(batch, sinter::in_pairs(lane));
          }
          sinter::add_long(a0, compensation0, batch);
        }
#pragma unroll 1
        for (; base < end; base += 256) {
          const unsigned c = base;
          const sinter::Lanes<float, 4> x0_in = reinterpret_cast<const sinter::Lanes<float, 4>*>(x0)[c];
          sinter::Part0 lane[4];
#pragma unroll
          for (int l = 0; l < 4; ++l) lane[l] = sinter::stage0(p, r, x0_in.at[l]);
          sinter::add_long(a0, compensation0, sinter::in_pairs(lane));
        }
#pragma unroll
        for (int k = 0; k < 1; ++k) {
          const unsigned c = vectors * 4 + t + k * 256;
          const bool inside = c < p.columns && split == p.splits - 1;
          if (inside) {
            const sinter::Lanes<float, 1> x0_in = sinter::Lanes<float, 1>{x0[c]};
            { const int l = 0; sinter::add_long(a0, compensation0, sinter::stage0(p, r, x0_in.at[l])); }
          }
        }
      }
      sinter::finalize(a0, compensation0);
      sinter::combine_block(a0, shared0);
      if (t == 0) {
        p.parts0[row * p.splits + split] = a0;
      }
    }
    if (p.pass > 0) {
      sinter::Part0 a0 = sinter::Part0::identity();
      for (long long split = t; split < p.splits; split += 256) {
        sinter::add(a0, p.parts0[row * p.splits + split]);
      }
      sinter::combine_block(a0, shared0);
      sinter::row1(p, a0, r);
    }
    if (p.pass == 1) {
      float* y0 = y0_rows + (r0 * p.y0_row0);
      if (t == 0 && split == 0) {
        sinter::finish(p, r, y0[0]);
      }
    }
    __syncthreads();
  }
}

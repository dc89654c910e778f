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

// Elements that are `step` apart, of which the first is there.
template <class Vector, class T>
SINTER_DEVICE Vector strided_lanes(const T* first, long long step) {
  Vector lanes;
#pragma unroll
  for (int l = 0; l < int(sizeof(Vector) / sizeof(T)); ++l) lanes.at[l] = first[l * step];
  return lanes;
}

// What lies in dynamic shared memory from here on, as vectors.
template <class Vector>
SINTER_DEVICE Vector* cached(unsigned char* part) {
  return reinterpret_cast<Vector*>(part);
}

// The same of positions.
template <class Vector>
SINTER_DEVICE Vector position_lanes(long long first, long long step) {
  Vector lanes;
#pragma unroll
  for (int l = 0; l < int(sizeof(Vector) / sizeof(first)); ++l) lanes.at[l] = first + l * step;
  return lanes;
}

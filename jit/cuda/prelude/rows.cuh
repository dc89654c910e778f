// The value of the lane whose number differs by the bits of `lanes`.
template <class T>
SINTER_DEVICE T from_lane(T a, int lanes) {
#ifdef __HIP__
  return T(__shfl_xor(a, lanes, 32));
#else
  return T(__shfl_xor_sync(~0u, a, lanes));
#endif
}

// What the lanes of a warp read or wrote before is done. They run in step, so only the order of memory is at stake.
#ifdef __HIP__
SINTER_DEVICE void sync_warp() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
#endif

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
#ifdef __HIP__
  asm volatile("" : "+v"(n));
#else
#ifndef SINTER_VIRTUAL_GPU
  asm volatile("mov.u32 %0, %0;" : "+r"(n));
#endif
#endif
  return n;
}

// Elements that are `step` apart, of which the first is there.
template <class Vector, class T>
SINTER_DEVICE Vector strided_lanes(const T* first, long long step) {
  Vector lanes;
#pragma unroll
  for (int l = 0; l < int(sizeof(Vector) / sizeof(T)); ++l) lanes.at[l] = first[l * step];
  return lanes;
}

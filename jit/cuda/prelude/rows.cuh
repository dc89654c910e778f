// The value of the lane whose index is the own one XOR `lane_mask`.
template <class T>
SINTER_DEVICE T shuffle_xor(T a, int lane_mask) {
#ifdef __HIP__
  return T(__shfl_xor(a, lane_mask, 32));
#else
  return T(__shfl_xor_sync(~0u, a, lane_mask));
#endif
}

// A barrier of a warp of AMD's GPUs, whose lanes execute in lockstep: only memory order has to be enforced.
#ifdef __HIP__
SINTER_DEVICE void sync_warp() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
#endif

// Adds b to a; adds the rounding error to the compensation (Knuth's two-sum).
template <class T>
SINTER_DEVICE void compensated_add(T& a, T& compensation, T b) {
  const T sum = a + b, rounded = sum - a;
  compensation += (a - (sum - rounded)) + (b - rounded);
  a = sum;
}

// An infinite or NaN sum is not compensated.
template <class T>
SINTER_DEVICE T compensated_value(T a, T compensation) {
  return compensation - compensation == T(0) ? a + compensation : a;
}

// Returns n through an empty asm statement, so that the compiler recomputes addresses for a later pass instead of
// keeping those of an earlier one in registers.
SINTER_DEVICE unsigned hide_from_optimizer(unsigned n) {
#ifdef __HIP__
  asm volatile("" : "+v"(n));
#else
#ifndef SINTER_VIRTUAL_GPU
  asm volatile("mov.u32 %0, %0;" : "+r"(n));
#endif
#endif
  return n;
}

// Loads elements that are `step` apart.
template <class Vector, class T>
SINTER_DEVICE Vector load_strided(const T* first, long long step) {
  Vector vector;
#pragma unroll
  for (int l = 0; l < int(sizeof(Vector) / sizeof(T)); ++l) vector.at[l] = first[l * step];
  return vector;
}

// Loads consecutive elements, as one vector if they are aligned to its size.
template <class Vector, class T>
SINTER_DEVICE Vector load_run(const T* first) {
  if (reinterpret_cast<unsigned long long>(first) % sizeof(Vector) == 0) return *reinterpret_cast<const Vector*>(first);
  return load_strided<Vector>(first, 1);
}

// CUDA C++ for the host compiler: execution. This file, after abi.h and before shim_math.h, precedes the unchanged text
// of a kernel. It includes no system header, so that the front end takes only a few milliseconds.
#define SINTER_VIRTUAL_GPU 1
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __CUDA_ARCH__ 900

#define __global__ inline __attribute__((always_inline))
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
// thread_local is allowed wherever __shared__ is, with `extern` and inside functions. The __tls_get_addr below returns
// the current block's memory: the host's thread-local storage is never used.
#define __shared__ __attribute__((aligned(16))) thread_local

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef sinter_virtual::Index uint3;
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};

namespace sinter_virtual {

static long state_offset;
static unsigned long dynamic_offset = ~0ul;

// Alignment 1 in the type: -fsanitize=alignment is to check the accesses of the kernel's text, not this one.
typedef State __attribute__((aligned(1))) UncheckedState;

static inline __attribute__((always_inline)) UncheckedState* state() {
  return reinterpret_cast<UncheckedState*>(thread_pointer() + state_offset);
}

[[noreturn]] static inline void fail(Failure failure, int line, unsigned long value, const char* what) {
  state()->operations->fail(failure, line, value, what);
  __builtin_unreachable();
}

// Emitted only if a kernel uses them: the runtime takes their presence to mean that each thread needs its own stack.
extern "C" __attribute__((noinline, visibility("default"))) inline int sinter_virtual_barrier(BarrierKind kind,
                                                                                              int predicate, int line) {
  return state()->operations->barrier(kind, predicate, line);
}
extern "C" __attribute__((noinline, visibility("default"))) inline unsigned long long sinter_virtual_warp(
    WarpOp op, unsigned mask, unsigned long long value, int argument, int width, int line) {
  return state()->operations->warp(op, mask, value, argument, width, line);
}

template <class T>
static inline T shuffle(int line, WarpOp op, unsigned mask, T value, int argument, int width = 32) {
  static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  bits = sinter_virtual_warp(op, mask, bits, argument, width, line);
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
static inline void sync_warp(int line, unsigned mask = 0xffffffffu) {
  sinter_virtual_warp(WarpOp::Sync, mask, 0, 0, 32, line);
}
static inline unsigned ballot(int line, unsigned mask, int predicate) {
  return static_cast<unsigned>(sinter_virtual_warp(WarpOp::Ballot, mask, predicate != 0, 0, 32, line));
}
template <class T>
static inline T reduce(int line, WarpOp op, unsigned mask, T value) {
  static_assert(sizeof(T) == 4, "int or unsigned");
  return static_cast<T>(sinter_virtual_warp(op, mask, static_cast<unsigned long long>(value), 0, 32, line));
}
template <class T>
static inline unsigned match_any(int line, unsigned mask, T value) {
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  return static_cast<unsigned>(sinter_virtual_warp(WarpOp::MatchAny, mask, bits, 0, 32, line));
}

// Loads and stores with a cache policy. They report their line if the address is misaligned.
template <class T>
static inline void check_aligned(int line, const volatile T* p) {
  if (reinterpret_cast<size_t>(p) % alignof(T)) fail(Failure::Misaligned, line, reinterpret_cast<size_t>(p), nullptr);
}
template <class T>
static inline T load(int line, const T* p) {
  check_aligned(line, p);
  return *p;
}
template <class T>
struct Plain {
  typedef T type;
};
template <class T>
static inline void store(int line, T* p, typename Plain<T>::type value) {
  check_aligned(line, p);
  *p = value;
}

// Called by code that -fsanitize=alignment,bounds instruments.
struct SourceLocation {
  const char* file;
  unsigned line, column;
};
struct TypeName {
  unsigned short kind, info;
  char name[1];
};
struct CheckedAccess {
  SourceLocation location;
  const TypeName* type;
};
extern "C" {
__attribute__((visibility("hidden"), used, no_sanitize("alignment", "thread"))) void
__ubsan_handle_type_mismatch_v1_abort(CheckedAccess* access, unsigned long address) {
  fail(Failure::Misaligned, static_cast<int>(access->location.line), address, access->type->name);
}
__attribute__((visibility("hidden"), used, no_sanitize("alignment", "thread"))) void __ubsan_handle_out_of_bounds_abort(
    CheckedAccess* access, unsigned long index) {
  fail(Failure::Index, static_cast<int>(access->location.line), index, access->type->name);
}
struct ThreadLocalIndex {
  unsigned long module, offset;
};
__attribute__((visibility("hidden"), used, no_sanitize("alignment", "thread"))) void* __tls_get_addr(
    ThreadLocalIndex* index) {
  const UncheckedState* s = state();
  return index->offset == dynamic_offset ? s->dynamic_shared : s->static_shared + index->offset;
}
}

}  // namespace sinter_virtual

#define threadIdx (sinter_virtual::state()->thread)
#define blockIdx (sinter_virtual::state()->block)
#define blockDim (sinter_virtual::state()->block_dim)
#define gridDim (sinter_virtual::state()->grid_dim)
static const int warpSize = 32;

#define __syncthreads() ((void)sinter_virtual::sinter_virtual_barrier(sinter_virtual::BarrierKind::Sync, 0, __LINE__))
#define __syncthreads_count(p) \
  sinter_virtual::sinter_virtual_barrier(sinter_virtual::BarrierKind::Count, !!(p), __LINE__)
#define __syncthreads_and(p) sinter_virtual::sinter_virtual_barrier(sinter_virtual::BarrierKind::And, !!(p), __LINE__)
#define __syncthreads_or(p) sinter_virtual::sinter_virtual_barrier(sinter_virtual::BarrierKind::Or, !!(p), __LINE__)
#define __shfl_sync(...) sinter_virtual::shuffle(__LINE__, sinter_virtual::WarpOp::Shuffle, __VA_ARGS__)
#define __shfl_up_sync(...) sinter_virtual::shuffle(__LINE__, sinter_virtual::WarpOp::ShuffleUp, __VA_ARGS__)
#define __shfl_down_sync(...) sinter_virtual::shuffle(__LINE__, sinter_virtual::WarpOp::ShuffleDown, __VA_ARGS__)
#define __shfl_xor_sync(...) sinter_virtual::shuffle(__LINE__, sinter_virtual::WarpOp::ShuffleXor, __VA_ARGS__)
#define __syncwarp(...) sinter_virtual::sync_warp(__LINE__ __VA_OPT__(, ) __VA_ARGS__)
#define __ballot_sync(mask, p) sinter_virtual::ballot(__LINE__, mask, !!(p))
#define __any_sync(mask, p) (sinter_virtual::ballot(__LINE__, mask, !!(p)) != 0)
#define __all_sync(mask, p) (sinter_virtual::ballot(__LINE__, mask, !(p)) == 0)
#define __match_any_sync(mask, v) sinter_virtual::match_any(__LINE__, mask, v)
#define __reduce_add_sync(mask, v) sinter_virtual::reduce(__LINE__, sinter_virtual::WarpOp::Add, mask, v)
#define __reduce_min_sync(mask, v) sinter_virtual::reduce(__LINE__, sinter_virtual::WarpOp::Min, mask, v)
#define __reduce_max_sync(mask, v) sinter_virtual::reduce(__LINE__, sinter_virtual::WarpOp::Max, mask, v)
#define __reduce_and_sync(mask, v) sinter_virtual::reduce(__LINE__, sinter_virtual::WarpOp::And, mask, v)
#define __reduce_or_sync(mask, v) sinter_virtual::reduce(__LINE__, sinter_virtual::WarpOp::Or, mask, v)
#define __reduce_xor_sync(mask, v) sinter_virtual::reduce(__LINE__, sinter_virtual::WarpOp::Xor, mask, v)
#define __activemask() (sinter_virtual::state()->operations->active_mask())
#define __trap() sinter_virtual::fail(sinter_virtual::Failure::Trap, __LINE__, 0, nullptr)
#define assert(condition) \
  ((condition) ? (void)0 : sinter_virtual::fail(sinter_virtual::Failure::Assertion, __LINE__, 0, #condition))
#define __ldg(...) sinter_virtual::load(__LINE__, __VA_ARGS__)
#define __ldca(...) sinter_virtual::load(__LINE__, __VA_ARGS__)
#define __ldcg(...) sinter_virtual::load(__LINE__, __VA_ARGS__)
#define __ldcs(...) sinter_virtual::load(__LINE__, __VA_ARGS__)
#define __ldlu(...) sinter_virtual::load(__LINE__, __VA_ARGS__)
#define __ldcv(...) sinter_virtual::load(__LINE__, __VA_ARGS__)
#define __stwb(...) sinter_virtual::store(__LINE__, __VA_ARGS__)
#define __stcg(...) sinter_virtual::store(__LINE__, __VA_ARGS__)
#define __stcs(...) sinter_virtual::store(__LINE__, __VA_ARGS__)
#define __stwt(...) sinter_virtual::store(__LINE__, __VA_ARGS__)
static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __asm__ volatile("" ::: "memory"); }  // a block runs on one host thread
static inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
#ifndef __clang__
#define __builtin_assume(condition) ((void)0)
#endif

// ---- The entry, expanded after the kernel's text
namespace sinter_virtual {
template <class P>
struct Parameters;
template <class P>
struct Parameters<void(P)> {
  typedef P type;
  static constexpr unsigned bytes = __is_empty(P) ? 0 : sizeof(P);
};
}  // namespace sinter_virtual
#define SINTER_VIRTUAL_ENTRY(kernel, max_block, text, dynamic)                                                 \
  namespace sinter_virtual {                                                                                   \
  static void run(const void* parameters, unsigned first, unsigned last) {                                     \
    typedef Parameters<decltype(kernel)>::type P __attribute__((aligned(1)));                                  \
    for (unsigned t = first; t < last; ++t) {                                                                  \
      state()->thread.x = t;                                                                                   \
      kernel(*static_cast<const P*>(parameters));                                                              \
    }                                                                                                          \
  }                                                                                                            \
  }                                                                                                            \
  extern "C" __attribute__((visibility("default"), used)) sinter_virtual::KernelInfo sinter_virtual_kernel = { \
      #kernel,                                                                                                 \
      text,                                                                                                    \
      sinter_virtual::run,                                                                                     \
      sinter_virtual::Parameters<decltype(kernel)>::bytes,                                                     \
      max_block,                                                                                               \
      &sinter_virtual::state_offset,                                                                           \
      &sinter_virtual::dynamic_offset,                                                                         \
      dynamic};
// The launch provides the memory of `extern __shared__ T symbol[]`. This defines the missing symbol and the function
// that would initialize it, in assembly, since neither can be defined in C++ after its declaration. The symbol does not
// begin the block of variables: the block's own address is asked for by the same function.
#define SINTER_VIRTUAL_DYNAMIC_SHARED(symbol, initialiser)                      \
  __asm__(                                                                      \
      ".pushsection .tbss,\"awT\",%nobits\n"                                    \
      ".hidden " #symbol "\n.globl " #symbol "\n.balign 16\n.zero 16\n" #symbol \
      ": .zero 16\n"                                                            \
      ".popsection\n.pushsection .text\n"                                       \
      ".hidden " #initialiser "\n.globl " #initialiser "\n" #initialiser        \
      ": ret\n"                                                                 \
      ".popsection\n");                                                         \
  namespace sinter_virtual {                                                    \
  static void* dynamic_address() { return symbol; }                             \
  }

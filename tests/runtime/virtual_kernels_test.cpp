// Right kernels give right results: loops, barriers, warp operations, shared memory, many blocks.
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>

#include "virtual_harness.hpp"

namespace sinter::test {
namespace {

const std::size_t sizes[] = {1, 2, 3, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 8191, 8192, 8193};

std::vector<float> random_floats(std::size_t n, unsigned seed = 1) {
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(n);
  for (float& v : values) v = normal(generator);
  return values;
}

constexpr const char* warp_helpers = R"(
template <class T> __device__ __forceinline__ T warp_sum(T v) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}
__device__ __forceinline__ float warp_max(float v) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
  return v;
}
)";

TEST(VirtualKernels, ElementwiseWithVectorsAndTail) {
  const TestKernel k(kernel_source("axpy", "float* y; const float* x; long long n; alignas(8) float a;", R"(
  const long long first = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * 4, step = 4LL * gridDim.x * blockDim.x;
#pragma unroll 1
  for (long long i = first; i < p.n; i += step) {
    if (i + 3 < p.n) {
      float4 v = __ldcs(reinterpret_cast<const float4*>(p.x + i)), w = *reinterpret_cast<const float4*>(p.y + i);
      w = make_float4(fmaf(p.a, v.x, w.x), fmaf(p.a, v.y, w.y), fmaf(p.a, v.z, w.z), fmaf(p.a, v.w, w.w));
      __stcs(reinterpret_cast<float4*>(p.y + i), w);
    } else {
      for (long long j = i; j < p.n; ++j) p.y[j] = fmaf(p.a, p.x[j], p.y[j]);
    }
  })",
                                   "", "__launch_bounds__(256)"));
  for (std::size_t n : sizes) {
    const std::vector<float> x = random_floats(n, 1), y0 = random_floats(n, 2);
    Array<float> dx(x), dy(y0);
    k({3, 256}, dy, dx, static_cast<long long>(n), 1.5f);
    const std::vector<float> y = dy.get();
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(y[i], std::fma(1.5f, x[i], y0[i])) << n << " " << i;
  }
}

TEST(VirtualKernels, BlockReduction) {
  const TestKernel k(kernel_source("block_sum", "double* total; const float* x; unsigned* blocks; long long n;", R"(
  __shared__ double s[32];
  double v = 0;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < p.n;
    i += (long long)gridDim.x * blockDim.x) v += p.x[i];
  v = warp_sum(v);
  if ((threadIdx.x & 31) == 0) s[threadIdx.x >> 5] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = warp_sum(threadIdx.x < (blockDim.x >> 5) ? s[threadIdx.x] : 0.0);
    if (threadIdx.x == 0) { atomicAdd(p.total, v); atomicAdd(p.blocks, 1u); }
  })",
                                   warp_helpers));
  for (std::size_t n : sizes)
    for (unsigned block : {32u, 256u, 1024u}) {
      const std::vector<float> x = random_floats(n);
      Array<float> dx(x);
      Array<double> total(std::vector<double>{0});
      Array<unsigned> blocks(std::vector<unsigned>{0});
      k({7, block}, total, dx, blocks, static_cast<long long>(n));
      EXPECT_NEAR(total.get()[0], std::accumulate(x.begin(), x.end(), 0.0), 1e-9) << n << " " << block;
      EXPECT_EQ(blocks.get()[0], 7u);
    }
}

TEST(VirtualKernels, TreeReductionInDynamicSharedMemory) {
  const TestKernel k(kernel_source("tree", "float* part; const float* x; long long n;", R"(
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  tree_memory[t] = i < p.n ? p.x[i] : 0.0f;
  __syncthreads();
  for (unsigned o = blockDim.x / 2; o; o >>= 1) {
    if (t < o) tree_memory[t] += tree_memory[t + o];
    __syncthreads();
  }
  if (t == 0) p.part[blockIdx.x] = tree_memory[0];)",
                                   "extern __shared__ float tree_memory[];"));
  for (unsigned block : {1u, 2u, 32u, 64u, 512u, 1024u}) {
    const std::size_t n = 8193;
    std::vector<float> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 100);
    const unsigned grid = static_cast<unsigned>((n + block - 1) / block);
    Array<float> dx(x), part(grid);
    k({grid, block, block * 4}, part, dx, static_cast<long long>(n));
    const std::vector<float> parts = part.get();
    EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), 0.0f), std::accumulate(x.begin(), x.end(), 0.0f)) << block;
  }
}

TEST(VirtualKernels, RowSoftmax) {
  const TestKernel k(kernel_source("softmax", "float* y; const float* x; long long columns;", R"(
  __shared__ float s[33];
  const float* x = p.x + blockIdx.x * p.columns;
  float* y = p.y + blockIdx.x * p.columns;
  const int lane = threadIdx.x & 31, w = threadIdx.x >> 5, warps = blockDim.x >> 5;
  float m = -__int_as_float(0x7f800000);
  for (long long c = threadIdx.x; c < p.columns; c += blockDim.x) m = fmaxf(m, x[c]);
  m = warp_max(m);
  if (lane == 0) s[w] = m;
  __syncthreads();
  if (w == 0) { m = warp_max(lane < warps ? s[lane] : -__int_as_float(0x7f800000)); if (lane == 0) s[32] = m; }
  __syncthreads();
  m = s[32];
  float z = 0.0f;
  for (long long c = threadIdx.x; c < p.columns; c += blockDim.x) z += expf(x[c] - m);
  z = warp_sum(z);
  __syncthreads();
  if (lane == 0) s[w] = z;
  __syncthreads();
  if (w == 0) { z = warp_sum(lane < warps ? s[lane] : 0.0f); if (lane == 0) s[32] = z; }
  __syncthreads();
  for (long long c = threadIdx.x; c < p.columns; c += blockDim.x) y[c] = expf(x[c] - m) / s[32];)",
                                   warp_helpers));
  constexpr std::size_t rows = 5;
  for (std::size_t columns : sizes) {
    const std::vector<float> x = random_floats(rows * columns);
    Array<float> dx(x), dy(rows * columns);
    k({rows, 256}, dy, dx, static_cast<long long>(columns));
    const std::vector<float> y = dy.get();
    for (std::size_t r = 0; r < rows; ++r) {
      const auto row = x.begin() + static_cast<std::ptrdiff_t>(r * columns);
      const double m = *std::max_element(row, row + static_cast<std::ptrdiff_t>(columns));
      double z = 0;
      for (std::size_t c = 0; c < columns; ++c) z += std::exp(row[static_cast<std::ptrdiff_t>(c)] - m);
      for (std::size_t c = 0; c < columns; ++c)
        ASSERT_NEAR(y[r * columns + c], std::exp(x[r * columns + c] - m) / z, 1e-6) << columns << " " << c;
    }
  }
}

TEST(VirtualKernels, LastBlockFinishes) {
  const TestKernel k(kernel_source("last_block", "float* out; float* part; unsigned* count; const float* x;", R"(
  __shared__ bool last;
  if (threadIdx.x == 0) {
    p.part[blockIdx.x] = p.x[blockIdx.x];
    __threadfence();
    last = atomicAdd(p.count, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float s = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) s += p.part[i];
    *p.out = s;
  })"));
  std::vector<float> x(1000);
  std::iota(x.begin(), x.end(), 0.0f);
  Array<float> out(1), part(1000), dx(x);
  Array<unsigned> count(std::vector<unsigned>{0});
  k({1000, 32}, out, part, count, dx);
  EXPECT_EQ(out.get()[0], 499500.0f);
}

// What the PTX manual says that each lane reads.
int shuffle_source(int mode, int lane, int b, int width) {
  const int first = lane & ~(width - 1), last = first + width - 1;
  int j = lane;
  if (mode == 0) j = first | (b & (width - 1));
  if (mode == 1) j = lane - b >= first ? lane - b : lane;
  if (mode == 2) j = lane + b <= last ? lane + b : lane;
  if (mode == 3) j = (lane ^ b) <= last ? lane ^ b : lane;
  return j;
}

TEST(VirtualKernels, Shuffles) {
  const char* names[] = {"__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"};
  for (int mode = 0; mode < 4; ++mode) {
    const TestKernel k(
        kernel_source(fmt::format("shuffle{}", mode), "long long* y; long long b; long long width;",
                      fmt::format("  p.y[threadIdx.x] = {}(0xffffffffu, 1000LL + threadIdx.x, (int)p.b, (int)p.width);",
                                  names[mode])));
    Array<long long> y(64);
    for (int width : {1, 2, 4, 8, 16, 32})
      for (int b : {0, 1, 2, 3, 5, 8, 15, 16, 17, 31}) {
        k({1, 64}, y, static_cast<long long>(b), static_cast<long long>(width));
        const std::vector<long long> r = y.get();
        for (int t = 0; t < 64; ++t)
          ASSERT_EQ(r[t], 1000 + t / 32 * 32 + shuffle_source(mode, t % 32, b, width))
              << names[mode] << " " << b << " " << width << " " << t;
      }
  }
}

TEST(VirtualKernels, VotesAndReductions) {
  const TestKernel k(kernel_source("votes", "unsigned* y;", R"(
  const unsigned t = threadIdx.x, all = 0xffffffffu;
  const int v = (int)t - 16;
  unsigned r[12] = {__ballot_sync(all, t % 3 == 0), (unsigned)__any_sync(all, t == 40), (unsigned)__all_sync(all,
    t < 40), __reduce_add_sync(all, t),
                    (unsigned)__reduce_min_sync(all, v), (unsigned)__reduce_max_sync(all, v),
                      __reduce_and_sync(all, t | 0x100), __reduce_or_sync(all, t),
                    __reduce_xor_sync(all, t * t), __match_any_sync(all, t % 5), __activemask(), 0};
  __syncwarp();
  if (t % 2) r[11] = __ballot_sync(0xaaaaaaaau, t > 16);
  else { r[11] = __ballot_sync(0x55555555u, t > 16); __syncwarp(0x55555555u); }
  for (int i = 0; i < 12; ++i) p.y[t * 12 + i] = r[i];)"));
  Array<unsigned> y(64 * 12);
  k({1, 64}, y);
  const std::vector<unsigned> r = y.get();
  for (unsigned t = 0; t < 64; ++t) {
    const unsigned w = t / 32 * 32;
    unsigned ballot = 0, sum = 0, any = 0, both = ~0u, odd = 0, match = 0, half = 0;
    for (unsigned l = 0; l < 32; ++l) {
      const unsigned u = w + l;
      ballot |= (u % 3 == 0) << l, sum += u, any |= u, both &= u | 0x100, odd ^= u * u;
      match |= (u % 5 == t % 5) << l;
      half |= unsigned{u > 16 && u % 2 == t % 2} << l;
    }
    const unsigned expected[] = {ballot, w == 32, w == 0, sum, w - 16, w + 15, both, any, odd, match, ~0u, half};
    for (int i = 0; i < 12; ++i) ASSERT_EQ(r[t * 12 + i], expected[i]) << t << " " << i;
  }
}

TEST(VirtualKernels, BarriersThatVote) {
  const TestKernel k(kernel_source("barrier_votes", "int* y;", R"(
  const int t = threadIdx.x;
  p.y[t * 4] = __syncthreads_count(t % 3 == 0);
  p.y[t * 4 + 1] = __syncthreads_and(t < 1000);
  p.y[t * 4 + 2] = __syncthreads_and(t < 70);
  p.y[t * 4 + 3] = __syncthreads_or(t == 70) * 2 + __syncthreads_or(t == 1000);)"));
  Array<int> y(100 * 4);
  k({1, 100}, y);
  const std::vector<int> r = y.get();
  for (int t = 0; t < 100; ++t) {
    EXPECT_EQ(r[t * 4], 34);
    EXPECT_EQ(r[t * 4 + 1], 1);
    EXPECT_EQ(r[t * 4 + 2], 0);
    EXPECT_EQ(r[t * 4 + 3], 2);
  }
}

TEST(VirtualKernels, LanesThatReturnedNeedNotArrive) {
  const TestKernel k(kernel_source("partial", "unsigned* y; long long n;", R"(
  if (threadIdx.x >= p.n) return;
  p.y[threadIdx.x] = __ballot_sync(0xffffffffu, 1) + __shfl_sync(0xffffffffu, threadIdx.x, 0);
  __syncwarp();)"));
  Array<unsigned> y(32);
  for (long long n : {1, 5, 31, 32}) {
    k({1, 32}, y, n);
    const unsigned expected = n == 32 ? ~0u : (1u << n) - 1;
    EXPECT_EQ(y.get()[0], expected) << n;
    k({1, static_cast<unsigned>(n)}, y, 1000LL);  // lanes that never existed
    EXPECT_EQ(y.get()[static_cast<std::size_t>(n - 1)], expected) << n;
  }
}

TEST(VirtualKernels, ManyBarriersInLoopsAndDivergentWarps) {
  // Warps do different amounts of warp operations between barriers.
  const TestKernel k(kernel_source("uneven", "unsigned* y; long long n;", R"(
  __shared__ unsigned s[8];
  unsigned v = threadIdx.x;
  for (int round = 0; round < p.n; ++round) {
    for (unsigned i = 0; i < threadIdx.x / 32 + round % 3; ++i) v = __shfl_down_sync(~0u, v, 1) * 3 + i;
    if (threadIdx.x % 32 == round % 32) s[threadIdx.x / 32] = v;
    __syncthreads();
    v += s[(threadIdx.x / 32 + 1) % 8];
    __syncthreads();
  }
  p.y[threadIdx.x] = v;)"));
  std::vector<unsigned> v(256), s(8);
  std::iota(v.begin(), v.end(), 0u);
  for (unsigned round = 0; round < 50; ++round) {
    for (unsigned w = 0; w < 8; ++w) {
      for (unsigned i = 0; i < w + round % 3; ++i) {
        std::vector<unsigned> next(32);
        for (unsigned l = 0; l < 32; ++l) next[l] = v[w * 32 + std::min(l + 1, 31u)] * 3 + i;
        std::copy(next.begin(), next.end(), v.begin() + w * 32);
      }
      s[w] = v[w * 32 + round % 32];
    }
    for (unsigned t = 0; t < 256; ++t) v[t] += s[(t / 32 + 1) % 8];
  }
  Array<unsigned> y(256);
  k({3, 256}, y, 50LL);
  EXPECT_EQ(y.get(), v);
}

TEST(VirtualKernels, GridsOfAllSizes) {
  const TestKernel k(
      kernel_source("count_all", "unsigned* y;", "  atomicAdd(p.y + (blockIdx.x * 7 + threadIdx.x) % 61, 1u);"));
  for (Geometry g : {Geometry{1, 1}, {1, 1024}, {70000, 1}, {3000, 33}, {100000, 64}}) {
    Array<unsigned> y(std::vector<unsigned>(61));
    k(g, y);
    const std::vector<unsigned> r = y.get();
    EXPECT_EQ(std::accumulate(r.begin(), r.end(), std::uint64_t{0}), std::uint64_t{g.grid} * g.block);
  }
}

TEST(VirtualKernels, ManyParameters) {
  // 4,095 words: 32,760 bytes.
  const TestKernel k(
      kernel_source("wide", "long long* y; long long v[4094];",
                    "  long long s = 0;\n  for (int i = 0; i < 4094; ++i) s += p.v[i] * (i + 1);\n  *p.y = s;"));
  Array<long long> y(1);
  std::vector<std::uint64_t> words{word(y)};
  long long expected = 0;
  for (int i = 0; i < 4094; ++i) words.push_back(static_cast<std::uint64_t>(i * 3)), expected += 3LL * i * (i + 1);
  virtual_gpu(0).launch({.kernel = k.on(0).handle(), .grid = 1, .block = 1, .words = words, .pointers = 1});
  EXPECT_EQ(y.get()[0], expected);
}

TEST(VirtualKernels, VariablesOfADeviceAreItsOwn) {
  const TestKernel k(
      kernel_source("device_variable", "int* y;", "  *p.y = atomicAdd(&counter, 1);", "__device__ int counter;"));
  Array<int> a(1, 0), b(1, 1);
  for (int i = 0; i < 3; ++i) {
    launch(virtual_gpu(0), k.on(0), {1, 1}, a);
    EXPECT_EQ(a.get()[0], i);
  }
  launch(virtual_gpu(1), k.on(1), {1, 1}, b);
  EXPECT_EQ(b.get()[0], 0);
}

}  // namespace
}  // namespace sinter::test

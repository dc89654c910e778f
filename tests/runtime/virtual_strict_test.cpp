// The strict tier of virtual GPUs: kernels whose faults no guard page meets, each reported with its name, block,
// thread, line and allocation, and their mended forms, which run clean.
#include <cstdlib>

#include "setup.hpp"
#include "virtual_harness.hpp"

namespace sinter::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Before the first kernel asks.
const sinter::test::Setup strict([] { setenv("SINTER_VIRTUAL_STRICT", "1", 1); });

constexpr int odd = 257;  // floats: 1028 bytes, with 252 more before the guard page

TestKernel simple(const std::string& name, const std::string& body, const std::string& before = "") {
  return TestKernel(kernel_source(name, "float* y; const float* x; long long n;", body, before));
}

std::string run(const TestKernel& k, Geometry g, const Array<float>& y, const Array<float>& x, long long n = 0) {
  return error_of([&] { k(g, y, x, n); });
}

std::vector<float> ones(std::size_t n) { return std::vector<float>(n, 1.0f); }

TEST(VirtualStrict, BoundsToTheByte) {
  const TestKernel write = simple("write_at", "  p.y[p.n] = 1.0f;"), read = simple("read_at", "  p.y[0] = p.x[p.n];");
  Array<float> y(odd), x(ones(odd));
  EXPECT_THAT(run(write, {1, 1}, y, x, odd),
              AllOf(HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"),
                    HasSubstr("kernel write_at on cuda:0 (virtual), block 0 of 1, thread 0 of 1, line 3: p.y[p.n] = "),
                    HasSubstr("a write of 4 bytes outside the kernel's operands: cuda:0, 0 bytes past the end of "),
                    HasSubstr("(1028 bytes)")));
  EXPECT_THAT(run(read, {1, 1}, y, x, odd + 3), AllOf(HasSubstr("a read of 4 bytes"), HasSubstr("12 bytes past")));
  EXPECT_THAT(run(write, {1, 1}, y, x, -1), HasSubstr(": cuda:0, 4 bytes before allocation"));
  EXPECT_EQ(run(write, {1, 1}, y, x, odd - 1), "no error");
  EXPECT_EQ(run(read, {1, 1}, y, x, odd - 1), "no error");
}

TEST(VirtualStrict, HalfOfAVectorPastTheEnd) {
  const TestKernel k = simple("vector_at_end", "  *(reinterpret_cast<float2*>(p.y) + p.n) = float2{1.0f, 2.0f};");
  Array<float> y(odd), x(1);
  EXPECT_THAT(run(k, {1, 1}, y, x, odd / 2), HasSubstr("0 bytes past the end of allocation"));
  EXPECT_EQ(run(k, {1, 1}, y, x, odd / 2 - 1), "no error");
}

TEST(VirtualStrict, AnotherAllocation) {
  const TestKernel k = simple("neighbour", "  p.y[0] = p.x[p.n];");
  Array<float> y(1), x(ones(16)), other(ones(16));
  EXPECT_THAT(run(k, {1, 1}, y, x, other.data() - x.data() + 2),
              AllOf(HasSubstr("outside the kernel's operands"), HasSubstr("at byte 8 of allocation")));
}

TEST(VirtualStrict, PointersKeptByAKernel) {
  const TestKernel keep(kernel_source("keep_pointer", "float** y; float* x;", "  *p.y = p.x;"));
  const TestKernel use(kernel_source("use_pointer", "float** y;", "  **p.y = 1.0f;"));
  Array<float*> y(1);
  auto x = std::make_unique<Array<float>>(16);
  keep({1, 1}, y, *x);
  EXPECT_THAT(error_of([&] { use({1, 1}, y); }), HasSubstr("at byte 0 of allocation"));
  x.reset();
  EXPECT_THAT(error_of([&] { use({1, 1}, y); }),
              AllOf(HasSubstr("outside the kernel's operands"), HasSubstr("(64 bytes, freed)")));
  Array<float> elsewhere(16, 1);
  EXPECT_THAT(error_of([&] { keep({1, 1}, y, elsewhere); }), HasSubstr("not memory of cuda:0"));
}

TEST(VirtualStrict, MemoryThatNobodyWrote) {
  const TestKernel k = simple("read_fresh", "  p.y[threadIdx.x] = p.x[threadIdx.x];");
  Array<float> y(64), x(64), z(64);
  EXPECT_THAT(run(k, {1, 64}, y, x), AllOf(HasSubstr("kernel read_fresh"), HasSubstr("thread 0 of 64, line 3"),
                                           HasSubstr("a read of 4 bytes, byte 0 of which is uninitialized: cuda:0, "
                                                     "at byte 0 of allocation #")));
  const float one = 1;
  virtual_gpu(0).upload(x.data(), &one, sizeof one);
  virtual_gpu(0).upload(x.data() + 1, &one, 3);
  EXPECT_THAT(run(k, {1, 64}, y, x), AllOf(HasSubstr("thread 1 of 64"), HasSubstr("byte 3 of which")));
  virtual_gpu(0).copy(z.data(), x.data(), 64 * sizeof(float), virtual_gpu(0));  // copying is no use of it
  EXPECT_THAT(run(k, {1, 64}, y, z), AllOf(HasSubstr("thread 1 of 64"), HasSubstr("byte 3 of which")));
  x.set(ones(64));
  virtual_gpu(0).copy(z.data(), x.data(), 64 * sizeof(float), virtual_gpu(0));
  EXPECT_EQ(run(k, {1, 64}, y, z), "no error");
  EXPECT_EQ(run(k, {1, 64}, x, y), "no error");  // written by the kernel before
}

TEST(VirtualStrict, AllocationsAreFreshEachTime) {
  const TestKernel k = simple("read_reused", "  p.y[0] = p.x[0];");
  Array<float> y(1);
  for (int i = 0; i < 600; ++i) Array<float>(ones(16));  // past the quarantine
  Array<float> x(16);
  EXPECT_THAT(run(k, {1, 1}, y, x), HasSubstr("is uninitialized"));
}

TEST(VirtualStrict, SharedMemoryThatNobodyWrote) {
  const auto body = [](const char* how) {
    return std::string("  __shared__ float s[64];\n  if (threadIdx.x < ") + how +
           ") s[threadIdx.x] = 1.0f;\n  __syncthreads();\n  p.y[threadIdx.x] = s[threadIdx.x];";
  };
  Array<float> y(64), x(1);
  EXPECT_THAT(run(simple("shared_fresh", body("32")), {1, 64}, y, x),
              AllOf(HasSubstr("line 6"), HasSubstr("byte 0 of which is uninitialized, at byte "),
                    HasSubstr(" of the __shared__ variables")));
  EXPECT_EQ(run(simple("shared_full", body("64")), {1, 64}, y, x), "no error");
}

TEST(VirtualStrict, SharedMemoryIsFreshInEachBlock) {
  const TestKernel k(kernel_source("shared_of_block", "float* y;",
                                   "  if (blockIdx.x == 0) s[threadIdx.x] = 1.0f;\n"
                                   "  p.y[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];",
                                   "extern __shared__ float s[];"));
  Array<float> y(64);
  EXPECT_EQ(error_of([&] { k({1, 32, 128}, y); }), "no error");
  EXPECT_THAT(error_of([&] { k({2, 32, 128}, y); }),
              AllOf(HasSubstr("block 1 of 2"), HasSubstr("is uninitialized, at byte 0 of dynamic shared memory")));
}

/// y[i] = x[63 - i] through shared memory.
std::string reversed(const char* between) {
  return std::string("  __shared__ float s[64];\n  s[threadIdx.x] = p.x[threadIdx.x];\n  ") + between +
         "\n  p.y[threadIdx.x] = s[63 - threadIdx.x];";
}

TEST(VirtualStrict, RaceBetweenWriteAndRead) {
  Array<float> y(64), x(ones(64));
  // A barrier elsewhere gives the threads stacks of their own; the loop form runs them one after the other.
  EXPECT_THAT(run(simple("race_loops", reversed("")), {1, 64}, y, x),
              AllOf(HasSubstr("CUDA_ERROR_LAUNCH_FAILED"), HasSubstr("kernel race_loops")));
  EXPECT_THAT(run(simple("race_fibres", reversed("") + "\n  __syncthreads();"), {1, 64}, y, x),
              AllOf(HasSubstr("line 6: p.y[threadIdx.x] = s[63 - threadIdx.x];"), HasSubstr("a read of 4 bytes")));
  EXPECT_THAT(run(simple("race_warps", reversed("__syncwarp();")), {1, 64}, y, x), HasSubstr("kernel race_warps"));
  EXPECT_EQ(run(simple("no_race", reversed("__syncthreads();")), {1, 64}, y, x), "no error");
}

TEST(VirtualStrict, WarpsAreOrderedBySyncwarp) {
  const auto body = [](const char* between) {
    return std::string("  __shared__ float s[64];\n  s[threadIdx.x] = p.x[threadIdx.x];\n  float v = 0;\n  ") +
           between + "\n  p.y[threadIdx.x] = v + s[threadIdx.x ^ 1];";
  };
  Array<float> y(64), x(ones(64));
  EXPECT_EQ(run(simple("warp_ordered", body("__syncwarp();")), {1, 64}, y, x), "no error");
  EXPECT_THAT(run(simple("warp_shuffled", body("v = __shfl_xor_sync(0xffffffffu, v, 1);")), {1, 64}, y, x),
              AllOf(HasSubstr("races with a write by thread"), HasSubstr("of block 0, at byte ")));
}

TEST(VirtualStrict, RaceBetweenReadAndTheNextWrite) {
  const auto body = [](const char* at_end) {
    return std::string(
               "  __shared__ float s[64];\n  for (int k = 0; k < p.n; ++k) {\n"
               "    s[threadIdx.x] = p.x[threadIdx.x] + k;\n    __syncthreads();\n"
               "    p.y[threadIdx.x] = s[63 - threadIdx.x];\n    ") +
           at_end + "\n  }";
  };
  Array<float> y(64), x(ones(64));
  const TestKernel racy = simple("race_loop", body(""));
  EXPECT_EQ(run(racy, {1, 64}, y, x, 1), "no error");
  EXPECT_THAT(run(racy, {1, 64}, y, x, 2), AllOf(HasSubstr("kernel race_loop"), HasSubstr("races with a")));
  EXPECT_EQ(run(simple("no_race_loop", body("__syncthreads();")), {1, 64}, y, x, 3), "no error");
}

TEST(VirtualStrict, ManyReadersOfOneValue) {
  const auto body = [](const char* between) {
    return std::string(
               "  __shared__ float s;\n  if (threadIdx.x == 5) s = 1.0f;\n  __syncthreads();\n"
               "  p.y[threadIdx.x] = s;\n  ") +
           between + "\n  if (threadIdx.x == p.n) s = 2.0f;\n  __syncthreads();";
  };
  Array<float> y(128), x(1);
  for (long long writer : {0LL, 127LL})
    EXPECT_THAT(run(simple("one_writes", body("")), {1, 128}, y, x, writer),
                AllOf(HasSubstr("kernel one_writes"), HasSubstr("races with a")));
  EXPECT_EQ(run(simple("one_writes_later", body("__syncthreads();")), {1, 128}, y, x, 77), "no error");
}

TEST(VirtualStrict, RaceInGlobalMemory) {
  const TestKernel pairs = simple("race_pairs", "  p.y[(blockIdx.x * blockDim.x + threadIdx.x) / 2] = threadIdx.x;");
  const TestKernel blocks = simple("race_blocks", "  if (threadIdx.x == 0) p.y[0] = blockIdx.x;");
  const TestKernel reads = simple("race_reads", "  p.y[blockIdx.x] = p.y[p.n];");
  Array<float> y(64), x(1);
  y.set(ones(64));
  EXPECT_THAT(
      run(pairs, {1, 64}, y, x),
      AllOf(HasSubstr("thread 1 of 64"), HasSubstr("races with a write by thread 0 of block 0: cuda:0, at byte 0")));
  EXPECT_THAT(run(blocks, {2, 32}, y, x), AllOf(HasSubstr("block 1 of 2"), HasSubstr("by thread 0 of block 0")));
  EXPECT_EQ(run(blocks, {1, 32}, y, x), "no error");
  EXPECT_THAT(run(reads, {4, 1}, y, x, 3), AllOf(HasSubstr("block 3 of 4"), HasSubstr("a write"),
                                                 HasSubstr("races with a read by thread 0 of block")));
  EXPECT_THAT(run(reads, {4, 1}, y, x, 0), AllOf(HasSubstr("block 1 of 4"), HasSubstr("races with a write")));
  EXPECT_EQ(run(reads, {4, 1}, y, x, 63), "no error");
}

TEST(VirtualStrict, NeighboursDoNotRace) {
  const TestKernel k(kernel_source("neighbours", "unsigned char* y;", "  p.y[threadIdx.x] = threadIdx.x;"));
  Array<unsigned char> y(64);
  EXPECT_EQ(error_of([&] { k({1, 64}, y); }), "no error");
}

TEST(VirtualStrict, AtomicOperations) {
  const std::string fields = "int* y;";
  const TestKernel add(kernel_source("atomic_add", fields, "  atomicAdd(p.y, 1);"));
  const TestKernel mixed(
      kernel_source("atomic_and_plain", fields, "  if (threadIdx.x) atomicAdd(p.y, 1); else *p.y = 1;"));
  Array<int> y(1);
  EXPECT_THAT(error_of([&] { add({4, 64}, y); }),
              HasSubstr("an atomic operation on 4 bytes, byte 0 of which is uninit"));
  const TestKernel peek(
      kernel_source("atomic_and_read", "int* y; int* z;", "  atomicAdd(p.y, 1);\n  p.z[threadIdx.x] = *p.y;"));
  y.set({0});
  Array<int> z(32);
  EXPECT_THAT(error_of([&] { peek({1, 32}, y, z); }), HasSubstr("races with a"));
  y.set({0});
  EXPECT_EQ(error_of([&] { add({4, 64}, y); }), "no error");
  EXPECT_EQ(y.get()[0], 256);
  EXPECT_THAT(error_of([&] { mixed({1, 64}, y); }), HasSubstr("an atomic operation on 4 bytes races with a write"));
}

/// The last block to finish adds up what all have written.
std::string last_block(const char* fence) {
  return std::string(
             "  __shared__ bool last;\n  if (threadIdx.x == 0) {\n    p.part[blockIdx.x] = blockIdx.x + 1;\n    ") +
         fence +
         "\n    last = atomicAdd(p.count, 1u) == gridDim.x - 1;\n  }\n  __syncthreads();\n"
         "  if (last && threadIdx.x == 0) {\n    float sum = 0;\n"
         "    for (int i = 0; i < gridDim.x; ++i) sum += p.part[i];\n    *p.y = sum;\n  }";
}

TEST(VirtualStrict, TheLastBlockSeesTheOthers) {
  const std::string fields = "float* y; float* part; unsigned* count;";
  Array<float> y(1), part(8);
  Array<unsigned> count(std::vector<unsigned>{0});
  const TestKernel fenced(kernel_source("last_block", fields, last_block("__threadfence();")));
  EXPECT_EQ(error_of([&] { fenced({8, 32}, y, part, count); }), "no error");
  EXPECT_EQ(y.get()[0], 36);
  count.set({0});
  const TestKernel bare(kernel_source("last_block_bare", fields, last_block("")));
  EXPECT_THAT(error_of([&] { bare({8, 32}, y, part, count); }),
              AllOf(HasSubstr("block 7 of 8"), HasSubstr("races with a write by thread 0 of block 0")));
}

/// Every thread writes, and one of the block says so.
std::string all_write(const char* before_barrier, const char* barrier, const char* after_barrier) {
  return std::string("  __shared__ bool last;\n  p.part[blockIdx.x * 32 + threadIdx.x] = 1;\n  ") + before_barrier +
         barrier + "\n  if (threadIdx.x == 0) { " + after_barrier +
         " last = atomicAdd(p.count, 1u) == gridDim.x - 1; }\n  __syncthreads();\n"
         "  if (last) p.y[threadIdx.x] = p.part[threadIdx.x];";
}

TEST(VirtualStrict, FencesOfManyThreads) {
  const std::string fields = "float* y; float* part; unsigned* count;";
  struct {
    const char *name, *before, *barrier, *after;
    bool right;
  } const cases[] = {{"each_fences", "__threadfence(); ", "__syncthreads();", "", true},
                     {"one_fences", "", "__syncthreads();", "__threadfence();", true},
                     {"no_barrier", "", "", "__threadfence();", false},
                     {"no_fence", "", "__syncthreads();", "", false},
                     {"fence_of_block", "", "__syncthreads();", "__threadfence_block();", false}};
  for (const auto& c : cases) {
    Array<float> y(32), part(64);
    Array<unsigned> count(std::vector<unsigned>{0});
    const TestKernel k(kernel_source(c.name, fields, all_write(c.before, c.barrier, c.after)));
    const std::string error = error_of([&] { k({2, 32}, y, part, count); });
    if (c.right)
      EXPECT_EQ(error, "no error") << c.name;
    else
      EXPECT_THAT(error, HasSubstr("races with a write by thread")) << c.name;
  }
}

TEST(VirtualStrict, TheLastBlockMayWriteWhatAllHaveRead) {
  const TestKernel k(kernel_source("reset", "float* y; float* x; unsigned* count;",
                                   "  p.y[blockIdx.x] = p.x[0];\n  __threadfence();\n"
                                   "  if (atomicAdd(p.count, 1u) == gridDim.x - 1) p.x[0] = 7;"));
  Array<float> y(4), x(ones(1));
  Array<unsigned> count(std::vector<unsigned>{0});
  EXPECT_EQ(error_of([&] { k({4, 1}, y, x, count); }), "no error");
}

TEST(VirtualStrict, SharedMemoryOutsideTheVariables) {
  const auto dynamic = [](const char* name, const char* index) {
    return TestKernel(kernel_source(name, "float* y; long long n;",
                                    std::string("  s[0] = 1; p.y[0] = s[") + index + "];",
                                    "extern __shared__ float s[];"));
  };
  Array<float> y(1);
  EXPECT_EQ(error_of([&] { dynamic("shared_inside", "p.n")({1, 1, 16}, y, 0LL); }), "no error");
  EXPECT_THAT(error_of([&] { dynamic("shared_before", "p.n - 1")({1, 1, 16}, y, 0LL); }),
              HasSubstr("a read of 4 bytes in shared memory, outside the block's variables"));
  EXPECT_THAT(error_of([&] { dynamic("shared_after", "p.n + 3")({1, 1, 8}, y, 0LL); }),
              HasSubstr("in shared memory, outside the block's variables"));
}

TEST(VirtualStrict, LaunchesAreOrdered) {
  const TestKernel k = simple("every_second", "  p.y[threadIdx.x] = p.y[(threadIdx.x + p.n) % 64];");
  Array<float> y(ones(64)), x(1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(k, {1, 64}, y, x, 0), "no error");
  EXPECT_THAT(run(k, {1, 64}, y, x, 1), HasSubstr("races with"));
  EXPECT_EQ(run(k, {1, 64}, y, x, 0), "no error");  // no blame for what a launch before did
}

TEST(VirtualStrict, LargeAllocationsAreCheckedByTheirGuardPages) {
  const TestKernel k = simple("large", "  p.y[p.n] = 1.0f;");
  const std::size_t n = (std::size_t{512} << 20) / sizeof(float);
  Array<float> y(n), x(1);
  EXPECT_EQ(run(k, {1, 1}, y, x, 5), "no error");
  EXPECT_THAT(run(k, {1, 1}, y, x, static_cast<long long>(n)), HasSubstr("0 bytes past the end"));
}

}  // namespace
}  // namespace sinter::test

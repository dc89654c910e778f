// Kernels that are wrong: each is reported with its name, block, thread and line, and the device goes on.
#include <chrono>
#include <csignal>
#include <cstdlib>

#include "virtual_harness.hpp"

namespace sinter::test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

// 257 floats: 1028 bytes, so 252 bytes lie between the end and the guard page.
constexpr int odd = 257;

TestKernel simple(const std::string& name, const std::string& body) {
  return TestKernel(kernel_source(name, "float* y; const float* x; long long n;", body));
}

TestKernel simple_with(const std::string& before, const std::string& name, const std::string& body) {
  return TestKernel(kernel_source(name, "float* y; const float* x; long long n;", body, before));
}

std::string run(const TestKernel& k, Geometry g, const Array<float>& y, const Array<float>& x, long long n) {
  return error_of([&] { k(g, y, x, n); });
}

#if defined(__SANITIZE_ADDRESS__)
constexpr bool sanitizes_addresses = true;
#elif defined(__has_feature)
constexpr bool sanitizes_addresses = __has_feature(address_sanitizer);
#else
constexpr bool sanitizes_addresses = false;
#endif

TEST(VirtualFaults, WriteJustPastTheEnd) {
  const TestKernel k =
      simple("write_past", "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < p.n)\n    p.y[i] = 1.0f;");
  Array<float> y(1024);
  EXPECT_THAT(run(k, {5, 256}, y, y, 1025),
              AllOf(HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"),
                    HasSubstr("kernel write_past on cuda:0 (virtual), block 4 of 5, thread 0 of 256"),
                    HasSubstr("line 5: p.y[i] = 1.0f;"), HasSubstr("a write of 0x"),
                    HasSubstr("cuda:0, 0 bytes past the end of allocation #"), HasSubstr("(4096 bytes)")));
  EXPECT_EQ(run(k, {4, 256}, y, y, 1024), "no error");
}

TEST(VirtualFaults, WriteBetweenTheEndAndTheGuardPage) {
  const TestKernel k = simple("write_slack", "  p.y[p.n] = 1.0f;");
  Array<float> y(odd);
  EXPECT_THAT(run(k, {1, 1}, y, y, odd),
              AllOf(HasSubstr("kernel write_slack"), HasSubstr("4 bytes written 0 bytes past the end of allocation #"),
                    HasSubstr("(1028 bytes)")));
  EXPECT_THAT(run(k, {1, 1}, y, y, odd + 3), HasSubstr("4 bytes written 12 bytes past the end"));
  EXPECT_THAT(run(k, {1, 1}, y, y, -1), HasSubstr("4 bytes written 4 bytes before allocation"));
  EXPECT_EQ(run(k, {1, 1}, y, y, 0), "no error");  // repaired: no blame for what others did
  EXPECT_THAT(run(k, {1, 1}, y, y, odd + 63), HasSubstr("252 bytes past the end"));  // the guard page itself
}

TEST(VirtualFaults, ReadOutside) {
  const TestKernel k = simple("read_outside", "  p.y[threadIdx.x] = p.x[threadIdx.x + p.n];");
  Array<float> y(64), x(1024);
  EXPECT_THAT(run(k, {1, 64}, y, x, 1024 - 60), AllOf(HasSubstr("a read of"), HasSubstr("thread 60 of 64"),
                                                      HasSubstr("line 3"), HasSubstr("0 bytes past the end")));
  EXPECT_THAT(run(k, {1, 64}, y, x, -1), AllOf(HasSubstr("thread 0 of 64"), HasSubstr("4 bytes before allocation")));
  EXPECT_THAT(run(k, {1, 64}, y, x, 1LL << 61), HasSubstr("outside the address space"));
  EXPECT_EQ(run(k, {1, 64}, y, x, 0), "no error");
}

TEST(VirtualFaults, UnwrittenMemoryIsNan) {
  const TestKernel k = simple("read_fresh", "  p.y[threadIdx.x] = p.x[threadIdx.x];");
  Array<float> y(odd), x(odd);
  k({1, odd}, y, x, 0LL);
  for (float v : y.get()) EXPECT_TRUE(std::isnan(v));
}

TEST(VirtualFaults, NullPointer) {
  const TestKernel k = simple("null_pointer", "  p.y[threadIdx.x] = p.x[threadIdx.x];");
  Array<float> y(32);
  EXPECT_THAT(error_of([&] { k({1, 32}, y, static_cast<float*>(nullptr), 0LL); }),
              AllOf(HasSubstr("a read of 0x0"), HasSubstr("null pointer")));
}

TEST(VirtualFaults, FaultInAFunctionOfTheCLibrary) {
  const TestKernel k = simple("library_fault", "  int* exponent = (int*)p.n;\n  p.y[0] = frexpf(p.x[0], exponent);");
  Array<float> y(32), x(std::vector<float>(32, 8.0f));
  // AddressSanitizer puts a function of its own before the library's, which then stands where the line would.
  const std::string line = sanitizes_addresses ? "" : "line 4: p.y[0] = frexpf";
  EXPECT_THAT(run(k, {1, 1}, y, x, 64), AllOf(HasSubstr("a write of 0x40"), HasSubstr(line)));
}

TEST(VirtualFaults, PointersOfOthersAreRefusedBeforeTheLaunch) {
  const TestKernel k = simple("take", "  p.y[threadIdx.x] = p.x[threadIdx.x];");
  Array<float> y(std::vector<float>(32, 5.0f)), there(32, 1);
  EXPECT_THAT(run(k, {1, 32}, y, there, 0),
              AllOf(HasSubstr("CUDA_ERROR_INVALID_VALUE"), HasSubstr("pointer 1 of 2"),
                    HasSubstr("not memory of cuda:0"), HasSubstr("It belongs to cuda:1, at byte 0 of allocation #")));
  float host[32] = {};
  EXPECT_THAT(error_of([&] { k({1, 32}, y, &host[0], 0LL); }),
              AllOf(HasSubstr("pointer 1 of 2"), HasSubstr("belongs to the host")));
  float* gone = Array<float>(4096).data();
  EXPECT_THAT(error_of([&] { k({1, 32}, y, gone, 0LL); }),
              AllOf(HasSubstr("cuda:0, at byte 0 of allocation #"), HasSubstr("(16384 bytes, freed)")));
  EXPECT_EQ(y.get(), std::vector<float>(32, 5.0f));  // nothing ran
  EXPECT_EQ(run(k, {1, 32}, y, y, 0), "no error");
}

TEST(VirtualFaults, PointersOfOthersInOtherWords) {
  const TestKernel k = simple("hidden_pointer", "  p.y[0] = *(const float*)p.n;");
  const Array<float> y(1), there(std::vector<float>(32, 5.0f), 1);
  EXPECT_THAT(run(k, {1, 1}, y, y, reinterpret_cast<long long>(there.data())),
              AllOf(HasSubstr("a read of"), HasSubstr("line 3"), HasSubstr("cuda:1, at byte 0 of allocation #")));
}

TEST(VirtualFaults, UseAfterFree) {
  const TestKernel k = simple("dangling", "  p.y[0] = *(const float*)p.n;");
  Array<float> y(1);
  const auto gone = reinterpret_cast<long long>(Array<float>(100).data());
  EXPECT_THAT(run(k, {1, 1}, y, y, gone),
              AllOf(HasSubstr("at byte 0 of allocation #"), HasSubstr("(400 bytes, freed)")));
}

TEST(VirtualFaults, Misaligned) {
  Array<float> y(1024), x(1024);
  const TestKernel vector = simple("misaligned_vector",
                                   "  float4 v = *reinterpret_cast<const float4*>(p.x + p.n + 4 * threadIdx.x);\n  "
                                   "*reinterpret_cast<float4*>(p.y + 4 * threadIdx.x) = v;");
  EXPECT_THAT(run(vector, {1, 16}, y, x, 2),
              AnyOf(AllOf(HasSubstr("CUDA_ERROR_MISALIGNED_ADDRESS"), HasSubstr("misaligned for 'const struct float4'"),
                          HasSubstr("line 3"), HasSubstr("at byte 8 of allocation #")),
                    HasSubstr("or misaligned for a vector")));  // clang++ leaves it to the processor
  EXPECT_EQ(run(vector, {1, 16}, y, x, 4), "no error");
  const TestKernel cached =
      simple("misaligned_ldg", "  float2 v = __ldg(reinterpret_cast<const float2*>(p.x + p.n));\n  __stcs(p.y, v.x);");
  EXPECT_THAT(run(cached, {1, 1}, y, x, 1), AllOf(HasSubstr("misaligned"), HasSubstr("line 3: float2 v = __ldg")));
  const TestKernel scalar = simple("misaligned_scalar", "  p.y[0] = *(const float*)((const char*)p.x + p.n);");
  EXPECT_THAT(run(scalar, {1, 1}, y, x, 2), HasSubstr("misaligned"));
}

TEST(VirtualFaults, IndexOutsideAnArray) {
  Array<float> y(64), x(64);
  const TestKernel shared = simple("shared_index",
                                   "  __shared__ float s[64]; __shared__ float t[64];\n  t[threadIdx.x] = 0;\n  "
                                   "s[threadIdx.x + p.n] = 1;\n  __syncthreads();\n"
                                   "  p.y[threadIdx.x] = s[threadIdx.x] + t[threadIdx.x];");
  EXPECT_THAT(run(shared, {1, 64}, y, x, 1), AllOf(HasSubstr("index 64 is outside an array of type 'float"),
                                                   HasSubstr("thread 63"), HasSubstr("line 5")));
  EXPECT_EQ(run(shared, {1, 64}, y, x, 0), "no error");
  const TestKernel local = simple("local_index", "  float v[4] = {1, 2, 3, 4};\n  p.y[0] = v[p.n];");
  EXPECT_THAT(run(local, {1, 1}, y, x, 4), HasSubstr("index 4 is outside an array of type 'float"));
}

TEST(VirtualFaults, DynamicSharedMemoryPastTheEnd) {
  const TestKernel k(
      kernel_source("dynamic_past", "float* y; long long n;",
                    "  s[threadIdx.x + p.n] = 1;\n  __syncthreads();\n  p.y[threadIdx.x] = s[threadIdx.x];",
                    "extern __shared__ float s[];"));
  Array<float> y(64);
  EXPECT_THAT(error_of([&] { k({1, 64, 256}, y, 1LL); }),
              AllOf(HasSubstr("past shared memory"), HasSubstr("256 bytes requested"), HasSubstr("thread 63"),
                    HasSubstr("line 3")));
  k({1, 64, 256}, y, 0LL);
}

TEST(VirtualFaults, UnwrittenSharedMemoryIsNan) {
  const TestKernel k = simple("shared_fresh",
                              "  __shared__ float s[64];\n  if (threadIdx.x < 32) s[threadIdx.x] = 1.0f;\n  "
                              "__syncthreads();\n  p.y[threadIdx.x] = s[threadIdx.x];");
  Array<float> y(64);
  for (int repeat = 0; repeat < 2; ++repeat) {
    k({2, 64}, y, y, 0LL);
    const std::vector<float> r = y.get();
    for (int i = 0; i < 64; ++i) EXPECT_EQ(std::isnan(r[i]), i >= 32) << i;
  }
}

TEST(VirtualFaults, WritesJustPastSharedMemory) {
  const std::string body = "  s[threadIdx.x % 5] = 0;\n  float* q = s;\n  q[p.n] = 1;\n  {}p.y[0] = s[0];";
  Array<float> y(32);
  for (const char* barrier : {"", "__syncthreads();\n  "}) {
    const std::string rest = fmt::format(fmt::runtime(body), barrier);
    const std::string kind = *barrier ? "fibres" : "loops";
    const TestKernel variables = simple("static_slack_" + kind, "  __shared__ float s[5];\n" + rest);
    EXPECT_THAT(run(variables, {3, 32}, y, y, 6),
                AllOf(HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"), HasSubstr("block 0 of 3\n"),
                      HasSubstr("a write 4 bytes past the 20 bytes of __shared__ variables")));
    EXPECT_EQ(run(variables, {3, 32}, y, y, 4), "no error");
    const TestKernel dynamic = simple_with("extern __shared__ float s[];", "dynamic_slack_" + kind, rest);
    EXPECT_THAT(run(dynamic, {1, 32, 20}, y, y, 5),
                HasSubstr("a write 0 bytes past the 20 bytes of dynamic shared memory"));
    EXPECT_EQ(run(dynamic, {1, 32, 20}, y, y, 4), "no error");
  }
}

TEST(VirtualFaults, ThreadsThatLeftBeforeABarrier) {
  const TestKernel k = simple("early_return",
                              "  __shared__ float s[256];\n  if (threadIdx.x >= p.n) return;\n  s[threadIdx.x] = "
                              "p.x[threadIdx.x];\n  __syncthreads();\n  p.y[threadIdx.x] = s[threadIdx.x ^ 1];");
  Array<float> y(256), x(256);
  EXPECT_THAT(
      run(k, {1, 256}, y, x, 200),
      AllOf(HasSubstr("CUDA_ERROR_LAUNCH_FAILED"),
            HasSubstr(
                "56 of 256 threads (the first is thread 200) returned before the barrier at line 6, where 200 wait"),
            HasSubstr("line 6: __syncthreads();")));
  EXPECT_EQ(run(k, {1, 256}, y, x, 256), "no error");
}

TEST(VirtualFaults, DifferentBarriers) {
  const TestKernel k =
      simple("divergent", "  if (threadIdx.x & 1) {\n    __syncthreads();\n  } else {\n    __syncthreads();\n  }");
  Array<float> y(64);
  EXPECT_THAT(run(k, {1, 64}, y, y, 0), HasSubstr("different barriers: thread 0 waits at line 6, thread 63 at line 4"));
  const TestKernel kinds =
      simple("kinds", "  if (threadIdx.x & 1) __syncthreads(); else p.y[0] = __syncthreads_count(1);");
  EXPECT_THAT(run(kinds, {1, 64}, y, y, 0), HasSubstr("different barriers"));
}

TEST(VirtualFaults, ShuffleFromALaneThatReturned) {
  const TestKernel k = simple("early_shuffle",
                              "  if (threadIdx.x >= p.n) return;\n  float v = p.x[threadIdx.x];\n  for (int o = 16; o; "
                              "o >>= 1)\n    v += __shfl_xor_sync(0xffffffffu, v, o);\n  p.y[threadIdx.x] = v;");
  Array<float> y(32), x(32);
  EXPECT_THAT(run(k, {1, 32}, y, x, 20),
              AllOf(HasSubstr("thread 4 of 32, line 6"),
                    HasSubstr("a shuffle reads lane 20, which has returned or does not exist (mask 0xffffffff)")));
  EXPECT_THAT(run(k, {1, 20}, y, x, 32), HasSubstr("a shuffle reads lane 20"));
  EXPECT_EQ(run(k, {1, 32}, y, x, 32), "no error");
}

TEST(VirtualFaults, WrongMasks) {
  Array<float> y(32);
  EXPECT_THAT(run(simple("not_named", "  p.y[threadIdx.x] = __shfl_xor_sync(0xffffu, 1.0f, 1);"), {1, 32}, y, y, 0),
              AllOf(HasSubstr("the mask 0x0000ffff of a warp operation does not include its own lane 16"),
                    HasSubstr("thread 16"), HasSubstr("line 3")));
  EXPECT_THAT(
      run(simple("reads_unnamed", "  if (threadIdx.x < 16) p.y[threadIdx.x] = __shfl_down_sync(0xffffu, 1.0f, 1);"),
          {1, 32}, y, y, 0),
      HasSubstr("a shuffle reads lane 16, which its mask does not include"));
  EXPECT_THAT(run(simple("two_masks",
                         "  p.y[threadIdx.x] = __shfl_xor_sync(threadIdx.x & 1 ? 0xffffffffu : 0xfffffffdu, 1.0f, 2);"),
                  {1, 32}, y, y, 0),
              HasSubstr("different warp operations"));
  EXPECT_THAT(run(simple("two_operations",
                         "  unsigned b = threadIdx.x & 1 ? __ballot_sync(~0u, 1) : __shfl_sync(~0u, 1u, 0);\n  "
                         "p.y[threadIdx.x] = b;"),
                  {1, 32}, y, y, 0),
              HasSubstr("different warp operations"));
  EXPECT_THAT(run(simple("width", "  p.y[threadIdx.x] = __shfl_sync(~0u, 1.0f, 0, 12);"), {1, 32}, y, y, 0),
              HasSubstr("a shuffle of width 12"));
}

TEST(VirtualFaults, Deadlock) {
  Array<float> y(64);
  const TestKernel mixed = simple("mixed",
                                  "  float v = threadIdx.x;\n  if (threadIdx.x & 16)\n    __syncthreads();\n  else\n   "
                                  " v = __shfl_xor_sync(0xffffffffu, v, 1);\n  p.y[threadIdx.x] = v;");
  EXPECT_THAT(run(mixed, {1, 32}, y, y, 0),
              AllOf(HasSubstr("deadlock: 16 threads (the first is thread 16) wait at the barrier at line 5"),
                    HasSubstr("16 (the first is thread 0) at the warp operation at line 7 with mask 0xffffffff"),
                    HasSubstr("0 have returned")));
}

TEST(VirtualFaults, SpinningKernelsAreEnded) {
  ::setenv("SINTER_VIRTUAL_TIMEOUT", "0.2", 1);
  const auto gpu = runtime::make_virtual_gpu(2);
  ::unsetenv("SINTER_VIRTUAL_TIMEOUT");
  int* flag = static_cast<int*>(gpu->allocate(4));
  const int zero = 0;
  gpu->upload(flag, &zero, 4);
  const KernelSource plain =
      kernel_source("spin", "volatile int* flag;", "  if (threadIdx.x == 3)\n    while (!*p.flag) {}");
  const KernelSource fibres =
      kernel_source("spin_in_block", "volatile int* flag;",
                    "  __shared__ volatile int s;\n  s = 0;\n  __syncthreads();\n  if (threadIdx.x == 3)\n    while "
                    "(!s) {}\n  else\n    s = 0;\n  __syncthreads();");
  const KernelSource empty = kernel_source("spin_empty", "volatile int* flag;", "  for (;;) {}");
  for (const KernelSource& source : {plain, fibres, empty}) {
    const KernelHandle f = gpu->load(gpu->compile(source), source.name);
    EXPECT_THAT(error_of([&] { launch(*gpu, f, {4, 32}, flag); }),
                AllOf(HasSubstr("CUDA_ERROR_LAUNCH_TIMEOUT"), HasSubstr("kernel " + source.name + " on cuda:2"),
                      HasSubstr(source.name == "spin"            ? "line 4: while"
                                : source.name == "spin_in_block" ? "line 7: while"
                                                                 : ""),
                      HasSubstr("0.2 s of processor time"), HasSubstr("SINTER_VIRTUAL_TIMEOUT")))
        << source.text;
  }
  // Long launches of short blocks are no fault.
  const KernelSource busy =
      kernel_source("busy", "int* n;", "  for (volatile int i = 0; i < 200000; ++i) {}\n  atomicAdd(p.n, 1);");
  const KernelHandle f = gpu->load(gpu->compile(busy), "busy");
  launch(*gpu, f, {2000, 1}, flag);
  int n = 0;
  gpu->download(&n, flag, 4);
  EXPECT_EQ(n, 2000);
  gpu->deallocate(flag, 4);
}

TEST(VirtualFaults, TrapAndAssert) {
  Array<float> y(32);
  EXPECT_THAT(run(simple("traps", "  if (threadIdx.x == 7)\n    __trap();"), {1, 32}, y, y, 0),
              AllOf(HasSubstr("thread 7"), HasSubstr("line 4: __trap();")));
  EXPECT_THAT(run(simple("asserts", "  assert(threadIdx.x < 9 && p.n == 0);"), {1, 32}, y, y, 0),
              AllOf(HasSubstr("CUDA_ERROR_ASSERT"), HasSubstr("thread 9"),
                    HasSubstr("assert(threadIdx.x < 9 && p.n == 0) failed")));
  EXPECT_THAT(run(simple("traps_late", "  __syncthreads();\n  if (threadIdx.x == 7) __trap();\n  __syncthreads();"),
                  {3, 32}, y, y, 0),
              AllOf(HasSubstr("block 0 of 3, thread 7"), HasSubstr("line 4")));
}

TEST(VirtualFaults, IntegerDivisionByZero) {
  Array<float> y(32);
  EXPECT_THAT(run(simple("divides", "  p.y[0] = 7 / p.n;"), {1, 1}, y, y, 0),
              AllOf(HasSubstr("an integer division by zero"), HasSubstr("line 3")));
}

TEST(VirtualFaults, StackOverflow) {
  const TestKernel k(kernel_source("deep", "float* y; const float* x; long long n;",
                                   "  p.y[0] = deep_function((int)p.n);",
                                   "__device__ __noinline__ float deep_function(int n) { volatile float v[64]; v[n & "
                                   "63] = n; return n ? deep_function(n - 1) + v[n & 63] : 0; }"));
  Array<float> y(32);
  EXPECT_THAT(run(k, {1, 1}, y, y, 100000), HasSubstr("the thread's stack is full"));
  EXPECT_EQ(run(k, {1, 1}, y, y, 100), "no error");
}

TEST(VirtualFaults, AFrameThatIsLargerThanTheStack) {
  // It does not touch the pages between: past the guard page lies memory of others.
  const TestKernel k = simple("large_frame", "  volatile float v[20480];\n  v[p.n] = 1;\n  p.y[0] = v[p.n];");
  Array<float> y(32);
  EXPECT_THAT(run(k, {1, 1}, y, y, 0), HasSubstr("the thread's stack is full"));
}

TEST(VirtualFaults, FirstFaultOfManyBlocksAndThreads) {
  const TestKernel k =
      simple("many", "  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n  if (i >= p.n) p.y[i] = 0;");
  Array<float> y(1024);
  EXPECT_THAT(run(k, {100000, 1024}, y, y, 1024 * 99990LL), AllOf(HasSubstr("block 9999"), HasSubstr("past the end")));
}

TEST(VirtualFaults, DeviceWorksAfterFaults) {
  const TestKernel bad =
      simple("bad_after", "  __syncthreads();\n  if (threadIdx.x == p.n) p.y[1 << 20] = 1;\n  __syncthreads();");
  const TestKernel good = simple("good_after",
                                 "  __shared__ float s[64];\n  s[threadIdx.x] = p.x[threadIdx.x];\n  "
                                 "__syncthreads();\n  p.y[threadIdx.x] = s[63 - threadIdx.x] + p.n;");
  std::vector<float> values(64);
  for (int i = 0; i < 64; ++i) values[i] = static_cast<float>(i);
  Array<float> y(64), x(values);
  for (int i = 0; i < 200; ++i) {
    if (i % 3 == 0) {
      EXPECT_THAT(run(bad, {1, 64}, y, x, i % 64), HasSubstr(fmt::format("thread {} of 64", i % 64)));
    }
    good({1, 64}, y, x, static_cast<long long>(i));
    const std::vector<float> r = y.get();
    for (int t = 0; t < 64; ++t) ASSERT_EQ(r[t], static_cast<float>(63 - t + i));
  }
}

// A fault of the program itself is not a kernel's: the handler before ours gets it.
volatile std::sig_atomic_t seen_by_program = 0;
void program_handler(int) {
  seen_by_program = 1;
  std::_Exit(42);
}

TEST(VirtualFaultsDeathTest, FaultsOfTheProgramGoToItsOwnHandler) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, program_handler);
        virtual_gpu(0);
        Array<float> y(16);
        error_of([&] { simple("bad_first", "  p.y[1000] = 0;")({1, 1}, y, y, 0LL); });
        std::raise(SIGSEGV);
      },
      ::testing::ExitedWithCode(42), "");
}

TEST(VirtualFaultsDeathTest, FaultsOfTheProgramEndItWithoutAHandler) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, SIG_DFL);
        virtual_gpu(0);
        const Array<float> y(16);
        *reinterpret_cast<volatile float*>(reinterpret_cast<std::uintptr_t>(y.data()) + 256) = 0;
      },
      ::testing::KilledBySignal(SIGSEGV), "");
}

TEST(VirtualFaultsDeathTest, DeviceMemoryIsNotTheHosts) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, SIG_DFL);
        const Array<float> y(16);
        *static_cast<volatile float*>(y.data()) = 0;
      },
      ::testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace sinter::test

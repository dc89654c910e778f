// Several threads and two devices at once.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "virtual_harness.hpp"

namespace sinter::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(VirtualThreads, LaunchesOnTwoDevices) {
  const TestKernel sum(kernel_source("sum_threads", "float* y; const float* x; long long n;", R"(
  __shared__ float s[128];
  float v = 0;
  for (long long i = threadIdx.x; i < p.n; i += blockDim.x) v += p.x[blockIdx.x * p.n + i];
  s[threadIdx.x] = v;
  __syncthreads();
  for (unsigned o = 64; o; o >>= 1) {
    if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) p.y[blockIdx.x] = s[0];)"));
  const TestKernel add(kernel_source("add_threads", "float* y; const float* x; long long n;", R"(
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < p.n;
    i += (long long)gridDim.x * blockDim.x) p.y[i] = p.x[i] + 1;)"));
  const TestKernel bad(kernel_source("bad_threads", "float* y; long long n;", "  if (threadIdx.x == 3) p.y[p.n] = 0;"));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const int device = t % 2;
      GpuBackend& gpu = virtual_gpu(device);
      std::vector<float> values(100000);
      std::iota(values.begin(), values.end(), static_cast<float>(t));
      for (int i = 0; i < 30; ++i) {
        const Array<float> x(values, device), y(values.size(), device), z(100, device);
        launch(gpu, add.on(device), {200, 128}, y, x, static_cast<long long>(values.size()));
        launch(gpu, sum.on(device), {100, 128}, z, y, 1000LL);
        const std::vector<float> r = z.get();
        for (int b = 0; b < 100; ++b)
          ASSERT_NEAR(r[b], 1000.0 * (t + 1 + b * 1000) + 499500, 1.0 + b * 1000) << t << " " << b;
        EXPECT_THAT(error_of([&] { launch(gpu, bad.on(device), {1, 32}, z, 1LL << 20); }),
                    AllOf(HasSubstr(fmt::format("on cuda:{}", device)), HasSubstr("thread 3 of 32")));
      }
    });
  for (std::thread& t : threads) t.join();
}

TEST(VirtualThreads, OneKernelOnOneDevice) {
  const TestKernel k(
      kernel_source("shared_counter", "int* y;",
                    "  __shared__ int s;\n  if (threadIdx.x == 0) s = 0;\n  __syncthreads();\n  atomicAdd(&s, 1);\n  "
                    "__syncthreads();\n  if (threadIdx.x == 0) atomicAdd(p.y, s);"));
  const Array<int> y(std::vector<int>{0});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) k({50, 64}, y);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(y.get()[0], 4 * 20 * 50 * 64);
}

TEST(VirtualThreads, ThreadsThatComeAndGo) {
  const TestKernel k(kernel_source("come_and_go", "int* y;", "  __syncthreads();\n  atomicAdd(p.y, 1);"));
  const Array<int> y(std::vector<int>{0});
  for (int i = 0; i < 50; ++i) std::thread([&] { k({1, 32}, y); }).join();
  EXPECT_EQ(y.get()[0], 50 * 32);
}

/// Launches once more when its thread ends, after what the runtime keeps for the thread is gone.
struct Last {
  const TestKernel* kernel = nullptr;
  const Array<int>* y = nullptr;
  ~Last() {
    if (kernel) (*kernel)({1, 32}, *y);
  }
};

TEST(VirtualThreads, LaunchAtTheEndOfAThread) {
  const TestKernel k(kernel_source("at_the_end", "int* y;", "  __syncthreads();\n  atomicAdd(p.y, 1);"));
  const Array<int> y(std::vector<int>{0});
  std::thread([&] {
    static thread_local Last last;
    last.kernel = &k;
    last.y = &y;
    k({1, 32}, y);
  }).join();
  EXPECT_EQ(y.get()[0], 64);
}

TEST(VirtualThreads, CompileAndLoadConcurrently) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const TestKernel k(kernel_source(fmt::format("compiled_by_{}", t), "int* y;", fmt::format("  *p.y = {};", t)));
      const Array<int> y(1);
      k({1, 1}, y);
      right += y.get()[0] == t;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, 4);
}

#if !defined(__SANITIZE_THREAD__)  // which forbids threads after a fork
TEST(VirtualThreads, ChildrenOfAForkHaveATimeLimitToo) {
  ::setenv("SINTER_VIRTUAL_TIMEOUT", "0.2", 1);
  const auto gpu = runtime::make_virtual_gpu(2);
  ::unsetenv("SINTER_VIRTUAL_TIMEOUT");
  const KernelSource source = kernel_source("spin_in_child", "volatile int* flag;", "  while (*p.flag) {}");
  const KernelHandle f = gpu->load(gpu->compile(source), source.name);
  int* flag = static_cast<int*>(gpu->allocate(4));
  const auto spin = [&] { return error_of([&] { launch(*gpu, f, {1, 1}, flag); }); };
  EXPECT_THAT(spin(), HasSubstr("CUDA_ERROR_LAUNCH_TIMEOUT"));
  const pid_t child = ::fork();
  if (child == 0) std::_Exit(spin().find("CUDA_ERROR_LAUNCH_TIMEOUT") != std::string::npos ? 0 : 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  gpu->deallocate(flag, 4);
}
#endif

}  // namespace
}  // namespace sinter::test

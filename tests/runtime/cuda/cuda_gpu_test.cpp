// The CUDA backend on a driver made for tests, whose streams put work off and whose failures are ordered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include <runtime/cuda/cuda_gpu.hpp>
#include <runtime/cuda/driver.hpp>
#include <runtime/streams.hpp>
#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/error.hpp>

#include "fake_gpus.hpp"

namespace {

using sinter::Device;
using sinter::runtime::backend;
using sinter::runtime::BinaryRefused;
using sinter::runtime::Function;
using sinter::runtime::GpuBackend;
using sinter::runtime::Launch;
using sinter::runtime::make_cuda_gpu;
using sinter::runtime::wait_for;
using sinter::testing::fake;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::size_t mib = std::size_t(1) << 20;

/// Each test has GPUs of its own, which must leave nothing behind.
class CudaGpu : public testing::Test {
 protected:
  void SetUp() override {
    fake() = fake_cuda::Control{};
    ASSERT_EQ(sinter::runtime::cuda_gpu_count(), 2);
  }
  void TearDown() override {
    gpus_.clear();
    EXPECT_EQ(fake().blocks, 0);
    EXPECT_EQ(fake().objects, 0);
  }
  GpuBackend& gpu(int index = 0) {
    gpus_.push_back(make_cuda_gpu(index));
    return *gpus_.back();
  }
  static void fail(const char* call, int result, int after = 0, bool once = true) {
    fake().fail_call = call;
    fake().fail_result = result;
    fake().fail_after = after;
    fake().fail_once = once;
  }

  std::vector<std::unique_ptr<GpuBackend>> gpus_;
};

std::vector<float> counted(std::size_t n) {
  std::vector<float> v(n);
  std::iota(v.begin(), v.end(), 0.f);
  return v;
}

std::vector<float> fetch(GpuBackend& g, const void* data, std::size_t n) {
  std::vector<float> v(n);
  g.download(v.data(), data, 4 * n);
  return v;
}

TEST_F(CudaGpu, Facts) {
  GpuBackend& g = gpu(1);
  EXPECT_EQ(g.device(), Device(1));
  EXPECT_EQ(g.name(), "Fake GPU 1");
  EXPECT_EQ(g.architecture(), 90);
  EXPECT_EQ(g.multiprocessors(), 132);
  EXPECT_EQ(g.memory().total, 64 * mib);
  EXPECT_THAT(g.binary_tag(), testing::StartsWith("sm_90"));
}

TEST_F(CudaGpu, UploadsDoNotNeedTheBufferAfterwards) {
  GpuBackend& g = gpu();
  // Sizes around a piece of the ring, and several times round it.
  for (const std::size_t n : {std::size_t(1), std::size_t(255), mib / 2, mib / 2 + 1, 3 * mib, 7 * mib + 3}) {
    void* data = g.allocate(4 * n);
    std::vector<float> source = counted(n);
    g.upload(data, source.data(), 4 * n);
    std::ranges::fill(source, -1.f);
    EXPECT_TRUE(fetch(g, data, n) == counted(n)) << n;
    g.deallocate(data, 4 * n);
  }
}

TEST_F(CudaGpu, ManySmallUploadsShareTheRing) {
  GpuBackend& g = gpu();
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::vector<std::pair<void*, std::size_t>> blocks;
  for (int i = 0; i < 600; ++i) {
    const std::size_t n = 1 + random() % 20000;
    std::vector<float> source(n, static_cast<float>(i));
    blocks.emplace_back(g.allocate(4 * n), n);
    g.upload(blocks.back().first, source.data(), 4 * n);
  }
  const int waits = fake().calls["cuStreamSynchronize"];
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto [data, n] = blocks[i];
    ASSERT_TRUE(fetch(g, data, n) == std::vector<float>(n, static_cast<float>(i))) << i;
    g.deallocate(data, 4 * n);
  }
  EXPECT_EQ(waits, 0);  // no upload waited for all of the stream
  EXPECT_LT(fake().calls["cuEventCreate"], 600);
}

TEST_F(CudaGpu, WithoutPageLockedMemoryUploadsWait) {
  fail("cuMemHostAlloc", 2);
  GpuBackend& g = gpu();
  void* data = g.allocate(4000);
  std::vector<float> source = counted(1000);
  g.upload(data, source.data(), 4000);
  std::ranges::fill(source, -1.f);
  EXPECT_TRUE(fetch(g, data, 1000) == counted(1000));
  g.deallocate(data, 4000);
}

TEST_F(CudaGpu, LaunchesPassPackedWords) {
  GpuBackend& g = gpu();
  const Function f = g.load("FAKE other fake_add_one", "fake_add_one");
  constexpr std::size_t n = 1000;
  void *in = g.allocate(4 * n), *out = g.allocate(4 * n);
  g.upload(in, counted(n).data(), 4 * n);
  const std::uint64_t words[] = {reinterpret_cast<std::uint64_t>(out), reinterpret_cast<std::uint64_t>(in), n};
  g.launch({.function = f, .grid = 8, .block = 128, .shared = 0, .words = words, .pointers = 2});
  std::vector<float> expected = counted(n);
  for (float& x : expected) ++x;
  EXPECT_TRUE(fetch(g, out, n) == expected);
  ASSERT_EQ(fake().launches.size(), 1u);
  const fake_cuda::Launch& launch = fake().launches[0];
  EXPECT_EQ(launch.kernel, "fake_add_one");
  EXPECT_THAT(launch.grid, testing::ElementsAre(8, 1, 1));
  EXPECT_THAT(launch.block, testing::ElementsAre(128, 1, 1));
  EXPECT_THAT(launch.words, testing::ElementsAreArray(words));
  g.deallocate(in, 4 * n);
  g.deallocate(out, 4 * n);
}

TEST_F(CudaGpu, LargeSharedMemoryIsAskedFor) {
  GpuBackend& g = gpu();
  const Function f = g.load("FAKE k", "k");
  EXPECT_NO_THROW(g.launch({.function = f, .grid = 1, .block = 32, .shared = 200 * 1024, .words = {}}));
  EXPECT_THAT([&] { g.launch({.function = f, .grid = 1, .block = 32, .shared = 300 * 1024, .words = {}}); },
              ThrowsMessage<sinter::CudaError>(AllOf(HasSubstr("cuLaunchKernel"), HasSubstr("307200 bytes"))));
}

TEST_F(CudaGpu, SharedVariablesCountToo) {
  fake().static_shared = 8 * 1024;
  GpuBackend& g = gpu();
  const Function f = g.load("FAKE k", "k");
  const auto launch = [&](unsigned shared) { g.launch({.function = f, .shared = shared, .words = {}}); };
  EXPECT_NO_THROW(launch(44 * 1024));  // with the variables more than the 48 KiB that need no permission
  EXPECT_NO_THROW(launch(219 * 1024));
  EXPECT_THROW(launch(219 * 1024 + 1), sinter::CudaError);
}

TEST_F(CudaGpu, ThreadsAskForDifferentSharedMemory) {
  GpuBackend& g = gpu();
  const Function f = g.load("FAKE k", "k");
  std::vector<std::thread> threads;
  for (const unsigned shared : {200u * 1024, 60u * 1024})
    threads.emplace_back([&, shared] {
      for (int i = 0; i < 2000; ++i) ASSERT_NO_THROW(g.launch({.function = f, .shared = shared, .words = {}}));
    });
  for (std::thread& t : threads) t.join();
}

TEST_F(CudaGpu, AFailedLaunchNamesKernelAndShape) {
  GpuBackend& g = gpu(1);
  const Function f = g.load("FAKE sinter_add", "sinter_add");
  const std::uint64_t words[] = {1, 2};
  EXPECT_THAT([&] { g.launch({.function = f, .grid = 3, .block = 2048, .shared = 16, .words = words}); },
              ThrowsMessage<sinter::CudaError>(
                  "CUDA error: cuLaunchKernel on cuda:1 (Fake GPU 1) failed with CUDA_ERROR_INVALID_VALUE (1): invalid "
                  "argument; kernel sinter_add, 3 blocks of 2048 threads, 16 bytes of shared memory, 16 bytes of "
                  "parameters"));
}

TEST_F(CudaGpu, BinariesThatDoNotLoad) {
  GpuBackend& g = gpu();
  EXPECT_THAT([&] { g.load("rubbish", "k"); },
              ThrowsMessage<sinter::CudaError>(
                  AllOf(HasSubstr("cuModuleLoadDataEx"), HasSubstr("kernel k"), HasSubstr("this is no binary"))));
  EXPECT_THAT([&] { g.load("FAKE a b", "c"); },
              ThrowsMessage<BinaryRefused>(AllOf(HasSubstr("cuModuleGetFunction"), HasSubstr("kernel c"))));
  EXPECT_THROW(g.load("rubbish", "k"), BinaryRefused);
  for (const int elsewhere : {2, 4, 700, 900}) {  // no memory, no driver, no context, a capture: not the binary's fault
    fail("cuModuleLoadDataEx", elsewhere, 0, elsewhere != 2);
    try {
      g.load("FAKE k", "k");
      ADD_FAILURE() << elsewhere;
    } catch (const BinaryRefused&) {
      ADD_FAILURE() << elsewhere;
    } catch (const sinter::Error&) {
    }
  }
}

TEST_F(CudaGpu, MemoryIsKeptAndReturnedBeforeItRunsOut) {
  GpuBackend& g = gpu();
  for (int i = 0; i < 100; ++i) g.deallocate(g.allocate(20 * mib), 20 * mib);
  EXPECT_EQ(fake().calls["cuMemAllocAsync"], 1);
  EXPECT_EQ(fake().calls["cuMemFreeAsync"], 0);
  std::vector<void*> held{g.allocate(20 * mib), g.allocate(20 * mib)};
  g.deallocate(held[1], 20 * mib);
  held[1] = g.allocate(40 * mib);  // fits once the cached 20 MiB are back, which takes a wait
  EXPECT_EQ(fake().calls["cuMemFreeAsync"], 1);
  EXPECT_GE(fake().calls["cuStreamSynchronize"], 1);
  EXPECT_THAT([&] { g.allocate(5 * mib); },
              ThrowsMessage<sinter::OutOfMemory>(AllOf(HasSubstr("out of memory on cuda:0: 5.00 MiB asked for"),
                                                       HasSubstr("60.00 MiB in use"), HasSubstr("64.00 MiB in all"))));
  g.deallocate(held[0], 20 * mib);
  g.deallocate(held[1], 40 * mib);
}

TEST_F(CudaGpu, ADriverWithoutMemoryPools) {
  fake().memory_pools = false;
  GpuBackend& g = gpu();
  void* data = g.allocate(60 * mib);
  g.deallocate(data, 60 * mib);
  data = g.allocate(48 * mib);
  g.deallocate(data, 48 * mib);
  EXPECT_EQ(fake().calls["cuMemAllocAsync"], 0);
  EXPECT_EQ(fake().calls["cuMemAlloc_v2"], 3);
  EXPECT_EQ(fake().calls["cuMemFree_v2"], 1);
}

TEST_F(CudaGpu, AMemoryErrorThatIsNoLackOfMemory) {
  GpuBackend& g = gpu();
  fail("cuMemAllocAsync", 1);
  EXPECT_THAT([&] { g.allocate(1000); },
              ThrowsMessage<sinter::CudaError>(AllOf(HasSubstr("cuMemAllocAsync"), HasSubstr("1024 bytes"))));
  g.deallocate(g.allocate(1000), 1000);
}

TEST_F(CudaGpu, LoadingReturnsCachedMemoryFirst) {
  GpuBackend& g = gpu();
  g.deallocate(g.allocate(mib), mib);
  fail("cuModuleLoadDataEx", 2);
  EXPECT_NO_THROW(g.load("FAKE k", "k"));
  EXPECT_EQ(fake().blocks, 0);
  fail("cuModuleLoadDataEx", 2, 0, false);
  EXPECT_THAT([&] { g.load("FAKE k", "k"); },
              ThrowsMessage<sinter::OutOfMemory>(HasSubstr("CUDA_ERROR_OUT_OF_MEMORY")));
}

// As CUDA loads lazily, a kernel may take its memory only then.
TEST_F(CudaGpu, FirstUsesOfAKernelReturnCachedMemoryFirst) {
  GpuBackend& g = gpu();
  for (const char* call : {"cuModuleGetFunction", "cuFuncGetAttribute", "cuFuncSetAttribute", "cuLaunchKernel"})
    for (const bool once : {true, false}) {
      g.deallocate(g.allocate(mib), mib);
      fail(call, 2, 0, once);
      const auto use = [&] { g.launch({.function = g.load("FAKE k", "k"), .words = {}}); };
      if (once)
        EXPECT_NO_THROW(use()) << call;
      else
        EXPECT_THAT(use, ThrowsMessage<sinter::OutOfMemory>(AllOf(HasSubstr("kernel k"), HasSubstr("on cuda:0"))))
            << call;
      EXPECT_EQ(fake().blocks, 0) << call;
      fake().fail_call.clear();
    }
}

TEST_F(CudaGpu, AnUploadThatFailsHalfwayLeavesTheRingInOrder) {
  constexpr std::size_t piece = mib / 2;  // floats; four pieces fill the ring
  GpuBackend& g = gpu();
  std::vector<void*> data;
  for (int i = 0; i < 5; ++i) data.push_back(g.allocate(4 * piece));
  const std::vector<float> before(piece, -1.f), after(piece, -2.f);
  for (const char* call : {"cuEventCreate", "cuEventRecord"}) {
    fail(call, 1);
    EXPECT_THROW(g.upload(data[0], before.data(), 4 * piece), sinter::CudaError);
    for (int i = 1; i < 5; ++i) g.upload(data[i], after.data(), 4 * piece);  // once round the ring
    const float first = fetch(g, data[0], piece)[0];
    EXPECT_NE(first, -2.f) << call << ": got what came later";
  }
  for (void* p : data) g.deallocate(p, 4 * piece);
}

TEST_F(CudaGpu, CopiesBetweenGpusInOrderWithBoth) {
  GpuBackend &a = gpu(0), &b = gpu(1);
  auto &on_a = a.streams()->standard(), &on_b = b.streams()->standard();
  constexpr std::size_t n = 5000;
  const Function add = a.load("FAKE fake_add_one", "fake_add_one");
  std::vector<float> expected = counted(n);
  for (float& v : expected) ++v;
  for (const bool source_first : {false, true}) {
    void *x = a.allocate(4 * n), *y = b.allocate(4 * n);
    const std::uint64_t words[] = {reinterpret_cast<std::uint64_t>(x), reinterpret_cast<std::uint64_t>(x), n};
    a.upload(x, counted(n).data(), 4 * n);
    a.launch({.function = add, .words = words});
    wait_for(on_b, on_a);  // the copy is after the kernel on a
    b.copy(y, x, 4 * n, a);
    wait_for(on_a, on_b);
    a.upload(x, std::vector<float>(n, -5.f).data(), 4 * n);  // after the copy
    a.deallocate(x, 4 * n);
    if (source_first) a.synchronize();
    EXPECT_TRUE(fetch(b, y, n) == expected) << source_first;
    a.synchronize();
    b.deallocate(y, 4 * n);
  }
}

TEST_F(CudaGpu, GpusReachEachOthersMemoryWhereTheyCan) {
  for (const bool peers : {true, false}) {
    fake().peers = peers;
    fake().calls.clear();
    GpuBackend &a = gpu(0), &b = gpu(1);
    void *x = a.allocate(400), *y = b.allocate(400);
    a.upload(x, counted(100).data(), 400);
    a.synchronize();
    for (int i = 0; i < 3; ++i) b.copy(y, x, 400, a);
    EXPECT_TRUE(fetch(b, y, 100) == counted(100));
    EXPECT_EQ(fake().calls["cuDeviceCanAccessPeer"], 1);
    EXPECT_EQ(fake().calls["cuCtxEnablePeerAccess"], peers);
    EXPECT_EQ(fake().calls["cuMemPoolSetAccess"], peers);
    EXPECT_EQ(fake().calls["cuMemcpyPeerAsync"], 3);
    a.deallocate(x, 400);
    b.deallocate(y, 400);
  }
}

TEST_F(CudaGpu, CopiesWithoutDirectAccessGoOn) {
  for (const char* call :
       {"cuDeviceCanAccessPeer", "cuCtxEnablePeerAccess", "cuDeviceGetDefaultMemPool", "cuMemPoolSetAccess"}) {
    GpuBackend &a = gpu(0), &b = gpu(1);
    void *x = a.allocate(400), *y = b.allocate(400);
    a.upload(x, counted(100).data(), 400);
    a.synchronize();
    fail(call, 704);
    EXPECT_NO_THROW(b.copy(y, x, 400, a)) << call;
    EXPECT_TRUE(fetch(b, y, 100) == counted(100)) << call;
    a.deallocate(x, 400);
    b.deallocate(y, 400);
  }
}

TEST_F(CudaGpu, CopiesWithinADeviceAndFromOtherKinds) {
  GpuBackend& g = gpu();
  void *x = g.allocate(400), *y = g.allocate(400);
  g.upload(x, counted(100).data(), 400);
  g.copy(y, x, 400, g);
  EXPECT_TRUE(fetch(g, y, 100) == counted(100));
  EXPECT_THAT([&] { g.copy(y, x, 400, backend(sinter::cpu)); },
              ThrowsMessage<sinter::DeviceError>(AllOf(HasSubstr("from cpu to cuda:0"), HasSubstr("400 bytes"))));
  g.deallocate(x, 400);
  g.deallocate(y, 400);
}

/// Uses a GPU on a thread and puts its context check into words.
void use(GpuBackend& g) {
  void* data = g.allocate(400);
  g.upload(data, counted(100).data(), 400);
  EXPECT_TRUE(fetch(g, data, 100) == counted(100));
  g.deallocate(data, 400);
}

TEST_F(CudaGpu, AnyThreadAndAnyContext) {
  GpuBackend &a = gpu(0), &b = gpu(1);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) use(i % 3 ? a : b);
    });
  for (std::thread& t : threads) t.join();

  // A context that another library made current stays current.
  const auto& driver = sinter::runtime::driver::opened().functions;
  sinter::runtime::driver::CUcontext theirs = nullptr, after = nullptr;
  driver.cuDevicePrimaryCtxRetain(&theirs, 1);
  driver.cuCtxSetCurrent(theirs);
  use(a);
  driver.cuCtxGetCurrent(&after);
  EXPECT_EQ(after, theirs);
  fail("cuMemcpyHtoDAsync_v2", 1);
  void* data = a.allocate(4);
  EXPECT_THROW(a.upload(data, &data, 4), sinter::CudaError);
  a.deallocate(data, 4);
  driver.cuCtxGetCurrent(&after);
  EXPECT_EQ(after, theirs);
  driver.cuCtxSetCurrent(nullptr);
  driver.cuDevicePrimaryCtxRelease(1);
}

TEST_F(CudaGpu, SmallUploadsBesideOnesThatFillTheRing) {
  GpuBackend& g = gpu();
  const auto upload = [&g](std::size_t n, int times) {
    void* data = g.allocate(4 * n);
    for (int i = 0; i < times; ++i) {
      const std::vector<float> values(n, static_cast<float>(i));
      g.upload(data, values.data(), 4 * n);
      EXPECT_TRUE(fetch(g, data, n) == values) << n << " " << i;
    }
    g.deallocate(data, 4 * n);
  };
  std::thread small(upload, 1000, 400), large(upload, 3 * mib, 8);
  small.join();
  large.join();
}

TEST_F(CudaGpu, OneThreadRunsOutOfMemoryWhileOthersAllocate) {
  GpuBackend& g = gpu();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) use(g);
    });
  for (int i = 0; i < 50; ++i) EXPECT_THROW(g.allocate(100 * mib), sinter::OutOfMemory);
  for (std::thread& t : threads) t.join();
}

TEST_F(CudaGpu, AGpuThatDoesNotStartLeavesNothingBehind) {
  for (const char* call : {"cuDeviceGet", "cuDeviceGetName", "cuDevicePrimaryCtxRetain", "cuStreamCreate"}) {
    fail(call, 46);
    EXPECT_THAT([&] { make_cuda_gpu(0); }, ThrowsMessage<sinter::CudaError>(AllOf(HasSubstr(call), HasSubstr("(46)"))));
  }
}

TEST_F(CudaGpu, EveryCallsFailureIsReported) {
  struct Case {
    const char* call;
    void (*use)(GpuBackend&, void*);
  };
  static std::vector<float> host(100);
  const Case cases[] = {
      {"cuMemcpyHtoDAsync_v2", [](GpuBackend& g, void* data) { g.upload(data, host.data(), 400); }},
      {"cuEventRecord", [](GpuBackend& g, void* data) { g.upload(data, host.data(), 400); }},
      {"cuMemcpyDtoHAsync_v2", [](GpuBackend& g, void* data) { g.download(host.data(), data, 400); }},
      {"cuStreamSynchronize", [](GpuBackend& g, void* data) { g.download(host.data(), data, 400); }},
      {"cuStreamSynchronize", [](GpuBackend& g, void*) { g.synchronize(); }},
      {"cuMemcpyDtoDAsync_v2", [](GpuBackend& g, void* data) { g.copy(data, static_cast<char*>(data) + 400, 400, g); }},
      {"cuMemGetInfo_v2", [](GpuBackend& g, void*) { g.memory(); }},
      {"cuCtxGetCurrent", [](GpuBackend& g, void*) { g.synchronize(); }},
      {"cuOccupancyMaxActiveBlocksPerMultiprocessor",
       [](GpuBackend& g, void*) { EXPECT_EQ(g.resident_blocks(g.load("FAKE k", "k"), 256), 6); }},
  };
  GpuBackend& g = gpu();
  void* data = g.allocate(800);
  for (const Case& c : cases) {
    fail(c.call, 1);
    EXPECT_THAT([&] { c.use(g, data); },
                ThrowsMessage<sinter::CudaError>(AllOf(HasSubstr("on cuda:0"), HasSubstr("CUDA_ERROR_INVALID_VALUE"))))
        << c.call;
    EXPECT_NO_THROW(c.use(g, data)) << c.call;
  }
  g.deallocate(data, 800);
}

TEST_F(CudaGpu, CompilesForItsArchitecture) {
  GpuBackend& g = gpu();
  std::string binary;
  try {
    binary = g.compile({"k", "extern \"C\" __global__ void k(float* x) { x[threadIdx.x] += 1.f; }"});
  } catch (const sinter::DeviceError& e) {
    GTEST_SKIP() << e.what();
  }
  // The driver is CUDA 12.8 here: with a newer NVRTC only a cubin will load.
  EXPECT_EQ(binary.substr(1, 3), "ELF");
  EXPECT_THROW(g.compile({"k", "nonsense"}), sinter::CompileError);
}

TEST_F(CudaGpu, TooOldForTheKernels) {
  fake().capability = 61;
  EXPECT_THAT([] { make_cuda_gpu(0); }, ThrowsMessage<sinter::DeviceError>(AllOf(HasSubstr("cuda:0 (Fake GPU 0)"),
                                                                                 HasSubstr("6.1"), HasSubstr("7.0"))));
}

TEST(CudaDriverDeathTest, TooOldForTheParameters) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // the driver is asked once
  EXPECT_EXIT(
      {
        fake().version = 12000;
        std::fprintf(stderr, "%d GPUs: %s\n", sinter::runtime::cuda_gpu_count(),
                     sinter::runtime::cuda_unavailable_reason().c_str());
        std::_Exit(5);
      },
      testing::ExitedWithCode(5),
      "0 GPUs: the CUDA driver /.*sinter_fake_cuda.so is too old: it is of CUDA 12.0, and 12.1");
  testing::FLAGS_gtest_death_test_style = "fast";
}

TEST(CudaDriverDeathTest, AnEmptyNameIsNone) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        setenv("SINTER_CUDA_DRIVER", "", 1);
        std::fprintf(stderr, "%s\n", sinter::runtime::cuda_unavailable_reason().c_str());
        std::_Exit(5);
      },
      testing::ExitedWithCode(5), "libcuda.so.1|^\n");
  testing::FLAGS_gtest_death_test_style = "fast";
}

using CudaGpuDeathTest = CudaGpu;

TEST_F(CudaGpuDeathTest, AKernelsFaultShowsLaterAndNamesTheKernel) {
  // The device is lost, so this is a process of its own.
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        GpuBackend& g = *make_cuda_gpu(0).release();
        g.launch({.function = g.load("FAKE fake_fault", "fake_fault"), .words = {}});
        void* data = g.allocate(8);
        try {
          g.synchronize();
        } catch (const sinter::CudaError& e) {
          g.deallocate(data, 8);
          std::fprintf(stderr, "%s\n", e.what());
          std::_Exit(5);
        }
      },
      testing::ExitedWithCode(5), "cuStreamSynchronize.*ILLEGAL_ADDRESS.*the last one launched here was fake_fault");
  testing::FLAGS_gtest_death_test_style = "fast";
}

TEST_F(CudaGpu, EveryErrorThatLosesTheDeviceNamesTheKernel) {
  GpuBackend& g = gpu();
  for (const int lost : {214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721}) {
    fail("cuStreamSynchronize", lost);
    EXPECT_THAT([&] { g.synchronize(); }, ThrowsMessage<sinter::CudaError>(
                                              AllOf(HasSubstr("CUDA reports this late"), HasSubstr("context is lost"))))
        << lost;
  }
}

TEST_F(CudaGpuDeathTest, AForkedChildLearnsWhy) {
  GpuBackend& g = gpu();
  EXPECT_EXIT(
      try { g.synchronize(); } catch (const sinter::CudaError& e) {
        std::fprintf(stderr, "%s\n", e.what());
        std::_Exit(5);
      },
      testing::ExitedWithCode(5), "forked after CUDA had started");
}

TEST_F(CudaGpuDeathTest, AForkedChildMayLetGoOfItsParentsMemory) {
  GpuBackend& g = gpu();
  void* data = g.allocate(mib);
  EXPECT_EXIT(
      {
        fake().calls.clear();
        g.deallocate(data, mib);
        std::_Exit(fake().calls.empty() ? 5 : 1);
      },
      testing::ExitedWithCode(5), "");
  g.deallocate(data, mib);
}

TEST_F(CudaGpu, TheRegistryUsesThem) {
  EXPECT_EQ(sinter::device_count(), 2);
  EXPECT_EQ(sinter::device_name(1), "Fake GPU 1");
  EXPECT_EQ(sinter::compute_capability(0).major, 9);
  EXPECT_EQ(sinter::try_gpu(1), Device(1));
  EXPECT_THAT([] { backend(Device(2)); }, ThrowsMessage<sinter::DeviceError>(
                                              "CUDA error: invalid device ordinal: cuda:2 was asked for, but there are "
                                              "2 GPUs, cuda:0 to cuda:1"));
  sinter::synchronize();
  fake().objects = 0;  // the registry keeps its GPUs for ever
}

}  // namespace

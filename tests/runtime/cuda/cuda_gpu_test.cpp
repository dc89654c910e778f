// The CUDA backend on a driver made for tests, whose streams put work off and whose failures are ordered.
#include "own_gpus.hpp"

namespace sinter::testing {
namespace {

using runtime::BinaryRefused;
using CudaGpu = OwnGpus;

TEST_F(CudaGpu, Facts) {
  GpuBackend& g = gpu(1);
  EXPECT_EQ(g.device(), Device(1));
  EXPECT_EQ(g.name(), "Fake GPU 1");
  EXPECT_EQ(g.architecture(), 90);
  EXPECT_EQ(g.multiprocessors(), 132);
  EXPECT_DOUBLE_EQ(g.arithmetic_rate(DType::Float32), 132 * 128 * 2 * 1.98e9);
  EXPECT_DOUBLE_EQ(g.arithmetic_rate(DType::BFloat16), 132 * 128 * 2 * 1.98e9);
  EXPECT_DOUBLE_EQ(g.arithmetic_rate(DType::Float64), 132 * 64 * 2 * 1.98e9);
  EXPECT_EQ(g.arithmetic_rate(DType::Int32), 0);
  EXPECT_EQ(g.bandwidth(), 2 * 3.201e9 * 768);
  EXPECT_EQ(g.memory().total, 64 * mib);
  EXPECT_THAT(g.binary_tag(), ::testing::StartsWith("sm_90"));
}

TEST_F(CudaGpu, LaunchesPassPackedWords) {
  GpuBackend& g = gpu();
  const KernelHandle f = g.load("FAKE other fake_add_one", "fake_add_one");
  constexpr std::size_t n = 1000;
  void *in = g.allocate(4 * n), *out = g.allocate(4 * n);
  g.upload(in, counted(n).data(), 4 * n);
  const std::uint64_t words[] = {reinterpret_cast<std::uint64_t>(out), reinterpret_cast<std::uint64_t>(in), n};
  g.launch({.kernel = f.handle(), .grid = 8, .block = 128, .shared = 0, .words = words, .pointers = 2});
  std::vector<float> expected = counted(n);
  for (float& x : expected) ++x;
  EXPECT_TRUE(fetch(g, out, n) == expected);
  ASSERT_EQ(fake().launches.size(), 1u);
  const fake_cuda::Launch& launch = fake().launches[0];
  EXPECT_EQ(launch.kernel, "fake_add_one");
  EXPECT_THAT(launch.grid, ::testing::ElementsAre(8, 1, 1));
  EXPECT_THAT(launch.block, ::testing::ElementsAre(128, 1, 1));
  EXPECT_THAT(launch.words, ::testing::ElementsAreArray(words));
  g.deallocate(in, 4 * n);
  g.deallocate(out, 4 * n);
}

TEST_F(CudaGpu, KernelsAreUnloadedWhenTheirWorkIsDone) {
  GpuBackend& g = gpu();
  const auto unloads = [] { return fake().calls["cuModuleUnload"]; };
  {
    const KernelHandle f = g.load("FAKE k", "k"), copy = f;
    g.launch({.kernel = f.handle(), .words = {}});
  }
  EXPECT_EQ(unloads(), 0);
  g.load("FAKE other", "other");  // looks again: the work is not done
  EXPECT_EQ(unloads(), 0);
  g.synchronize();
  EXPECT_EQ(unloads(), 2);
  EXPECT_EQ(fake().busy_unloads, 0);
}

TEST_F(CudaGpu, KernelsOfOtherStreamsAreWaitedFor) {
  GpuBackend& g = gpu();
  const runtime::StreamRef own = g.streams()->create();
  {
    const KernelHandle f = g.load("FAKE k", "k");
    const runtime::CurrentStream guard(own);
    g.launch({.kernel = f.handle(), .words = {}});
  }
  g.streams()->synchronize(g.streams()->standard());
  g.trim();
  EXPECT_EQ(fake().calls["cuModuleUnload"], 0);
  g.streams()->synchronize(*own);
  g.trim();
  EXPECT_EQ(fake().calls["cuModuleUnload"], 1);
  EXPECT_EQ(fake().busy_unloads, 0);
}

TEST_F(CudaGpu, KernelsOfAGraphStayAsLongAsIt) {
  GpuBackend& g = gpu();
  void* const stream = g.streams()->standard().native;
  g.streams()->standard().may_capture = true;
  {
    const KernelHandle f = g.load("FAKE k", "k");
    fake().capturing.insert(stream);
    g.launch({.kernel = f.handle(), .words = {}});
    g.launch({.kernel = f.handle(), .words = {}});
  }
  g.trim();
  EXPECT_EQ(fake().calls["cuModuleUnload"], 0);
  fake().capturing.erase(stream);
  std::shared_ptr<fake_cuda::Graph> graph = std::exchange(fake().graphs[stream], nullptr);
  EXPECT_EQ(graph->at_end.size(), 1u);
  g.synchronize();
  EXPECT_EQ(fake().calls["cuModuleUnload"], 0);
  graph.reset();
  g.synchronize();
  EXPECT_EQ(fake().calls["cuModuleUnload"], 1);
  EXPECT_EQ(fake().busy_unloads, 0);
}

TEST_F(CudaGpu, LargeSharedMemoryIsAskedFor) {
  GpuBackend& g = gpu();
  const KernelHandle f = g.load("FAKE k", "k");
  EXPECT_NO_THROW(g.launch({.kernel = f.handle(), .grid = 1, .block = 32, .shared = 200 * 1024, .words = {}}));
  EXPECT_THAT([&] { g.launch({.kernel = f.handle(), .grid = 1, .block = 32, .shared = 300 * 1024, .words = {}}); },
              ThrowsMessage<sinter::CudaError>(AllOf(HasSubstr("cuLaunchKernel"), HasSubstr("307200 bytes"))));
}

TEST_F(CudaGpu, SharedMemoryOfABlockIsTheDrivers) {
  EXPECT_EQ(gpu().shared_per_block(), 227 * 1024);
  fake().shared_per_block = 64 * 1024;
  GpuBackend& g = gpu();
  EXPECT_EQ(g.shared_per_block(), 64 * 1024);
  const KernelHandle f = g.load("FAKE k", "k");
  const auto launch = [&](unsigned shared) { g.launch({.kernel = f.handle(), .shared = shared, .words = {}}); };
  EXPECT_NO_THROW(launch(64 * 1024));
  EXPECT_THAT([&] { launch(64 * 1024 + 16); }, ThrowsMessage<CudaError>(HasSubstr("cuLaunchKernel")));
}

TEST_F(CudaGpu, SharedVariablesCountToo) {
  fake().static_shared = 8 * 1024;
  GpuBackend& g = gpu();
  const KernelHandle f = g.load("FAKE k", "k");
  const auto launch = [&](unsigned shared) { g.launch({.kernel = f.handle(), .shared = shared, .words = {}}); };
  EXPECT_NO_THROW(launch(44 * 1024));  // with the variables more than the 48 KiB that need no permission
  EXPECT_NO_THROW(launch(219 * 1024));
  EXPECT_THROW(launch(219 * 1024 + 1), sinter::CudaError);
}

TEST_F(CudaGpu, ThreadsAskForDifferentSharedMemory) {
  GpuBackend& g = gpu();
  const KernelHandle f = g.load("FAKE k", "k");
  std::vector<std::thread> threads;
  for (const unsigned shared : {200u * 1024, 60u * 1024})
    threads.emplace_back([&, shared] {
      for (int i = 0; i < 2000; ++i) ASSERT_NO_THROW(g.launch({.kernel = f.handle(), .shared = shared, .words = {}}));
    });
  for (std::thread& t : threads) t.join();
}

TEST_F(CudaGpu, AFailedLaunchNamesKernelAndShape) {
  GpuBackend& g = gpu(1);
  const KernelHandle f = g.load("FAKE sinter_add", "sinter_add");
  const std::uint64_t words[] = {1, 2};
  EXPECT_THAT([&] { g.launch({.kernel = f.handle(), .grid = 3, .block = 2048, .shared = 16, .words = words}); },
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

TEST_F(CudaGpu, TheRegistryUsesThem) {
  EXPECT_EQ(sinter::device_count(), 2);
  EXPECT_EQ(sinter::device_name(1), "Fake GPU 1");
  EXPECT_EQ(sinter::compute_capability(0).major, 9);
  EXPECT_EQ(sinter::try_gpu(1), Device(1));
  EXPECT_THAT([] { backend(Device(2)); }, ThrowsMessage<sinter::DeviceError>(
                                              "CUDA error: invalid device ordinal: cuda:2 was requested, but there are "
                                              "2 GPUs, cuda:0 to cuda:1"));
  sinter::synchronize();
  fake().objects = 0;  // the registry keeps its GPUs for ever
}

}  // namespace
}  // namespace sinter::testing

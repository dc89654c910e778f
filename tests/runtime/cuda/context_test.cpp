// Failures of the driver, on one made for tests that fails the call that a test names.
#include "own_gpus.hpp"

namespace sinter::testing {
namespace {

using Context = OwnGpus;

TEST_F(Context, AGpuThatDoesNotStartLeavesNothingBehind) {
  for (const char* call : {"cuDeviceGet", "cuDeviceGetName", "cuDevicePrimaryCtxRetain", "cuStreamCreate"}) {
    fail(call, 46);
    EXPECT_THAT([&] { make_cuda_gpu(0); }, ThrowsMessage<sinter::CudaError>(AllOf(HasSubstr(call), HasSubstr("(46)"))));
  }
}

TEST_F(Context, EveryCallsFailureIsReported) {
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

TEST_F(Context, TooOldForTheKernels) {
  fake().capability = 61;
  EXPECT_THAT([] { make_cuda_gpu(0); }, ThrowsMessage<sinter::DeviceError>(AllOf(HasSubstr("cuda:0 (Fake GPU 0)"),
                                                                                 HasSubstr("6.1"), HasSubstr("7.0"))));
}

TEST(DriverDeathTest, TooOldForTheParameters) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";  // the driver is asked once
  EXPECT_EXIT(
      {
        fake().version = 12000;
        std::fprintf(stderr, "%d GPUs: %s\n", sinter::runtime::cuda_gpu_count(),
                     sinter::runtime::cuda_unavailable_reason().c_str());
        std::_Exit(5);
      },
      ::testing::ExitedWithCode(5),
      "0 GPUs: the CUDA driver /.*sinter_fake_cuda.so is too old: it supports CUDA 12.0, and 12.1");
  ::testing::FLAGS_gtest_death_test_style = "fast";
}

TEST(DriverDeathTest, AnEmptyNameIsNone) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        setenv("SINTER_CUDA_DRIVER", "", 1);
        std::fprintf(stderr, "%s\n", sinter::runtime::cuda_unavailable_reason().c_str());
        std::_Exit(5);
      },
      ::testing::ExitedWithCode(5), "libcuda.so.1|^\n");
  ::testing::FLAGS_gtest_death_test_style = "fast";
}

using ContextDeathTest = OwnGpus;

TEST_F(ContextDeathTest, AKernelsFaultShowsLaterAndNamesTheKernel) {
  // The device is lost, so this is a process of its own.
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        GpuBackend& g = *make_cuda_gpu(0).release();
        g.launch({.kernel = g.load("FAKE fake_fault", "fake_fault").handle(), .words = {}});
        void* data = g.allocate(8);
        try {
          g.synchronize();
        } catch (const sinter::CudaError& e) {
          g.deallocate(data, 8);
          std::fprintf(stderr, "%s\n", e.what());
          std::_Exit(5);
        }
      },
      ::testing::ExitedWithCode(5), "cuStreamSynchronize.*ILLEGAL_ADDRESS.*the last one launched here was fake_fault");
  ::testing::FLAGS_gtest_death_test_style = "fast";
}

TEST_F(Context, EveryErrorThatLosesTheDeviceNamesTheKernel) {
  GpuBackend& g = gpu();
  for (const int lost : {214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721}) {
    fail("cuStreamSynchronize", lost);
    EXPECT_THAT([&] { g.synchronize(); },
                ThrowsMessage<sinter::CudaError>(
                    AllOf(HasSubstr("CUDA reports this asynchronously"), HasSubstr("context is lost"))))
        << lost;
  }
}

TEST_F(ContextDeathTest, AForkedChildLearnsWhy) {
  GpuBackend& g = gpu();
  EXPECT_EXIT(
      try { g.synchronize(); } catch (const sinter::CudaError& e) {
        std::fprintf(stderr, "%s\n", e.what());
        std::_Exit(5);
      },
      ::testing::ExitedWithCode(5), "forked after CUDA had been initialized");
}

TEST_F(ContextDeathTest, AForkedChildMayLetGoOfItsParentsMemory) {
  GpuBackend& g = gpu();
  void* data = g.allocate(mib);
  EXPECT_EXIT(
      {
        fake().calls.clear();
        g.deallocate(data, mib);
        std::_Exit(fake().calls.empty() ? 5 : 1);
      },
      ::testing::ExitedWithCode(5), "");
  g.deallocate(data, mib);
}

}  // namespace
}  // namespace sinter::testing

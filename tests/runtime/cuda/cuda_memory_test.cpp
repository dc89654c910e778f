// The memory of a GPU on a driver made for tests: kept, returned before it runs out.
#include "own_gpus.hpp"

namespace sinter::testing {
namespace {

using CudaMemory = OwnGpus;

TEST_F(CudaMemory, MemoryIsKeptAndReturnedBeforeItRunsOut) {
  GpuBackend& g = gpu();
  for (int i = 0; i < 100; ++i) g.deallocate(g.allocate(20 * mib), 20 * mib);
  EXPECT_EQ(fake().calls["cuMemAllocAsync"], 1);
  EXPECT_EQ(fake().calls["cuMemFreeAsync"], 0);
  std::vector<void*> held{g.allocate(20 * mib), g.allocate(20 * mib)};
  g.deallocate(held[1], 20 * mib);
  held[1] = g.allocate(40 * mib);  // fits once the cached 20 MiB are back, which takes a wait
  EXPECT_EQ(fake().calls["cuMemFreeAsync"], 1);
  EXPECT_GE(fake().calls["cuStreamSynchronize"], 1);
  EXPECT_THAT([&] { g.allocate(5 * mib); }, ThrowsMessage<sinter::OutOfMemory>(
                                                AllOf(HasSubstr("out of memory on cuda:0: 5.00 MiB requested"),
                                                      HasSubstr("60.00 MiB in use"), HasSubstr("64.00 MiB in total"))));
  g.deallocate(held[0], 20 * mib);
  g.deallocate(held[1], 40 * mib);
}

TEST_F(CudaMemory, ADriverWithoutMemoryPools) {
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

TEST_F(CudaMemory, AMemoryErrorThatIsNoLackOfMemory) {
  GpuBackend& g = gpu();
  fail("cuMemAllocAsync", 1);
  EXPECT_THAT([&] { g.allocate(1000); },
              ThrowsMessage<sinter::CudaError>(AllOf(HasSubstr("cuMemAllocAsync"), HasSubstr("1024 bytes"))));
  g.deallocate(g.allocate(1000), 1000);
}

TEST_F(CudaMemory, LoadingReturnsCachedMemoryFirst) {
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
TEST_F(CudaMemory, FirstUsesOfAKernelReturnCachedMemoryFirst) {
  GpuBackend& g = gpu();
  for (const char* call : {"cuModuleGetFunction", "cuFuncGetAttribute", "cuFuncSetAttribute", "cuLaunchKernel"})
    for (const bool once : {true, false}) {
      g.deallocate(g.allocate(mib), mib);
      fail(call, 2, 0, once);
      const auto use = [&] { g.launch({.kernel = g.load("FAKE k", "k").handle(), .words = {}}); };
      if (once)
        EXPECT_NO_THROW(use()) << call;
      else
        EXPECT_THAT(use, ThrowsMessage<sinter::OutOfMemory>(AllOf(HasSubstr("kernel k"), HasSubstr("on cuda:0"))))
            << call;
      EXPECT_EQ(fake().blocks, 0) << call;
      fake().fail_call.clear();
    }
}

TEST_F(CudaMemory, OneThreadRunsOutOfMemoryWhileOthersAllocate) {
  GpuBackend& g = gpu();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) use(g);
    });
  for (int i = 0; i < 50; ++i) EXPECT_THROW(g.allocate(100 * mib), sinter::OutOfMemory);
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace sinter::testing

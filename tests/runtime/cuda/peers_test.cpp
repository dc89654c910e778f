// Copies within a GPU and between two, with and without access to each other's memory.
#include "own_gpus.hpp"

namespace sinter::testing {
namespace {

using Peers = OwnGpus;

TEST_F(Peers, CopiesBetweenGpusInOrderWithBoth) {
  GpuBackend &a = gpu(0), &b = gpu(1);
  auto &on_a = a.streams()->standard(), &on_b = b.streams()->standard();
  constexpr std::size_t n = 5000;
  const KernelHandle add = a.load("FAKE fake_add_one", "fake_add_one");
  std::vector<float> expected = counted(n);
  for (float& v : expected) ++v;
  for (const bool source_first : {false, true}) {
    void *x = a.allocate(4 * n), *y = b.allocate(4 * n);
    const std::uint64_t words[] = {reinterpret_cast<std::uint64_t>(x), reinterpret_cast<std::uint64_t>(x), n};
    a.upload(x, counted(n).data(), 4 * n);
    a.launch({.kernel = add.handle(), .words = words});
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

TEST_F(Peers, GpusReachEachOthersMemoryWhereTheyCan) {
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

TEST_F(Peers, CopiesWithoutDirectAccessGoOn) {
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

TEST_F(Peers, CopiesWithinADeviceAndFromOtherKinds) {
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

}  // namespace
}  // namespace sinter::testing

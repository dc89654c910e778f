// Uploads through the ring of page-locked memory, on a driver made for tests that puts work off.
#include "own_gpus.hpp"

namespace sinter::testing {
namespace {

using Staging = OwnGpus;

TEST_F(Staging, UploadsDoNotNeedTheBufferAfterwards) {
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

TEST_F(Staging, ManySmallUploadsShareTheRing) {
  GpuBackend& g = gpu();
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
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

TEST_F(Staging, WithoutPageLockedMemoryUploadsWait) {
  fail("cuMemHostAlloc", 2);
  GpuBackend& g = gpu();
  void* data = g.allocate(4000);
  std::vector<float> source = counted(1000);
  g.upload(data, source.data(), 4000);
  std::ranges::fill(source, -1.f);
  EXPECT_TRUE(fetch(g, data, 1000) == counted(1000));
  g.deallocate(data, 4000);
}

TEST_F(Staging, AnUploadThatFailsHalfwayLeavesTheRingInOrder) {
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

TEST_F(Staging, SmallUploadsBesideOnesThatFillTheRing) {
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

}  // namespace
}  // namespace sinter::testing

// What memory_stats() counts, on every device there is.
#include <gtest/gtest.h>

#include <vector>

#include <sinter/runtime/buffer.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/memory.hpp>

#include "devices.hpp"
#include "gpus.hpp"

namespace {

namespace sn = sinter;
using sn::Device;
using sn::MemoryStats;
using sn::runtime::Buffer;
using sn::runtime::Ref;

constexpr std::size_t mib = std::size_t(1) << 20;

TEST(MemoryStats, InUseAndPeak) {
  for (const Device d : sinter::test::all_devices()) {
    SCOPED_TRACE(to_string(d));
    sn::reset_peak_memory(d);
    const MemoryStats before = sn::memory_stats(d);
    EXPECT_EQ(before.peak_in_use, before.in_use);
    Ref<Buffer> a = Buffer::allocate(d, mib), b = Buffer::allocate(d, 2 * mib);
    MemoryStats now = sn::memory_stats(d);
    EXPECT_EQ(now.in_use, before.in_use + 3 * mib);
    EXPECT_EQ(now.blocks, before.blocks + 2);
    EXPECT_EQ(now.requests, before.requests + 2);
    EXPECT_LE(now.driver_allocations, before.driver_allocations + 2);
    a = Ref<Buffer>();
    b = Ref<Buffer>();
    now = sn::memory_stats(d);
    EXPECT_EQ(now.in_use, before.in_use);
    EXPECT_EQ(now.blocks, before.blocks);
    EXPECT_EQ(now.peak_in_use, before.in_use + 3 * mib);
    sn::reset_peak_memory(d);
    EXPECT_EQ(sn::memory_stats(d).peak_in_use, before.in_use);
  }
}

TEST(MemoryStats, EmptyCacheReturnsWhatIsCached) {
  for (const Device d : sinter::test::all_devices()) {
    SCOPED_TRACE(to_string(d));
    Buffer::allocate(d, mib);
    const MemoryStats before = sn::memory_stats(d);
    EXPECT_EQ(sn::empty_cache(d), before.cached);
    const MemoryStats after = sn::memory_stats(d);
    EXPECT_EQ(after.cached, 0u);
    EXPECT_EQ(after.in_use, before.in_use);
    Buffer::allocate(d, mib);
    EXPECT_EQ(sn::memory_stats(d).driver_allocations, after.driver_allocations + 1);
  }
}

TEST(MemoryStats, NothingTakesNothing) {
  for (const Device d : sinter::test::all_devices()) {
    const MemoryStats before = sn::memory_stats(d);
    const Ref<Buffer> empty = Buffer::allocate(d, 0);
    EXPECT_EQ(sn::memory_stats(d).blocks, before.blocks);
  }
}

TEST(MemoryStats, OfPinnedMemory) {
  if (!sn::cuda_is_available()) GTEST_SKIP() << "needs a GPU";
  const MemoryStats before = sn::pinned_memory_stats();
  {
    const Ref<Buffer> pinned = Buffer::allocate_pinned(mib);
    EXPECT_TRUE(pinned->is_pinned());
    EXPECT_EQ(pinned->device(), Device());
    EXPECT_EQ(sn::pinned_memory_stats().in_use, before.in_use + mib);
    EXPECT_NO_THROW(pinned->expose());
  }
  EXPECT_EQ(sn::pinned_memory_stats().in_use, before.in_use);
  EXPECT_GE(sn::pinned_memory_stats().cached, mib);
}

TEST(MemoryStats, OfADeviceThatDoesNotExist) {
  const Device none(sn::device_count());
  EXPECT_THROW(sn::memory_stats(none), sn::DeviceError);
  EXPECT_THROW(sn::reset_peak_memory(none), sn::DeviceError);
  EXPECT_THROW(sn::empty_cache(none), sn::DeviceError);
}

}  // namespace

// Kernels from disk that do not load.
#include <jit/cache/kernel_cache.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include <jit/cache/disk_cache.hpp>
#include "../scratch.hpp"
#include "fake_gpu.hpp"
#include "setup.hpp"

namespace sinter::testing {
namespace {

const sinter::test::Setup cache_dumps_nothing([] {
  test::keep_kernels_in_memory();
  unsetenv("SINTER_DUMP_DIR");
});

using jit::CacheMode;
using jit::DiskCache;
using jit::load_kernel;
using runtime::KernelSource;

/// With an intact entry on disk that no device loads. Each test has a tag of its own: kernels stay in the process.
struct KernelCacheTest : ::testing::Test {
  ScratchFolder scratch;
  ScopedVariable mode{"SINTER_CACHE", "on"}, folder{"SINTER_CACHE_DIR", scratch.path().string()};
  FakeGpu gpu{::testing::UnitTest::GetInstance()->current_test_info()->name()};
  const KernelSource source{"k", "text of k"};

  KernelCacheTest() {
    disk(CacheMode::On).store(key(), "rubbish");
    jit::reset_disk_cache();
  }
  DiskCache disk(CacheMode m) const { return DiskCache({m, scratch.path(), 1 << 20}); }
  jit::KernelKey key() const { return {gpu.binary_tag(), source.name, source.text}; }
  std::optional<std::string> on_disk() const { return disk(CacheMode::ReadOnly).find(key()); }
  std::string right() const { return "binary of k for " + gpu.binary_tag(); }
};

TEST_F(KernelCacheTest, ABinaryThatDoesNotLoadIsCompiledAgain) {
  EXPECT_EQ(load_kernel(source, gpu).origin, KernelOrigin::Compiled);
  EXPECT_EQ(gpu.compiles, 1);
  EXPECT_EQ(on_disk(), right());
  EXPECT_EQ(load_kernel(source, gpu).origin, KernelOrigin::Memory);
  EXPECT_EQ(jit::compiled(source, gpu).binary, right());
  EXPECT_EQ(gpu.compiles, 1);
}

TEST_F(KernelCacheTest, WhereThatDoesNotLoadEitherTheErrorIsThrown) {
  gpu.while_loading = [] { throw runtime::BinaryRefused("never"); };
  EXPECT_THROW(load_kernel(source, gpu), runtime::BinaryRefused);
  EXPECT_EQ(gpu.compiles, 1);
  EXPECT_EQ(gpu.loads, 2);
  EXPECT_THROW(load_kernel(source, gpu), runtime::BinaryRefused);
  EXPECT_EQ(gpu.compiles, 1) << "what this process compiled is not compiled again";
}

TEST_F(KernelCacheTest, OtherErrorsOfLoadingLeaveTheEntry) {
  gpu.while_loading = [] { throw OutOfMemory("none left"); };
  EXPECT_THROW(load_kernel(source, gpu), OutOfMemory);
  gpu.while_loading = [] { throw CudaError("a graph is captured"); };
  EXPECT_THROW(load_kernel(source, gpu), CudaError);
  EXPECT_EQ(gpu.compiles, 0);
  EXPECT_EQ(on_disk(), "rubbish");
}

TEST_F(KernelCacheTest, ReadOnlyLeavesTheEntryAndGoesOn) {
  const ScopedVariable readonly("SINTER_CACHE", "readonly");
  jit::reset_disk_cache();
  EXPECT_EQ(load_kernel(source, gpu).origin, KernelOrigin::Compiled);
  EXPECT_EQ(on_disk(), "rubbish");
}

TEST_F(KernelCacheTest, WhereItDoesNotCompileWhoAsksLaterTriesAgain) {
  gpu.refuses = true;
  EXPECT_THROW(load_kernel(source, gpu), CompileError);
  EXPECT_EQ(on_disk(), std::nullopt);
  gpu.refuses = false;
  EXPECT_EQ(load_kernel(source, gpu).origin, KernelOrigin::Compiled);
}

TEST_F(KernelCacheTest, ThreadsThatAreRefusedTogetherCompileOnce) {
  constexpr int count = 4;
  std::atomic<int> first = 0;
  gpu.while_loading = [&] {  // all have the entry's binary before one is refused
    for (++first; first < count;) std::this_thread::yield();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&] { EXPECT_NO_THROW(load_kernel(source, gpu)); });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(gpu.compiles, 1);
  EXPECT_EQ(gpu.loads, 2 * count);
}

}  // namespace
}  // namespace sinter::testing

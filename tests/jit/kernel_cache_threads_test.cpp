#include <jit/cache/kernel_cache.hpp>

#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <stdexcept>
#include <thread>

#include <jit/cache/disk_cache.hpp>
#include "../scratch.hpp"
#include "fake_gpu.hpp"
#include "setup.hpp"

namespace sinter::testing {
namespace {

/// What is compiled here is no CUDA text, and not for those to see who look at dumped kernels.
const sinter::test::Setup threads_dump_nothing([] {
  test::keep_kernels_in_memory();
  unsetenv("SINTER_DUMP_DIR");
});

using jit::compiled;
using runtime::KernelSource;

/// Runs f(i) on `count` threads at once.
template <class F>
void on_threads(int count, F f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(f, i);
  for (std::thread& t : threads) t.join();
}

/// Waits for what other threads are about to do; what never happens ends by the test's time limit.
void until(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::yield();
}

TEST(KernelCache, OneCompilationForAllWhoAskAtOnce) {
  FakeGpu gpu("one");
  gpu.while_compiling = [] { until([] { return jit::threads_waiting() == 7; }); };
  const JitStats before = jit_stats();
  std::atomic<int> right = 0, made = 0;
  on_threads(8, [&](int) {
    const jit::CompiledKernel kernel = compiled({"k", "text of k"}, gpu);
    right += kernel.binary == "binary of k for one";
    made += kernel.origin == KernelOrigin::Compiled;
  });
  EXPECT_EQ(right, 8);
  EXPECT_EQ(made, 1) << "the others had it from memory";
  EXPECT_EQ(gpu.compiles, 1);
  EXPECT_EQ(jit_stats().compiles - before.compiles, 1u);
  EXPECT_GT(jit_stats().compile_milliseconds, before.compile_milliseconds);
}

TEST(KernelCache, DifferentKernelsCompileAtTheSameTime) {
  FakeGpu gpu("parallel");
  gpu.while_compiling = [&] { until([&] { return gpu.max_compiling == 4; }); };
  on_threads(4, [&](int i) { compiled({"k" + std::to_string(i), "text " + std::to_string(i)}, gpu); });
  EXPECT_EQ(gpu.compiles, 4);
  EXPECT_EQ(gpu.max_compiling, 4);
}

TEST(KernelCache, CompilersHaveALargeStack) {
  FakeGpu gpu("deep");
  std::size_t bytes = 0;
  gpu.while_compiling = [&] {
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
    pthread_attr_getstacksize(&attributes, &bytes);
    pthread_attr_destroy(&attributes);
  };
  compiled({"k", "deep text"}, gpu);
  EXPECT_GE(bytes, std::size_t(16) << 20);
}

TEST(KernelCache, KeysAreComparedInFull) {
  FakeGpu a("sm_80"), b("sm_90");
  EXPECT_EQ(compiled({"k", "same text of k"}, a).binary, "binary of k for sm_80");
  EXPECT_EQ(compiled({"k", "same text of k"}, b).binary, "binary of k for sm_90");
  EXPECT_EQ(compiled({"k", "same text of k"}, a).binary, "binary of k for sm_80");
  EXPECT_EQ(a.compiles + b.compiles, 2);
  FakeGpu twin("sm_90");
  EXPECT_EQ(compiled({"k", "same text of k"}, twin).origin, KernelOrigin::Memory);
  EXPECT_EQ(twin.compiles, 0);
}

TEST(KernelCache, ARefusalIsThrownToAllWhoWaitAndTriedAgainByWhoAsksLater) {
  FakeGpu gpu("refusing");
  gpu.refuses = true;
  gpu.while_compiling = [] { until([] { return jit::threads_waiting() == 3; }); };
  const std::uint64_t before = jit_stats().compiles;
  std::atomic<int> refused = 0;
  on_threads(4, [&](int) {
    try {
      compiled({"bad", "bad text"}, gpu);
    } catch (const CompileError& e) {
      refused += e.log() == "the log" && e.source() == "bad text";
    }
  });
  EXPECT_EQ(refused, 4);
  EXPECT_EQ(gpu.compiles, 1);
  EXPECT_EQ(jit_stats().compiles, before) << "what failed is no compilation";
  gpu.while_compiling = nullptr;
  EXPECT_THROW(compiled({"bad", "bad text"}, gpu), CompileError);
  gpu.refuses = false;
  EXPECT_EQ(compiled({"bad", "bad text"}, gpu).binary, "binary of bad for refusing");
}

TEST(KernelCache, AnyExceptionEndsTheWait) {
  FakeGpu gpu("odd");
  gpu.while_compiling = [] {
    until([] { return jit::threads_waiting() == 1; });
    throw std::logic_error("odd");
  };
  std::atomic<int> thrown = 0;
  on_threads(2, [&](int) {
    try {
      compiled({"k", "odd text"}, gpu);
    } catch (const std::logic_error&) {
      ++thrown;
    }
  });
  EXPECT_EQ(thrown, 2);
}

/// Uses a disk cache in a scratch folder, or what SINTER_CACHE says, for a scope.
struct OtherCache {
  explicit OtherCache(const char* mode) : mode_("SINTER_CACHE", mode), folder_("SINTER_CACHE_DIR", scratch.path()) {
    jit::reset_disk_cache();
  }
  ~OtherCache() {
    ::setenv("SINTER_CACHE", "memory", 1);
    jit::reset_disk_cache();
  }
  ScratchFolder scratch;
  ScopedVariable mode_, folder_;
};

TEST(KernelCache, WhatIsOnDiskIsNotCompiled) {
  const OtherCache on("on");
  FakeGpu gpu("first disk");
  EXPECT_EQ(compiled({"k", "kept text"}, gpu).origin, KernelOrigin::Compiled);
  const std::uint64_t hits = jit_stats().disk_hits;
  jit::DiskCache({jit::CacheMode::On, on.scratch.path()}).store({"second disk", "k", "kept text"}, "kept by another");
  FakeGpu other("second disk");
  const jit::CompiledKernel found = compiled({"k", "kept text"}, other);
  EXPECT_EQ(found.binary, "kept by another");
  EXPECT_EQ(found.origin, KernelOrigin::Disk);
  EXPECT_EQ(other.compiles, 0);
  EXPECT_EQ(jit_stats().disk_hits - hits, 1u);
  EXPECT_EQ(compiled({"k", "kept text"}, other).origin, KernelOrigin::Memory);
}

/// A GPU that learns which compiler it has when it compiles.
class LearningGpu : public FakeGpu {
 public:
  std::string binary_tag() const override { return compiles > 0 ? "loaded" : "expected"; }
};

TEST(KernelCache, WhatAnotherCompilerMadeThanExpectedIsNotKeptUnderTheExpectedOnesName) {
  const OtherCache on("on");
  LearningGpu gpu;
  compiled({"k", "learnt text"}, gpu);
  jit::DiskCache disk({jit::CacheMode::On, on.scratch.path()});
  EXPECT_EQ(disk.find({"expected", "k", "learnt text"}), std::nullopt);
  EXPECT_EQ(disk.find({"loaded", "k", "learnt text"}), std::nullopt);
}

TEST(KernelCache, OffCompilesForEveryoneAndKeepsNothing) {
  const OtherCache off("off");
  FakeGpu gpu("off");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(compiled({"k", "text"}, gpu).origin, KernelOrigin::Compiled);
  EXPECT_EQ(gpu.compiles, 3);
  EXPECT_TRUE(std::filesystem::is_empty(off.scratch.path()));
}

TEST(KernelCache, MemoryKeepsNothingOnDisk) {
  const OtherCache memory("memory");
  FakeGpu gpu("memory");
  for (int i = 0; i < 3; ++i) compiled({"k", "text"}, gpu);
  EXPECT_EQ(gpu.compiles, 1);
  EXPECT_TRUE(std::filesystem::is_empty(memory.scratch.path()));
}

}  // namespace
}  // namespace sinter::testing

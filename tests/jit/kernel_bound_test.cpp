// What the process's kernels may take, what goes when it is reached, and clear_cache().
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include <jit/cache/cache_settings.hpp>
#include <jit/cache/kernel_cache.hpp>
#include <jit/run/executable.hpp>
#include <sinter/jit/cache.hpp>
#include <sinter/jit/evaluate.hpp>
#include "../scratch.hpp"
#include "device_arrays.hpp"
#include "fake_gpu.hpp"
#include "mapped_kernels.hpp"
#include "setup.hpp"
#include "trees.hpp"

namespace sinter::testing {
namespace {

const sinter::test::Setup bound_compiles(sinter::test::keep_kernels_in_memory);

/// x * number + number, which each number makes another kernel of.
Written scaled(std::int64_t number) {
  Written p;
  return p.leaf(DType::Int32).constant(number).op(Op::mul).constant(number).op(Op::add);
}

struct KernelBound : ::testing::Test {
  KernelBound() {
    if (has_gpu()) clear_cache();
  }
  ~KernelBound() override { jit::set_most_kernel_bytes(jit::default_kernel_bytes); }
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
  }
};

/// Evaluates on a GPU that does nothing.
struct KernelBoundFake : KernelBound {
  KernelBoundFake() { jit::use_gpu(1, &gpu); }
  ~KernelBoundFake() override { jit::use_gpu(1, nullptr); }
  static TensorRef somewhere() {
    TensorRef t = runtime::iota_tensor(Shape{8}, Device(1));
    t->dtype = DType::Int32;
    t->data = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 20);
    return t;
  }
  /// As a Lazy is.
  void evaluate(std::int64_t number) {
    Tree tree(scaled(number), {somewhere()});
    TensorRef out = somewhere();
    jit::evaluate(tree.bound(), &out);
  }
  FakeGpu gpu{::testing::UnitTest::GetInstance()->current_test_info()->name()};
};

TEST_F(KernelBoundFake, ThousandsOfGraphsStayWithinIt) {
  constexpr std::uint64_t most = 1 << 20;
  jit::set_most_kernel_bytes(most);
  const JitStats before = jit_stats();
  constexpr int graphs = 3000;
  for (int i = 0; i < graphs; ++i) {
    evaluate(1000 + i);
    ASSERT_LE(jit_stats().kernel_bytes, most) << i;
  }
  const JitStats after = jit_stats();
  EXPECT_GT(after.kernels_held, 10u);
  EXPECT_GT(after.kernels_evicted - before.kernels_evicted, 1000u);
  EXPECT_EQ(after.kernels_held + after.kernels_evicted - before.kernels_evicted, graphs);
  EXPECT_EQ(static_cast<std::uint64_t>(gpu.unloads()), after.kernels_evicted - before.kernels_evicted);
  EXPECT_EQ(gpu.loads, graphs);
}

TEST_F(KernelBoundFake, WhatWasUsedLongestAgoGoesFirst) {
  evaluate(1);
  const std::uint64_t one = jit_stats().kernel_bytes;
  jit::set_most_kernel_bytes(10 * one);
  Tree used(scaled(1), {somewhere()});
  TensorRef out = somewhere();
  for (int i = 2; i < 40; ++i) {
    evaluate(i);
    jit::evaluate(used.bound(), &out);
  }
  EXPECT_EQ(gpu.loads, 39);  // the first one never went
  evaluate(39);
  EXPECT_EQ(gpu.loads, 39);
  evaluate(2);
  EXPECT_EQ(gpu.loads, 40);
}

TEST_F(KernelBoundFake, OneThatIsJustLaunchedStays) {
  jit::set_most_kernel_bytes(1);
  std::atomic<bool> launching = false, may_go_on = false;
  gpu.while_launching = [&] {
    if (launching.exchange(true)) return;
    while (!may_go_on) std::this_thread::yield();
  };
  std::thread user([&] { evaluate(1); });
  while (!launching) std::this_thread::yield();
  for (int i = 2; i < 5; ++i) evaluate(i);
  EXPECT_GE(jit_stats().kernels_evicted, 3u);
  EXPECT_EQ(gpu.unloads(), 0);
  may_go_on = true;
  user.join();
  EXPECT_EQ(gpu.unloads(), 3);  // by the end of who was waited for
}

TEST_F(KernelBoundFake, ClearCacheLetsGoOfKernelsAndPlans) {
  Tree tree(scaled(7), {somewhere()});
  TensorRef out = somewhere();
  jit::evaluate(tree.bound(), &out);
  jit::evaluate(tree.bound(), &out);
  EXPECT_EQ(gpu.loads, 1);
  const std::uint64_t plans = jit_stats().plans;
  clear_cache();
  EXPECT_EQ(jit_stats().kernels_held, 0u);
  EXPECT_EQ(jit_stats().kernel_bytes, 0u);
  EXPECT_EQ(gpu.unloads(), 1);
  jit::evaluate(tree.bound(), &out);
  EXPECT_EQ(gpu.loads, 2);
  EXPECT_EQ(jit_stats().plans, plans + 1);
}

TEST_F(KernelBoundFake, ClearCacheWithinAnEvaluation) {
  gpu.while_launching = [&] {
    clear_cache();
    EXPECT_EQ(jit_stats().kernels_held, 0u);
    EXPECT_EQ(gpu.unloads(), gpu.launches - 1);
  };
  Tree tree(scaled(7), {somewhere()});
  TensorRef out = somewhere();
  for (int i = 1; i < 4; ++i) {
    jit::evaluate(tree.bound(), &out);
    EXPECT_EQ(gpu.loads, i);
    EXPECT_EQ(gpu.unloads(), i);
  }
}

TEST_F(KernelBoundFake, ExpressionsOfOneTextShareAKernel) {
  Written one;
  Tree tree(one.leaf(DType::Int32).constant(7).op(Op::mul), {somewhere()});
  TensorRef out = somewhere();
  for (const jit::Mode mode : {jit::Mode::Fused, jit::Mode::Eager}) jit::evaluate(tree.bound(), &out, mode);
  EXPECT_EQ(gpu.loads, 1);
}

struct KernelBoundVirtual : KernelBound {
  static std::vector<std::uint64_t> evaluated(const TensorRef& x, std::int64_t number) {
    Tree tree(scaled(number), {x});
    TensorRef out;
    jit::evaluate(tree.bound(), &out);
    return values_of(*out);
  }
  static std::vector<std::uint64_t> right(std::uint64_t number) { return {2 * number, 3 * number, 4 * number}; }
};

TEST_F(KernelBoundVirtual, ResultsAreRightWhateverWasUnloaded) {
  const TensorRef x = device_array(DType::Int32, {3}, Device(0), {1, 2, 3});
  evaluated(x, 2);
  const std::uint64_t one = jit_stats().kernel_bytes;
  const int mapped = sinter::test::mapped_kernels();
  jit::set_most_kernel_bytes(3 * one);
  for (int round = 0; round < 2; ++round)
    for (std::uint64_t number = 2; number < 6; ++number) {
      EXPECT_EQ(evaluated(x, static_cast<std::int64_t>(number)), right(number));
      EXPECT_LE(sinter::test::mapped_kernels(), mapped + 2);
    }
  sinter::synchronize();
  clear_cache();
  EXPECT_EQ(sinter::test::mapped_kernels(), test::virtual_gpus ? mapped - 1 : 0);
}

TEST_F(KernelBoundVirtual, ThreadsEvaluateWhileKernelsGo) {
  const TensorRef x = device_array(DType::Int32, {3}, Device(0), {1, 2, 3});
  jit::set_most_kernel_bytes(1);
  std::atomic<int> wrong = 0, running = 4;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 5; ++i) {
        const std::uint64_t number = 2 + random() % 3;
        wrong += evaluated(x, static_cast<std::int64_t>(number)) != right(number);
      }
      --running;
    });
  while (running > 0) {
    clear_cache();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(KernelBoundSetting, SinterKernelsMaxBytes) {
  EXPECT_EQ(jit::max_kernel_bytes(), std::uint64_t{256} << 20);
  const ScopedVariable bytes("SINTER_KERNELS_MAX_BYTES", "12345");
  EXPECT_EQ(jit::max_kernel_bytes(), 12345u);
}

}  // namespace
}  // namespace sinter::testing

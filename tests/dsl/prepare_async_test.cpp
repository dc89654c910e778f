// Compiling in the background, and what is reported afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sinter/prepare.hpp>
#include <sinter/sinter.hpp>
#include <thread>
#include <vector>

#include <jit/run/executable.hpp>
#include "../jit/fake_gpu.hpp"
#include "../scratch.hpp"
#include "devices.hpp"
#include "setup.hpp"

namespace sn = sinter;

namespace {

const sinter::test::Setup async_compiles(sinter::test::keep_kernels_in_memory);

using sn::testing::FakeGpu;

bool has_gpu() { return sn::cuda_is_available(); }

TEST(PrepareAsync, EvaluatingAfterwardsCompilesNothing) {
  for (const sn::Device d : sinter_tests::devices()) {
    const auto x = sn::tensor({1.f, 2.f}).to(d);
    auto e = (x - 17).exp() * x;
    const auto before = sn::jit_stats();
    std::future<void> prepared = sn::prepare_async(e);
    prepared.get();
    const auto after = sn::jit_stats();
    EXPECT_EQ(after.launches, before.launches);
    EXPECT_EQ(after.compiles - before.compiles, d == sn::Device(0) ? 1u : 0u);  // the second GPU runs the first one's
    const sn::Tensor r = e;
    EXPECT_EQ(sn::jit_stats().compiles, after.compiles);
    EXPECT_FLOAT_EQ(r.cpu()[1].item(), 2 * std::exp(-15.f));
  }
}

TEST(PrepareAsync, SeveralResultsAndLazyOnes) {
  for (const sn::Device d : sinter_tests::devices()) {
    const auto x = sn::tensor({1.f, 2.f}).to(d);
    sn::prepare_async(x - 171, x * 171).get();
    sn::Lazy lazy = x;
    for (int i = 0; i < 3; ++i) lazy = lazy * x + 171;
    sn::prepare_async(lazy).get();
    const auto before = sn::jit_stats();
    const auto [a, b] = sn::evaluate(x - 171, x * 171);
    const sn::Tensor c = lazy;
    EXPECT_EQ(sn::jit_stats().compiles, before.compiles);
    EXPECT_EQ(b.cpu()[0].item(), 171);
  }
}

TEST(PrepareAsync, TheExpressionAndItsTensorsMayGo) {
  std::vector<std::future<void>> futures;
  for (const sn::Device d : sinter_tests::devices()) {
    const auto x = sn::tensor({1.f, 2.f}).to(d);
    futures.push_back(sn::prepare_async((x - 1711).exp() * (x + 1)));
    sn::Lazy lazy = x;
    futures.push_back(sn::prepare_async(lazy * 1711));
  }
  for (std::future<void>& f : futures) f.get();
}

TEST(PrepareAsync, WhatNeedsNoCompilerToBeSeenIsThrownAtOnce) {
  const auto x = sn::ones({2}), y = sn::ones({3});
  EXPECT_THROW((void)sn::prepare_async(x + y), sn::ShapeError);
}

/// Kernels of cuda:1 go to a fake GPU while it lives.
struct OnFakeGpu {
  explicit OnFakeGpu(const char* tag) : gpu(tag) { sn::jit::use_gpu(1, &gpu); }
  ~OnFakeGpu() { sn::jit::use_gpu(1, nullptr); }
  FakeGpu gpu;
  const sn::testing::ScopedVariable no_dump{"SINTER_DUMP_DIR", std::nullopt};
};

TEST(PrepareAsync, TheFutureThrowsWhatTheCompilerDoes) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  auto e = sn::ones({4}, sn::cuda<1>) - sn::tensor({31.f}).cuda(1);
  OnFakeGpu fake("refusing in the background");
  fake.gpu.refuses = true;
  std::future<void> prepared = sn::prepare_async(e);
  EXPECT_THROW(prepared.get(), sn::CompileError);
  fake.gpu.refuses = false;
  sn::prepare_async(e).get();
  EXPECT_EQ(fake.gpu.loads, 1);
}

TEST(PrepareAsync, EightThreadsCompileOneNewExpressionOnce) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  const auto x = sn::ones({4}, sn::cuda<1>);
  OnFakeGpu fake("one of eight");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { sn::prepare((x.cos() - 7).sin()); });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(fake.gpu.compiles, 1);
  EXPECT_EQ(fake.gpu.loads, 1);
}

TEST(PrepareAsync, KernelsOfOneExpressionCompileAtTheSameTime) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  const auto x = sn::ones({4}, sn::cuda<1>), y = sn::ones({5}, sn::cuda<1>);
  OnFakeGpu fake("two at once");
  fake.gpu.while_compiling = [&] {
    while (fake.gpu.max_compiling < 2) std::this_thread::yield();  // both exist; otherwise the test's time limit
  };
  sn::prepare_async(x.sin().cos(), y.cos().sin()).get();  // two shapes, so two kernels
  EXPECT_EQ(fake.gpu.compiles, 2);
}

TEST(PrepareAsync, AChildOfAForkCompilesWhatItsParentIsAt) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  const auto x = sn::ones({4}, sn::cuda<1>);
  OnFakeGpu fake("forked amid a compilation");
  std::atomic<bool> begun = false, may_end = false;
  fake.gpu.while_compiling = [&] {
    for (begun = true; !may_end;) std::this_thread::yield();
  };
  std::future<void> prepared = sn::prepare_async(x.cos() - 19);
  while (!begun) std::this_thread::yield();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    fake.gpu.while_compiling = nullptr;
    const bool told = sinter_tests::message_of<sn::Error>([&] { prepared.get(); }).find("forked") != std::string::npos;
    sn::prepare(x.cos() - 19);
    ::_exit(told && fake.gpu.compiles == 1 && fake.gpu.loads == 1 ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  may_end = true;
  prepared.get();
  EXPECT_EQ(fake.gpu.compiles, 1);
}

TEST(PrepareAsync, KernelsAreRememberedWithTheirOrigin) {
  if (sn::device_count() < 2) GTEST_SKIP() << "no two GPUs";
  const auto x = sn::tensor({1.f, 2.f});
  for (int gpu = 0; gpu < 2; ++gpu) {
    const auto y = x.cuda(gpu);
    const sn::Tensor r = (y - 93).sin() * y;
  }
  const std::vector<sn::KernelRecord> history = sn::kernel_history();
  ASSERT_GE(history.size(), 2u);
  const sn::KernelRecord &first = history[history.size() - 2], &second = history.back();
  EXPECT_EQ(first.name, second.name);
  EXPECT_THAT(first.name, testing::HasSubstr("sin"));
  EXPECT_EQ(first.device, sn::Device(0));
  EXPECT_EQ(second.device, sn::Device(1));
  EXPECT_EQ(first.target, second.target);
  EXPECT_EQ(first.origin, sn::KernelOrigin::Compiled);
  EXPECT_EQ(second.origin, sn::KernelOrigin::Memory);
  EXPECT_GT(first.milliseconds, 0);
}

}  // namespace

#include <jit/kernel_cache.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <sinter/jit/evaluate.hpp>
#include "fake_gpu.hpp"

namespace sinter::testing {
namespace {

/// What is compiled here is no CUDA text, and not for those to see who look at dumped kernels.
const bool dumps_nothing = unsetenv("SINTER_DUMP_DIR") == 0;

using jit::compiled;
using runtime::KernelSource;

/// Runs f(i) on `count` threads at once.
template <class F>
void on_threads(int count, F f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(f, i);
  for (std::thread& t : threads) t.join();
}

TEST(KernelCache, OneCompilationForAllWhoAskAtOnce) {
  FakeGpu gpu("one");
  gpu.compile_time = std::chrono::milliseconds(30);
  const std::uint64_t before = jit_stats().compiles;
  std::atomic<int> right = 0;
  on_threads(8, [&](int) { right += compiled({"k", "text of k"}, gpu) == "binary of k for one"; });
  EXPECT_EQ(right, 8);
  EXPECT_EQ(gpu.compiles, 1);
  EXPECT_EQ(jit_stats().compiles - before, 1u);
}

TEST(KernelCache, DifferentKernelsCompileAtTheSameTime) {
  FakeGpu gpu("parallel");
  gpu.compile_time = std::chrono::milliseconds(200);
  on_threads(4, [&](int i) { compiled({"k" + std::to_string(i), "text " + std::to_string(i)}, gpu); });
  EXPECT_EQ(gpu.compiles, 4);
  EXPECT_GT(gpu.most_compiling, 1);
}

TEST(KernelCache, KeysAreComparedInFull) {
  FakeGpu a("sm_80"), b("sm_90");
  EXPECT_EQ(compiled({"k", "same text of k"}, a), "binary of k for sm_80");
  EXPECT_EQ(compiled({"k", "same text of k"}, b), "binary of k for sm_90");
  EXPECT_EQ(compiled({"k", "same text of k"}, a), "binary of k for sm_80");
  EXPECT_EQ(a.compiles + b.compiles, 2);
  FakeGpu twin("sm_90");
  compiled({"k", "same text of k"}, twin);
  EXPECT_EQ(twin.compiles, 0);
}

TEST(KernelCache, ARefusalIsReportedToAllAndTriedAgain) {
  FakeGpu gpu("refusing");
  gpu.refuses = true;
  std::atomic<int> refused = 0;
  on_threads(4, [&](int) {
    try {
      compiled({"bad", "bad text"}, gpu);
    } catch (const CompileError& e) {
      refused += e.log() == "the log" && e.source() == "bad text";
    }
  });
  EXPECT_EQ(refused, 4);
  gpu.refuses = false;
  EXPECT_EQ(compiled({"bad", "bad text"}, gpu), "binary of bad for refusing");
}

TEST(KernelCache, DumpsTextsWhereAsked) {
  const auto folder = std::filesystem::temp_directory_path() / ("sinter_dump_" + std::to_string(getpid()));
  setenv("SINTER_DUMP_DIR", folder.c_str(), 1);
  FakeGpu gpu("dumping");
  compiled({"sinter_dumped", "its text"}, gpu);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_TRUE(entry.path().filename().string().starts_with("sinter_dumped_")) << entry.path();
    std::ifstream in(entry.path());
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "its text");
    ++files;
  }
  EXPECT_EQ(files, 1);
  // A folder that cannot be made is no reason to fail.
  setenv("SINTER_DUMP_DIR", "/proc/nowhere", 1);
  EXPECT_EQ(compiled({"sinter_not_dumped", "its other text"}, gpu), "binary of sinter_not_dumped for dumping");
  unsetenv("SINTER_DUMP_DIR");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sinter::testing

// Threads run and prepare programs while their loops are compiled.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "../setup.hpp"
#include "cpu_small_run.hpp"
#include "when_compiled.hpp"

namespace sinter::test {
namespace {

const Setup memory_only([] {
  keep_kernels_in_memory();
  setenv("SINTER_CPU_JIT", "off", 1);
});

TEST(CpuCompiledLoopsThreads, SeveralThreadsPrepare) {
  const TileProgram program(small_graph(), "several");
  const When chosen(CpuJit::Hot);
  std::vector<std::thread> threads;
  std::atomic<int> missing{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      const SmallRun mine;
      program.prepare(mine.nest);
      missing += !program.is_compiled();
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(missing, 0);
}

TEST(CpuCompiledLoopsThreads, ThreadsRunWhileLoopsAreReplaced) {
  for (int round = 0; round < 3; ++round) {
    const TileProgram program(small_graph(), "threads");
    set_cpu_jit(CpuJit::Hot);
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&] {
        const SmallRun mine;
        const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        for (int after = 0; after < 100 && std::chrono::steady_clock::now() < end; after += program.is_compiled()) {
          program.run(mine.nest, {});
          wrong += as<float>(element(mine.out, {1000}, 500)) != 1.f;
        }
      });
    for (std::thread& t : threads) t.join();
    set_cpu_jit(CpuJit::Off);
    EXPECT_TRUE(program.is_compiled());
    EXPECT_EQ(wrong, 0);
  }
}

}  // namespace
}  // namespace sinter::test

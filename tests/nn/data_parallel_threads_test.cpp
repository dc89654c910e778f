// DataParallel called from several threads, while its parameters change between calls.
#include <sinter/nn/data_parallel.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include "nets.hpp"

#include <gtest/gtest.h>

namespace sinter_tests {
namespace {

namespace sn = sinter;
namespace nn = sinter::nn;

void call_from_threads(const sn::Mesh& mesh) {
  const nn::Linear net(3, 2);
  const nn::DataParallel parallel(net, mesh);
  const sn::Tensor x = numbers({7, 3});
  const sn::Tensor expected = net(x);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) wrong += !sn::allclose(parallel(x).cpu(), expected, 1e-5, 1e-6);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(DataParallelThreads, FirstCallsOfSeveralThreads) {
  const sn::Device cpu;
  for (int round = 0; round < 5; ++round) call_from_threads(sn::Mesh({cpu, cpu, cpu}));
  call_from_threads(sn::Mesh({sn::Device(0), sn::Device(1)}));
}

TEST(DataParallelThreads, WhatIsWrittenBetweenCallsIsFollowedByAll) {
  const sn::Device cpu;
  nn::DataParallel parallel(nn::Linear(3, 2), sn::Mesh({cpu, cpu}));
  const sn::Tensor x = numbers({8, 3});
  for (int round = 0; round < 10; ++round) {
    parallel.net().bias += 1;  // no thread calls now
    const sn::Tensor expected = parallel.net()(x);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] { wrong += !sn::allclose(parallel(x), expected, 1e-5, 1e-6); });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(wrong, 0) << round;
  }
}

}  // namespace
}  // namespace sinter_tests

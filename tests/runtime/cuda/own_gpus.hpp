// GPUs for a single test, on a fake driver.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <runtime/cuda/cuda_gpu.hpp>
#include <runtime/cuda/driver.hpp>
#include <runtime/streams.hpp>
#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/error.hpp>
#include <thread>
#include <vector>

#include "fake_gpus.hpp"

namespace sinter::testing {

using runtime::backend;
using runtime::GpuBackend;
using runtime::KernelHandle;
using runtime::Launch;
using runtime::make_cuda_gpu;
using runtime::wait_for;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

inline constexpr std::size_t mib = std::size_t(1) << 20;

/// Each test has its own GPUs, which must leave nothing behind.
class OwnGpus : public ::testing::Test {
 protected:
  void SetUp() override {
    fake() = fake_cuda::Control{};
    ASSERT_EQ(sinter::runtime::cuda_gpu_count(), 2);
  }
  void TearDown() override {
    gpus_.clear();
    EXPECT_EQ(fake().blocks, 0);
    EXPECT_EQ(fake().objects, 0);
  }
  GpuBackend& gpu(int index = 0) {
    gpus_.push_back(make_cuda_gpu(index));
    return *gpus_.back();
  }
  static void fail(const char* call, int result, int after = 0, bool once = true) {
    fake().fail_call = call;
    fake().fail_result = result;
    fake().fail_after = after;
    fake().fail_once = once;
  }

  std::vector<std::unique_ptr<GpuBackend>> gpus_;
};

inline std::vector<float> counted(std::size_t n) {
  std::vector<float> v(n);
  std::iota(v.begin(), v.end(), 0.f);
  return v;
}

inline std::vector<float> fetch(GpuBackend& g, const void* data, std::size_t n) {
  std::vector<float> v(n);
  g.download(v.data(), data, 4 * n);
  return v;
}

/// Uses a GPU on a thread and checks the results.
inline void use(GpuBackend& g) {
  void* data = g.allocate(400);
  g.upload(data, counted(100).data(), 400);
  EXPECT_TRUE(fetch(g, data, 100) == counted(100));
  g.deallocate(data, 400);
}

}  // namespace sinter::testing

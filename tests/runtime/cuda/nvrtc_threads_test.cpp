// NVRTCs that lack options, on one made for tests.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include <runtime/cuda/nvrtc.hpp>
#include <runtime/fake_driver/fake_nvrtc.hpp>
#include <sinter/runtime/error.hpp>

namespace {

TEST(NvrtcThreads, AnOptionThatSeveralMissAtOnceFailsNoneOfThem) {
  constexpr int count = 8;
  setenv("SINTER_NVRTC", SINTER_FAKE_CUDA, 1);
  void* library = dlopen(SINTER_FAKE_CUDA, RTLD_LAZY);
  ASSERT_TRUE(library) << dlerror();
  reinterpret_cast<fake_nvrtc::Control* (*)()>(dlsym(library, "fake_nvrtc_control"))()->meet = count;
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&] {
      try {
        right += sinter::runtime::nvrtc_compile({"k", "text"}, "compute_90") == "ptx";
      } catch (const sinter::CompileError& e) {
        ADD_FAILURE() << e.what();
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, count);
}

}  // namespace

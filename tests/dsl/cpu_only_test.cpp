// A process without GPUs, real or virtual: what Sinter does not touch in it.
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>

#include <sinter/sinter.hpp>

#include <gtest/gtest.h>
#include "setup.hpp"

namespace {

namespace sn = sinter;

const sinter::test::Setup no_gpus([] {
  setenv("SINTER_VIRTUAL_GPUS", "", 1);
  setenv("SINTER_CUDA_DRIVER", "/none", 1);
});

float evaluate() { return sn::Tensor((sn::ones({100'000}) + 2).exp())[7].item(); }

bool is_mapped(const std::string& library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(library) != std::string::npos) return true;
  return false;
}

TEST(CpuOnly, NoSignalHandlers) {
  struct sigaction before[NSIG] = {}, after[NSIG] = {};
  for (int s = 1; s < NSIG; ++s) sigaction(s, nullptr, &before[s]);
  EXPECT_NEAR(evaluate(), 20.0855f, 1e-4f);
  for (int s = 1; s < NSIG; ++s) {
    sigaction(s, nullptr, &after[s]);
    EXPECT_EQ(after[s].sa_handler, before[s].sa_handler) << "signal " << s;
  }
}

TEST(CpuOnly, NothingOfCudaIsOpened) {
  evaluate();
  EXPECT_FALSE(is_mapped("libnvrtc"));
  EXPECT_FALSE(is_mapped("libcuda"));
}

TEST(CpuOnly, GpusAreMissedWithTheReason) {
  EXPECT_FALSE(sn::cuda_is_available());
  EXPECT_EQ(sn::device_count(), 0);
  EXPECT_EQ(sn::try_gpu(), sn::Device());
  try {
    (void)sn::ones({3}).cuda();
    FAIL();
  } catch (const sn::DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find("/none"), std::string::npos) << e.what();
  }
}

}  // namespace

// Evaluations on the default stream alone: the driver is called to launch, and for nothing else.
#include <gtest/gtest.h>

#include <sinter/sinter.hpp>

#include "fake_gpus.hpp"

namespace {

namespace sn = sinter;
using sn::testing::calls_of;
using sn::testing::fake;
using Calls = std::map<std::string, int>;

class OneStream : public ::testing::Test {
 protected:
  void SetUp() override { sn::testing::fake_for_expressions(); }
  static sn::Tensor<float, sn::Cuda<>> array() { return sn::ones({100}, sn::cuda<>); }
};

TEST_F(OneStream, AHitLaunchesAndNothingElse) {
  auto x = array(), y = array(), out = array();
  const auto loop = [&] {
    for (int i = 0; i < 100; ++i) out.assign((x + 2).exp() * y);
  };
  loop();
  EXPECT_EQ(calls_of(loop), (Calls{{"cuLaunchKernel", 100}}));
}

TEST_F(OneStream, ResultsComeFromThePool) {
  auto x = array(), y = array();
  const auto loop = [&] {
    for (int i = 0; i < 100; ++i) sn::Tensor r = x * y + 1;
  };
  loop();
  EXPECT_EQ(calls_of(loop), (Calls{{"cuLaunchKernel", 100}}));
}

TEST_F(OneStream, UploadsDoNotWaitAndDownloadsWaitOnce) {
  auto host = sn::ones({100});
  auto x = host.cuda();
  const Calls up = calls_of([&] { x = host.cuda(); });
  EXPECT_EQ(up.at("cuMemcpyHtoDAsync_v2"), 1);
  EXPECT_FALSE(up.contains("cuStreamSynchronize"));
  EXPECT_FALSE(up.contains("cuEventSynchronize"));
  EXPECT_EQ(calls_of([&] { x.cpu(); }), (Calls{{"cuMemcpyDtoHAsync_v2", 1}, {"cuStreamSynchronize", 1}}));
  EXPECT_EQ(calls_of([&] { sn::Tensor(x(sn::range(0, 1))).item(); }),
            (Calls{{"cuMemcpyDtoHAsync_v2", 1}, {"cuStreamSynchronize", 1}}));
}

TEST_F(OneStream, CopiesAndViewsDoNotWait) {
  auto x = array(), y = array();
  EXPECT_EQ(calls_of([&] { y.copy_(x); }), (Calls{{"cuMemcpyDtoDAsync_v2", 1}}));
  EXPECT_EQ(calls_of([&] { y(sn::range(0, 50)).copy_(x(sn::range(50, 100))); }), (Calls{{"cuMemcpyDtoDAsync_v2", 1}}));
}

TEST_F(OneStream, SynchronizeWaitsForIt) {
  array();
  EXPECT_EQ(calls_of([] { sn::synchronize(sn::Device(0)); }), (Calls{{"cuStreamSynchronize", 1}}));
}

}  // namespace

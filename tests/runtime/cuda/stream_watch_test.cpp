// Waits for streams whose work may never end, on a driver made for tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <runtime/cuda/stream_watch.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/stream.hpp>
#include <sinter/runtime/transfer.hpp>

#include "fake_gpus.hpp"

namespace {

namespace sn = sinter;
namespace runtime = sn::runtime;
using runtime::Buffer;
using runtime::Ref;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class Watch final : public runtime::StreamWatch {
 public:
  using StreamWatch::expect;
  std::string look() override { return ++looks > patience ? why : ""; }
  int looks = 0, patience = 1000;
  std::string why;
};

class StreamWatch : public ::testing::Test {
 protected:
  void SetUp() override {
    sn::testing::fake().goes_on = true;
    sn::synchronize();
  }
  void TearDown() override { sn::testing::fake().goes_on = false; }
  static void work() {
    const Ref<Buffer> buffer = Buffer::allocate(sn::Device(0), 4);
    const int one = 1;
    runtime::upload({buffer.get(), buffer->data()}, &one, sizeof one);
  }
};

TEST_F(StreamWatch, NobodyIsAskedWhereNothingIsExpected) {
  Watch watch;
  work();
  auto calls = sn::testing::calls_of([] { sn::synchronize(sn::Device(0)); });
  EXPECT_EQ(calls["cuStreamQuery"], 0);
  EXPECT_EQ(watch.looks, 0);
}

TEST_F(StreamWatch, WhatEndsIsWaitedFor) {
  Watch watch;
  watch.expect(1);
  watch.why = "not reached";
  work();
  EXPECT_NO_THROW(sn::synchronize(sn::Device(0)));
  watch.expect(0);
  watch.expect(2);
}

TEST_F(StreamWatch, WhatIsGivenUpIsAnErrorOfEveryWait) {
  Watch first, watch;
  first.expect(1);
  watch.expect(1);
  watch.why = "the peer of process 1 is gone";
  sn::testing::fake().goes_on = false;  // the stream comes to no end
  for (int i = 0; i < 3; ++i) {
    work();
    watch.looks = 0, first.looks = 0, watch.patience = 5;
    EXPECT_THAT([] { sn::synchronize(sn::Device(0)); }, ThrowsMessage<sn::Error>(HasSubstr("process 1 is gone")));
    EXPECT_EQ(watch.looks, 6);
    EXPECT_EQ(first.looks, 6) << "all are asked";
  }
  first.expect(0);
  watch.expect(0);
  sn::synchronize();
}

TEST_F(StreamWatch, ThatHasGoneIsNotAsked) {
  {
    Watch watch;
    watch.expect(3);
  }
  work();
  auto calls = sn::testing::calls_of([] { sn::synchronize(sn::Device(0)); });
  EXPECT_EQ(calls["cuStreamQuery"], 0);
}

}  // namespace

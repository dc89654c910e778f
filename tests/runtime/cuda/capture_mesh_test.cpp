// Evaluation on a mesh while the streams of its devices capture CUDA graphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include <sinter/runtime/error.hpp>
#include <sinter/sinter.hpp>

#include "fake_gpus.hpp"

namespace {

namespace sn = sinter;
using sn::testing::calls_of;
using sn::testing::fake;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class CaptureOnAMesh : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("SINTER_NCCL", SINTER_FAKE_CUDA, 1);
    sn::testing::fake_for_expressions().goes_on = true;
    sn::synchronize(sn::Device(0));
    sn::synchronize(sn::Device(1));
  }
  void TearDown() override { end(); }
  static void begin() {
    for (int i = 0; i < 2; ++i) fake().capturing.insert(sn::default_stream(i).native());
  }
  static void end() {
    fake().capturing.clear();
    for (int i = 0; i < 2; ++i) sn::synchronize(sn::Device(i));
  }
  static sn::Mesh mesh() { return sn::Mesh({sn::Device(0), sn::Device(1)}); }
};

TEST_F(CaptureOnAMesh, EachDeviceCapturesItsPart) {
  const auto x = sn::shard(sn::ones({1000, 4}), mesh());
  auto out = sn::shard(sn::ones({1000, 4}), mesh());
  sn::prepare(x + x * 3);
  for (int i = 0; i < 2; ++i) sn::synchronize(sn::Device(i));
  begin();
  out.assign(x + x * 3);  // the graphs are told what they keep
  const auto calls = calls_of([&] { out.assign(x + x * 3); });
  EXPECT_EQ(calls.at("cuLaunchKernel"), 2);
  EXPECT_EQ(calls.at("cuStreamGetCaptureInfo_v2"), 2);
  EXPECT_EQ(calls.size() - calls.count("cuCtxPushCurrent_v2") - calls.count("cuCtxPopCurrent_v2"), 2u);
}

TEST_F(CaptureOnAMesh, WhatRanksTellOneAnotherIsNotCaptured) {
  const auto x = sn::shard(sn::ones({1000, 4}), mesh());
  auto out = sn::replicate(sn::ones({4}), mesh());
  out.assign(x.sum(0));
  for (int i = 0; i < 2; ++i) sn::synchronize(sn::Device(i));
  begin();
  EXPECT_THAT([&] { out.assign(x.sum(0)); },
              ThrowsMessage<sn::CudaError>(AllOf(HasSubstr("captures a graph"), HasSubstr("all_reduce"))));
}

}  // namespace

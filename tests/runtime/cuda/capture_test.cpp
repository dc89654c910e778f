// Evaluation while a stream captures a CUDA graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
using Array = sn::Tensor<float, sn::Cuda<>>;

class Capture : public ::testing::Test {
 protected:
  void SetUp() override { sn::testing::fake_for_expressions(); }
  void TearDown() override {
    fake().capturing.clear();
    sn::synchronize();
  }
  static void begin(const sn::Stream& s) { fake().capturing.insert(s.native()); }
  static void end(const sn::Stream& s) { fake().capturing.erase(s.native()); }
  static Array array() { return sn::ones({1000}, sn::cuda<>); }
};

TEST_F(Capture, AReadyKernelIsCaptured) {
  Array x = array(), out = array();
  sn::prepare(x + x * 3);
  begin(sn::default_stream(0));
  out.assign(x + x * 3);  // the graph is told what it keeps
  EXPECT_EQ(calls_of([&] { out.assign(x + x * 3); }),
            (std::map<std::string, int>{{"cuLaunchKernel", 1}, {"cuStreamGetCaptureInfo_v2", 1}}));
}

TEST_F(Capture, AKernelThatIsNotReadySaysWhatToDo) {
  Array x = array(), out = array();
  begin(sn::default_stream(0));
  EXPECT_THAT([&] { out.assign((x - 7).exp()); },
              ThrowsMessage<sn::CudaError>(AllOf(HasSubstr("sub"), HasSubstr("compiled"), HasSubstr("captures a graph"),
                                                 HasSubstr("sn::prepare(e)"))));
  end(sn::default_stream(0));
  EXPECT_NO_THROW(out.assign((x - 7).exp()));
}

TEST_F(Capture, AProductThatWasPlannedIsCaptured) {
  fake_cublas::Control& blas = sn::testing::fake_blas();
  blas.workspace = 5000;
  const Array a = sn::ones({3, 1000}, sn::cuda<>), x = array();
  Array out = sn::ones({3}, sn::cuda<>);
  begin(sn::default_stream(0));
  EXPECT_THAT([&] { out.assign(sn::matmul(a, x)); },
              ThrowsMessage<sn::CudaError>(AllOf(HasSubstr("a matrix product would have to be planned"),
                                                 HasSubstr("Evaluate the expression once before"))));
  end(sn::default_stream(0));
  out.assign(sn::matmul(a, x));
  sn::synchronize();
  const std::size_t before = sn::memory_stats(sn::Device(0)).in_use;
  begin(sn::default_stream(0));
  const int planned = blas.calls["cublasLtMatmulAlgoGetHeuristic"];
  out.assign(sn::matmul(a, x));
  EXPECT_EQ(blas.calls["cublasLtMatmulAlgoGetHeuristic"], planned);
  // Each launch of the graph writes to the workspace, so nobody else gets it.
  const std::size_t captured = sn::memory_stats(sn::Device(0)).in_use;
  EXPECT_GE(captured, before + 5000);
  out.assign(sn::matmul(a, x));
  EXPECT_EQ(sn::memory_stats(sn::Device(0)).in_use, captured) << "products of one stream share it";
  end(sn::default_stream(0));
  std::shared_ptr<fake_cuda::Graph> graph = std::exchange(fake().graphs[sn::default_stream(0).native()], nullptr);
  sn::synchronize();
  EXPECT_EQ(sn::memory_stats(sn::Device(0)).in_use, captured);
  graph.reset();
  sn::synchronize();
  EXPECT_EQ(sn::memory_stats(sn::Device(0)).in_use, before);
}

TEST_F(Capture, MemoryOfTheDriverSaysWhatToDo) {
  Array x = array();
  sn::prepare(x + 5);
  sn::empty_cache(sn::Device(0));
  begin(sn::default_stream(0));
  EXPECT_THAT([&] { sn::Tensor r = x + 5; },
              ThrowsMessage<sn::CudaError>(
                  AllOf(HasSubstr("4.00 KiB"), HasSubstr("captures a graph"), HasSubstr("y.assign(e)"))));
}

TEST_F(Capture, OperandsOfOtherStreamsMustBeDone) {
  Array x = array();
  const sn::Stream s(0);
  const sn::StreamGuard guard(s);
  Array out = array();
  sn::prepare(x + 5);
  {
    const sn::Stream t(0);
    const sn::StreamGuard inner(t);
    x = array();
    begin(s);
  }
  EXPECT_THAT([&] { out.assign(x + 5); },
              ThrowsMessage<sn::CudaError>(AllOf(HasSubstr("is not part of it"), HasSubstr("sn::synchronize(0)"))));
  end(s);
  sn::synchronize(sn::Device(0));
  begin(s);
  EXPECT_NO_THROW(out.assign(x + 5));
}

TEST_F(Capture, WhatIsBeingCapturedCannotBeWaitedFor) {
  const sn::Stream s(0);
  Array x = array(), out = array(), on_default = array();
  sn::prepare(x * 6);
  sn::synchronize(sn::Device(0));
  {
    const sn::StreamGuard guard(s);
    begin(s);
    out.assign(x * 6);
  }
  EXPECT_THAT([&] { on_default.assign(out * 6); },
              ThrowsMessage<sn::CudaError>(HasSubstr("End the capture before using its tensors")));
}

TEST_F(Capture, MemoryThatAGraphUsesIsNotReused) {
  const sn::Stream s(0);
  const void* captured = nullptr;
  {
    Array x = array();
    captured = x.data();
    sn::prepare(x * 6);
    const sn::StreamGuard guard(s);
    Array out = array();
    sn::synchronize(sn::Device(0));
    begin(s);
    out.assign(x * 6);
  }
  end(s);
  EXPECT_NE(array().data(), captured);
}

TEST_F(Capture, MemoryThatOthersAreDoneWithIsTaken) {
  const sn::Stream s(0);
  Array out = array();
  sn::prepare(out * 6);
  sn::empty_cache(sn::Device(0));
  const void* freed = nullptr;
  {
    Array x = array();
    freed = x.data();
    const sn::StreamGuard guard(s);
    Array(sn::empty({1000}, sn::cuda<>)).copy_(x);
  }
  begin(sn::default_stream(0));
  EXPECT_THROW(sn::Tensor(out * 6), sn::CudaError);  // s has not read it yet
  end(sn::default_stream(0));
  s.synchronize();
  begin(sn::default_stream(0));
  sn::Tensor r = out * 6;
  EXPECT_EQ(r.data(), freed);
}

TEST_F(Capture, UploadsComeFromPinnedMemory) {
  Array x = array();
  const auto host = sn::ones({1000});
  const auto pinned = host.pin_memory();
  sn::synchronize(sn::Device(0));
  begin(sn::default_stream(0));
  EXPECT_THAT([&] { x.copy_(host); },
              ThrowsMessage<sn::CudaError>(AllOf(HasSubstr("4000 bytes"), HasSubstr("x.pin_memory()"))));
  EXPECT_EQ(calls_of([&] { x.copy_(pinned); }).at("cuMemcpyHtoDAsync_v2"), 1);
}

TEST_F(Capture, DriverErrorsOfCapturesSayWhatTheyAre) {
  begin(sn::default_stream(0));
  EXPECT_THAT(
      [] { sn::synchronize(sn::Device(0)); },
      ThrowsMessage<sn::CudaError>(AllOf(HasSubstr("cuStreamSynchronize"), HasSubstr("captures a CUDA graph"))));
}

}  // namespace

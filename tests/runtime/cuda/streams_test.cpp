// Several streams on a driver whose streams put work off: what is not waited for is not done, so a missing wait shows
// every time. Copies move bytes here; kernels compute nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <runtime/cuda/driver.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/sinter.hpp>

#include "fake_gpus.hpp"

namespace {

namespace sn = sinter;
namespace driver = sn::runtime::driver;
using sn::testing::calls_of;
using sn::testing::fake;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Calls = std::map<std::string, int>;
using Array = sn::Tensor<float, sn::Cuda<>>;

constexpr std::int64_t n = 1000;

sn::Tensor<float, sn::Cpu> host(float value) { return sn::full({n}, value); }
std::vector<float> all(float value) { return std::vector<float>(n, value); }

class Streams : public ::testing::Test {
 protected:
  void SetUp() override { sn::testing::fake_for_expressions(); }
  void TearDown() override {
    fake().fail_call.clear();
    fake().capturing.clear();
    sn::synchronize();
  }
  /// Written by a copy on the device, whose end only the stream knows.
  static Array array(float value, int gpu = 0) {
    Array a(sn::Tensor<float>(sn::empty({n}, sn::Device(gpu))));
    a.copy_(host(value).cuda(gpu));
    return a;
  }
  static void fail(const char* call, int result = 1) {
    fake().fail_call = call;
    fake().fail_result = result;
    fake().fail_after = 0;
  }
};

constexpr const char* record = "cuEventRecord";
constexpr const char* wait = "cuStreamWaitEvent";

/// How often a stream was made to wait; -1 when somebody waited on the host.
template <class F>
int waits_of(F work) {
  Calls calls = calls_of(work);
  if (calls["cuStreamSynchronize"] || calls["cuEventSynchronize"]) return -1;
  return calls[wait];
}

TEST_F(Streams, AGuardCallsNothing) {
  const sn::Stream s(0);
  EXPECT_EQ(calls_of([&] { const sn::StreamGuard guard(s); }), Calls{});
}

TEST_F(Streams, WorkOfOneStreamNeedsNoEvents) {
  const sn::Stream s(0);
  const sn::StreamGuard guard(s);
  Array x = sn::ones({n}, sn::cuda<>), out = sn::ones({n}, sn::cuda<>);
  const auto loop = [&] {
    for (int i = 0; i < 10; ++i) {
      out.assign(x * 2 + out);
      sn::Tensor r = x + out;
    }
  };
  loop();
  EXPECT_EQ(calls_of(loop), (Calls{{"cuLaunchKernel", 20}}));
}

TEST_F(Streams, OneWaitForAllOperandsOfAnotherStream) {
  Array x = sn::ones({n}, sn::cuda<>), y = sn::ones({n}, sn::cuda<>), z = sn::ones({n}, sn::cuda<>);
  const sn::Stream s(0);
  const sn::StreamGuard guard(s);
  Array out = sn::ones({n}, sn::cuda<>);
  const auto evaluate = [&] { out.assign(x + y * z); };
  sn::prepare(x + y * z);
  const Calls first = calls_of(evaluate);
  EXPECT_EQ(first.at(record), 1);
  EXPECT_EQ(first.at(wait), 1);
  EXPECT_FALSE(first.contains("cuStreamSynchronize"));
  EXPECT_EQ(calls_of(evaluate), (Calls{{"cuLaunchKernel", 1}}));  // they were not written since
}

TEST_F(Streams, AWriterWaitsForReadersAndReadersForTheWriter) {
  Array x = array(1);
  const sn::Stream s(0), t(0);
  Array on_s, on_t;
  {
    const sn::StreamGuard guard(s);
    on_s = sn::empty({n}, sn::cuda<>);
    EXPECT_EQ(waits_of([&] { on_s.copy_(x); }), 1);
  }
  {
    const sn::StreamGuard guard(t);
    on_t = sn::empty({n}, sn::cuda<>);
    EXPECT_EQ(waits_of([&] { on_t.copy_(x); }), 1);
  }
  Array other = array(2);
  EXPECT_EQ(waits_of([&] { x.copy_(other); }), 2);
  EXPECT_EQ(waits_of([&] { x.copy_(other); }), 0);
  {
    const sn::StreamGuard guard(t);
    EXPECT_EQ(waits_of([&] { on_t.copy_(x); }), 1);
  }
  EXPECT_EQ(x.to_vector(), all(2));
  EXPECT_EQ(on_s.to_vector(), all(1));
  EXPECT_EQ(on_t.to_vector(), all(2));
}

TEST_F(Streams, ADownloadSeesWhatAnotherStreamWrote) {
  const sn::Stream s(0);
  Array x = array(1), y = array(2);
  {
    const sn::StreamGuard guard(s);
    x.copy_(y);
  }
  EXPECT_EQ(x.to_vector(), all(2));  // on the default stream
}

TEST_F(Streams, OfAnUploadOnlyItsOwnEndIsWaitedFor) {
  const sn::Stream s(0);
  Array first, second;
  {
    const sn::StreamGuard guard(s);
    first = host(1).cuda(0);
    second = host(2).cuda(0);
  }
  Array x = array(0);
  const Calls calls = calls_of([&] { x.copy_(first); });
  EXPECT_EQ(calls.at(wait), 1);
  EXPECT_FALSE(s.query());
  EXPECT_EQ(x.to_vector(), all(1));
  EXPECT_FALSE(s.query()) << "the second upload was waited for, too";
}

/// Another thread's transfer of the same tensor on the same stream, issued between the recording of the first one's end
/// and its being noted.
TEST_F(Streams, AnEndStandsForNoUseThatCameAfterIt) {
  Array x = array(1), there = array(0, 1);
  Array on_other = x.cuda(1);  // from now on nothing has to be waited for, and one event is recorded: the end
  fake().after_record = [&] {
    const sn::StreamGuard guard(sn::default_stream(1));
    on_other = x.cuda(1);  // marks its own end
    there.copy_(x);
  };
  const Array first = x.cuda(1);
  EXPECT_FALSE(fake().after_record);
  x.copy_(host(2).cuda(0));  // waits for all three
  sn::default_stream(0).synchronize();
  EXPECT_EQ(there.to_vector(), all(1));
  EXPECT_EQ(on_other.to_vector(), all(1));
}

TEST_F(Streams, MemoryIsReusedBehindItsUsers) {
  const sn::Stream s(0);
  Array kept;
  const void* freed = nullptr;
  sn::empty_cache(sn::Device(0));
  {
    Array x = host(1).cuda(0);
    freed = x.data();
    const sn::StreamGuard guard(s);
    kept = sn::empty({n}, sn::cuda<>);
    kept.copy_(x);
  }
  Array y = host(5).cuda(0);
  EXPECT_EQ(y.data(), freed);
  EXPECT_EQ(y.to_vector(), all(5));  // waits for the default stream alone
  EXPECT_EQ(kept.to_vector(), all(1));
}

TEST_F(Streams, MemoryGoesHomeToItsStream) {
  const sn::Stream s(0);
  const void* of_s = nullptr;
  {
    const sn::StreamGuard guard(s);
    of_s = Array(sn::empty({n}, sn::cuda<>)).data();
  }
  Array on_default = sn::empty({n}, sn::cuda<>);
  EXPECT_NE(on_default.data(), of_s);
  const sn::StreamGuard guard(s);
  Array again;
  EXPECT_EQ(waits_of([&] { again = sn::empty({n}, sn::cuda<>); }), 0);
  EXPECT_EQ(again.data(), of_s);
}

TEST_F(Streams, AStreamThatWasLetGoIsHandedOutAgain) {
  void* native = nullptr;
  {
    const sn::Stream s(0);
    native = s.native();
  }
  Calls calls = calls_of([&] { EXPECT_EQ(sn::Stream(0).native(), native); });
  EXPECT_EQ(calls["cuStreamCreate"], 0);
}

TEST_F(Streams, CopiesBetweenGpusAreInOrderWithBoth) {
  Array x = array(1, 0), y = array(0, 1), z = array(2, 0);
  EXPECT_EQ(calls_of([&] { y.copy_(x); })[wait], 1);
  x.copy_(z);
  EXPECT_EQ(y.to_vector(), all(1));
  EXPECT_EQ(x.to_vector(), all(2));
  Array w = x.cuda(1);
  x = Array();  // its memory is taken again
  Array v = array(7, 0);
  EXPECT_EQ(v.to_vector(), all(7));
  EXPECT_EQ(w.to_vector(), all(2));
}

TEST_F(Streams, PinnedMemoryIsUploadedWithoutAStagingCopy) {
  auto p = host(3).pin_memory();
  ASSERT_TRUE(p.is_pinned());
  EXPECT_TRUE(p.pin_memory().same_storage(p));
  Array x = sn::empty({n}, sn::cuda<>);
  const Calls calls = calls_of([&] { x.copy_(p); });
  EXPECT_EQ(calls.at("cuMemcpyHtoDAsync_v2"), 1);
  EXPECT_EQ(calls.at(record), 1);
  EXPECT_FALSE(calls.contains("cuStreamSynchronize"));
  // The GPU has not read it yet: whoever writes waits.
  EXPECT_FALSE(sn::default_stream(0).query());
  p.assign(host(4));
  EXPECT_TRUE(sn::default_stream(0).query());
  EXPECT_EQ(x.to_vector(), all(3));
}

TEST_F(Streams, ThePointerOfPinnedMemoryWaitsToo) {
  auto p = host(3).pin_memory();
  Array x = p.cuda();
  p.data()[0] = 8;
  EXPECT_EQ(x.to_vector(), all(3));
}

TEST_F(Streams, PinnedMemoryIsReusedWhenGpusHaveReadIt) {
  Array x;
  const float* first = nullptr;
  {
    auto p = host(3).pin_memory();
    first = p.data();
    x = p.cuda();
  }
  {
    auto q = host(9).pin_memory();
    EXPECT_NE(q.data(), first);
  }
  EXPECT_EQ(x.to_vector(), all(3));
  EXPECT_GE(sn::pinned_memory_stats().cached, 2 * 4 * n);
  std::vector<sn::Tensor<float, sn::Cpu>> taken;
  bool found = false;
  for (int i = 0; i < 10 && !found; ++i) {
    taken.push_back(host(1).pin_memory());
    found = taken.back().data() == first;
  }
  EXPECT_TRUE(found);
}

/// A CUstream of somebody else's.
driver::CUstream make_foreign() {
  const auto& d = driver::opened().functions;
  driver::CUcontext context = nullptr;
  d.cuDevicePrimaryCtxRetain(&context, 0);
  d.cuCtxSetCurrent(context);
  driver::CUstream stream = nullptr;
  EXPECT_EQ(d.cuStreamCreate(&stream, driver::stream_non_blocking), driver::success);
  return stream;
}

TEST_F(Streams, AForeignStreamMayGoOnceItsHandlesAreGone) {
  driver::CUstream native = make_foreign();
  Array x = array(1), y, freed;
  {
    const sn::Stream s = sn::Stream::from_native(native, 0);
    EXPECT_EQ(s, sn::Stream::from_native(native, 0));
    const sn::StreamGuard guard(s);
    y = sn::empty({n}, sn::cuda<>);
    freed = sn::empty({n}, sn::cuda<>);
    y.copy_(x);
    freed.copy_(x);
  }
  fake().calls.clear();
  driver::opened().functions.cuStreamDestroy(native);
  EXPECT_EQ(waits_of([&] { x.copy_(array(4)); }), 1);  // for the last event of the stream that is gone
  EXPECT_EQ(y.to_vector(), all(1));
  freed = Array();
  EXPECT_NO_THROW(sn::synchronize(sn::Device(0)));
  EXPECT_GT(sn::empty_cache(sn::Device(0)), 0u);
  EXPECT_EQ(sn::memory_stats(sn::Device(0)).cached, 0u);
}

TEST_F(Streams, FailuresBetweenStreamsLeaveTheOrder) {
  const sn::Stream s(0);
  for (const char* call : {"cuEventCreate", record, wait, "cuStreamIsCapturing"}) {
    Array x = array(1), y = array(2);
    const sn::StreamGuard guard(s);
    sn::empty_cache(sn::Device(0));
    fail(call);
    bool failed = false;
    try {
      x.copy_(y);
    } catch (const sn::CudaError& e) {
      failed = true;
      EXPECT_THAT(e.what(), AllOf(HasSubstr("on cuda:0"), HasSubstr("CUDA_ERROR_INVALID_VALUE")));
    }
    EXPECT_TRUE(failed || fake().fail_call == "cuEventCreate") << call;  // an idle event may do
    fake().fail_call.clear();
    x.copy_(y);
    EXPECT_EQ(x.to_vector(), all(2)) << call;
  }
}

TEST_F(Streams, FailuresWhereMemoryIsFreedWait) {
  const sn::Stream s(0);
  for (const char* call : {record, "cuStreamIsCapturing"}) {
    Array kept;
    {
      Array x = array(1);
      const sn::StreamGuard guard(s);
      kept = sn::empty({n}, sn::cuda<>);
      kept.copy_(x);
      fail(call);
    }
    EXPECT_TRUE(fake().fail_call.empty()) << call;
    Array y = array(5);
    EXPECT_EQ(y.to_vector(), all(5));
    EXPECT_EQ(kept.to_vector(), all(1)) << call;
  }
}

TEST_F(Streams, EveryWaitOfTheHostIsCounted) {
  const Array x = array(1);
  const sn::Stream stream(sn::Device(0));
  const sn::Event event = stream.record();
  const auto is_counted = [&](const char* what, auto work) {
    const std::uint64_t before = sn::jit_stats().waits;
    Calls calls = calls_of(work);
    const int waited = calls["cuStreamSynchronize"] + calls["cuEventSynchronize"];
    EXPECT_EQ(sn::jit_stats().waits - before, static_cast<std::uint64_t>(waited)) << what;
    return waited;
  };
  EXPECT_EQ(is_counted("download", [&] { (void)x.to_vector(); }), 1);
  EXPECT_EQ(is_counted("stream", [&] { stream.synchronize(); }), 1);
  EXPECT_EQ(is_counted("event", [&] { event.synchronize(); }), 1);
  EXPECT_EQ(is_counted("upload", [&] { (void)host(1).cuda(); }), 0);
  // More than the staging memory holds: parts of it are waited for.
  const sn::Tensor large = sn::zeros({8 << 20});
  EXPECT_GT(is_counted("large upload", [&] { (void)large.cuda(); }), 0);
}

}  // namespace

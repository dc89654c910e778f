// Times of a GPU's work, by a driver whose events say how much work came before: a millisecond for each piece.
#include <runtime/trace/gpu_spans.hpp>
#include <runtime/trace/recorder.hpp>
#include <runtime/trace/traced_gpu.hpp>

#include "../traces.hpp"
#include "own_gpus.hpp"

namespace sinter::testing {
namespace {

using runtime::Recorder;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const ScratchFolder& folder() {
  static const ScratchFolder made;
  return made;
}

const test::Setup traces([] { setenv("SINTER_TRACE", folder().file("t.json").c_str(), 1); });

class GpuSpans : public OwnGpus {
 protected:
  GpuBackend& traced_gpu() {
    gpus_.push_back(runtime::make_traced_gpu(make_cuda_gpu(0)));
    return *gpus_.back();
  }
  /// Spans of the kernel with this name that streams show: written by now.
  static std::vector<Json> ran(const std::string& kernel) {
    Recorder::get().flush();
    std::vector<Json> found;
    for (const Json& e : TraceEvents(folder().file("t.json")).named(kernel))
      if (e["cat"] == "kernel") found.push_back(e);
    return found;
  }
  static void launch(GpuBackend& g, const KernelHandle& f) { g.launch({.kernel = f.handle(), .grid = 2, .words = {}}); }
};

TEST_F(GpuSpans, AreReadWhenTheHostWaits) {
  GpuBackend& g = traced_gpu();
  const KernelHandle f = g.load("FAKE waited", "waited");
  launch(g, f);
  EXPECT_THAT(ran("waited"), IsEmpty());
  EXPECT_EQ(fake().calls["cuStreamSynchronize"], 0);
  g.synchronize();
  const std::vector<Json> spans = ran("waited");
  ASSERT_THAT(spans, SizeIs(1));
  EXPECT_EQ(spans[0]["args"]["grid"], 2);
  EXPECT_GE(spans[0]["dur"], 1000);
  EXPECT_EQ(TraceEvents(folder().file("t.json")).lines().at(spans[0]["tid"]), "cuda:0, default stream");
}

TEST_F(GpuSpans, FollowOneAnother) {
  GpuBackend& g = traced_gpu();
  const KernelHandle f = g.load("FAKE many", "many");
  for (int i = 0; i < 1000; ++i) launch(g, f);
  g.synchronize();
  const std::vector<Json> spans = ran("many");
  ASSERT_THAT(spans, SizeIs(1000));
  for (std::size_t i = 1; i < spans.size(); ++i) EXPECT_GE(begin_of(spans[i]), end_of(spans[i - 1])) << i;
  // Events are used again.
  const int made = fake().calls["cuEventCreate"];
  for (int i = 0; i < 100; ++i) launch(g, f);
  g.synchronize();
  EXPECT_EQ(fake().calls["cuEventCreate"], made);
}

TEST_F(GpuSpans, BeyondTheBoundAreLeftOut) {
  GpuBackend& g = traced_gpu();
  const KernelHandle f = g.load("FAKE bound", "bound");
  for (std::size_t i = 0; i < runtime::GpuSpans::capacity + 100; ++i) launch(g, f);
  EXPECT_EQ(fake().calls["cuStreamSynchronize"], 0);
  g.synchronize();
  EXPECT_THAT(ran("bound"), SizeIs(runtime::GpuSpans::capacity));
}

TEST_F(GpuSpans, ThereAreNoneOfWhatAGraphCaptures) {
  GpuBackend& g = traced_gpu();
  const KernelHandle f = g.load("FAKE captured", "captured");
  runtime::StreamImpl& stream = g.streams()->standard();
  stream.may_capture = true;
  fake().capturing.insert(stream.native);
  const int recorded = fake().calls["cuEventRecord"], asked = fake().calls["cuEventQuery"];
  launch(g, f);
  EXPECT_EQ(fake().calls["cuEventRecord"], recorded);
  EXPECT_EQ(fake().calls["cuEventQuery"], asked);
  fake().capturing.clear();
  fake().graphs.clear();
  launch(g, f);
  g.synchronize();
  EXPECT_THAT(ran("captured"), SizeIs(1));
}

TEST_F(GpuSpans, AnswersOfALostDeviceAreNoErrors) {
  GpuBackend& g = traced_gpu();
  const KernelHandle f = g.load("FAKE lost", "lost");
  for (const char* call : {"cuEventRecord", "cuEventCreate", "cuEventQuery", "cuEventElapsedTime"}) {
    fail(call, 700, 0, false);
    for (int i = 0; i < 200; ++i) EXPECT_NO_THROW(launch(g, f)) << call;
    fake().fail_call.clear();
    g.synchronize();
  }
  launch(g, f);
  g.synchronize();
  EXPECT_THAT(ran("lost"), Not(IsEmpty()));
}

TEST_F(GpuSpans, ADeviceWithoutAClockHasNone) {
  fail("cuEventRecord", 1, 0, false);
  GpuBackend& g = traced_gpu();
  fake().fail_call.clear();
  const KernelHandle f = g.load("FAKE clock", "clock");
  launch(g, f);
  g.synchronize();
  EXPECT_THAT(ran("clock"), IsEmpty());
}

TEST_F(GpuSpans, CopiesBetweenTracedDevices) {
  GpuBackend& a = traced_gpu();
  gpus_.push_back(runtime::make_traced_gpu(make_cuda_gpu(1)));
  GpuBackend& b = *gpus_.back();
  void *const from = a.allocate(400), *const to = b.allocate(400);
  a.upload(from, counted(100).data(), 400);
  a.synchronize();
  b.copy(to, from, 400, a);
  EXPECT_TRUE(fetch(b, to, 100) == counted(100));
  a.deallocate(from, 400);
  b.deallocate(to, 400);
}

}  // namespace
}  // namespace sinter::testing

// Expressions on several streams, from one thread and from many, on every GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <runtime/gpus.hpp>
#include <sinter/sinter.hpp>
#include <sstream>
#include <thread>
#include <vector>

namespace {

namespace sn = sinter;
using testing::HasSubstr;
using testing::ThrowsMessage;
using OnGpu = sn::Tensor<float, sn::Cuda<>>;

constexpr std::int64_t extent = 300;

OnGpu filled(float value) { return sn::full({extent}, value, sn::cuda<>); }
std::vector<float> all(float value) { return std::vector<float>(extent, value); }

class OnStreams : public testing::Test {
 protected:
  void SetUp() override {
    if (!sn::cuda_is_available()) GTEST_SKIP() << "needs a GPU";
  }
};

TEST_F(OnStreams, AChainThroughSeveral) {
  const std::vector<sn::Stream> streams{sn::Stream(0), sn::default_stream(0), sn::Stream(0)};
  OnGpu x = filled(0), y = filled(1);
  for (std::size_t i = 0; i < 30; ++i) {
    const sn::StreamGuard guard(streams[i % 3]);
    x = x + y;                // new memory each time
    y += i % 2 ? -1.f : 1.f;  // in place
  }
  EXPECT_EQ(x.to_vector(), all(45));
  EXPECT_EQ(y.to_vector(), all(1));
}

TEST_F(OnStreams, ViewsAndSeveralResults) {
  const sn::Stream s(0);
  auto x = sn::zeros({4, 5}, sn::cuda<>);
  {
    const sn::StreamGuard guard(s);
    x[1] = 2;
    x(sn::range(), 3) += 1;
  }
  auto [plus, times] = sn::evaluate(x + 1, x * 2);
  std::ostringstream out;
  out << x[1];
  EXPECT_EQ(out.str(), "tensor([2., 2., 2., 3., 2.], device='cuda:0')");
  const sn::StreamGuard guard(s);
  EXPECT_EQ(plus(1, 3).item(), 4);
  EXPECT_EQ(times(1, 3).item(), 6);
}

TEST_F(OnStreams, SharedOperandsFromManyThreads) {
  const OnGpu weights = filled(3);
  sn::prepare(weights * 2 + weights);
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      const sn::Stream s(0);
      const sn::StreamGuard guard(s);
      OnGpu own = filled(static_cast<float>(t));
      for (int i = 0; i < 20; ++i) own = own + weights * 2;
      EXPECT_EQ(own.to_vector(), all(static_cast<float>(t + 120)));
    });
  for (std::thread& t : threads) t.join();
}

TEST_F(OnStreams, PinnedTensors) {
  auto staged = sn::zeros({extent}).pin_memory();
  EXPECT_TRUE(staged.is_pinned());
  EXPECT_FALSE(sn::zeros({extent}).is_pinned());
  EXPECT_TRUE(staged.pin_memory().same_storage(staged));
  const sn::Stream s(0);
  OnGpu total = filled(0);
  for (int i = 1; i <= 10; ++i) {
    staged.assign(i);
    const sn::StreamGuard guard(s);
    total += staged.cuda();
  }
  EXPECT_EQ(total.to_vector(), all(55));
  staged.copy_(total);
  EXPECT_EQ(staged.to_vector(), all(55));
  sn::Tensor half = sn::arange(10).pin_memory()(sn::range(2, 8)).cuda() + 1;
  EXPECT_EQ(half.to_vector(), (std::vector<std::int64_t>{3, 4, 5, 6, 7, 8}));
}

TEST_F(OnStreams, OnlyTheCpusTensorsArePinned) {
  EXPECT_THAT([] { filled(1).pin_memory(); },
              ThrowsMessage<sn::DeviceError>(
                  testing::AllOf(HasSubstr("float32 (300,) on cuda:0"), HasSubstr(".cpu().pin_memory()"))));
}

TEST_F(OnStreams, WaitsForStreamsAndEventsRaiseFaults) {
  const sn::Stream s(0);
  const sn::StreamGuard guard(s);
  const auto x = sn::arange(5).cuda();
  for (const bool by_event : {false, true}) {
    sn::Tensor r = sn::floor_divide(1, x);
    const sn::Event e = s.record();
    EXPECT_THAT([&] { by_event ? e.synchronize() : s.synchronize(); }, ThrowsMessage<sn::Error>(HasSubstr("zero")));
    EXPECT_NO_THROW(s.synchronize());
  }
}

TEST_F(OnStreams, OnTwoGpus) {
  if (sn::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  const sn::Stream a(0), b(1);
  OnGpu x = filled(1);
  for (int i = 0; i < 5; ++i) {
    const sn::StreamGuard on_a(a);
    const sn::StreamGuard on_b(b);
    OnGpu there = x.cuda(1);
    there += 1;
    x = there.cuda(0);
  }
  EXPECT_EQ(x.to_vector(), all(6));
}

}  // namespace

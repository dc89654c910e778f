// What a kernel reports reaches whoever waits for its GPU, once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/fault.hpp>
#include <sinter/sinter.hpp>

#include "fake_gpus.hpp"

namespace {

namespace sn = sinter;
using sn::testing::fake;
using ::testing::AllOf;
using ::testing::HasSubstr;

class FaultWord : public ::testing::Test {
 protected:
  void SetUp() override { sn::testing::fake_for_expressions(); }

  /// As a kernel does it.
  static void report(int gpu, const std::string& message) {
    auto* word = reinterpret_cast<std::uint32_t*>(sn::runtime::gpu(gpu).fault_word());
    if (*word == 0) *word = sn::runtime::fault_code(message);
  }
  template <class F>
  static std::string error_of(F&& f) {
    try {
      f();
    } catch (const sn::Error& e) {
      return e.what();
    }
    return "no error";
  }
};

TEST_F(FaultWord, EqualMessagesHaveOneCode) {
  const std::uint32_t a = sn::runtime::fault_code("a"), b = sn::runtime::fault_code("b");
  EXPECT_NE(a, 0u);
  EXPECT_NE(a, b);
  EXPECT_EQ(sn::runtime::fault_code("a"), a);
}

TEST_F(FaultWord, WaitingThrowsItOnce) {
  report(0, "the first");
  report(0, "the second");  // the first one stays
  EXPECT_THAT(error_of([] { sn::synchronize(sn::Device(0)); }), AllOf(HasSubstr("the first"), HasSubstr("cuda:0")));
  EXPECT_EQ(error_of([] { sn::synchronize(sn::Device(0)); }), "no error");
  const sn::Tensor<float> x = sn::ones({3}, sn::Device(0));
  report(0, "another");
  EXPECT_THAT(error_of([&] { (void)x.cpu(); }), HasSubstr("another"));
  EXPECT_EQ(error_of([&] { (void)x.cpu(); }), "no error");
}

TEST_F(FaultWord, StreamsAndEventsThrowItToo) {
  const sn::Stream stream{sn::Device(0)};
  report(0, "seen by the stream");
  EXPECT_THAT(error_of([&] { stream.synchronize(); }), HasSubstr("seen by the stream"));
  const sn::Event event = stream.record();
  report(0, "seen by the event");
  EXPECT_THAT(error_of([&] { event.synchronize(); }), HasSubstr("seen by the event"));
}

TEST_F(FaultWord, AllGpusAreWaitedForThoughOneHasAFault) {
  report(0, "on the first");
  report(1, "on the second");
  EXPECT_THAT(error_of([] { sn::synchronize(); }), HasSubstr("on the first"));
  EXPECT_EQ(error_of([] { sn::synchronize(); }), "no error");  // the second one's was taken, and is not told later
}

TEST_F(FaultWord, KernelsThatMayFaultGetItsAddress) {
  const sn::Tensor<std::int64_t> a = sn::ones<std::int64_t>({3}, sn::Device(0));
  const sn::Tensor<std::int64_t> r = a % a;
  EXPECT_EQ(error_of([] { sn::synchronize(); }), "no error");
}

}  // namespace

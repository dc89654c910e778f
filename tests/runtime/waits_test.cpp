// Which calls make the host wait for a GPU, by the count of them.
#include <runtime/waits.hpp>

#include <gtest/gtest.h>

#include <sinter/runtime/stream.hpp>
#include <sinter/sinter.hpp>

#include "gpus.hpp"

namespace {

namespace sn = sinter;

template <class F>
std::uint64_t waits_of(F f) {
  const std::uint64_t before = sn::runtime::waits();
  f();
  return sn::runtime::waits() - before;
}

TEST(Waits, ReadingOnTheHostWaits) {
  const sn::Tensor x = sn::arange(6).to<float>().to("cuda:0");
  EXPECT_EQ(waits_of([&] { (void)x.to_vector(); }), 1u);
  EXPECT_EQ(waits_of([&] { (void)x[2].item(); }), 1u);
  EXPECT_EQ(waits_of([&] { (void)sn::Tensor((x * 2).sum()).item(); }), 1u);
  EXPECT_EQ(waits_of([&] { (void)x.cpu(); }), 1u);
  EXPECT_EQ(waits_of([&] { (void)sn::empty({0}, "cuda:0").cpu(); }), 0u);
}

TEST(Waits, IssuingWorkDoesNot) {
  const sn::Tensor host = sn::ones({4});
  const sn::Tensor x = host.to("cuda:0"), y = sn::ones({4}, "cuda:0");
  sn::Tensor log = sn::zeros({8}, "cuda:0");
  EXPECT_EQ(waits_of([&] {
              sn::Tensor z = (x + y).exp();
              log(sn::range(2, 6)).assign(z);
              z.copy_(x);
              (void)sn::matmul(x, y).shape();
              (void)host.to("cuda:0");
              (void)x.to("cuda:1");
            }),
            0u);
  EXPECT_EQ(waits_of([&] { sn::Tensor(host * 2 + 1).to_vector(); }), 0u);
}

TEST(Waits, SynchronizingIsOneEach) {
  const sn::Tensor x = sn::ones({4}, "cuda:0"), y = sn::ones({4}, "cuda:1");
  const sn::Stream stream(sn::Device(0));
  const sn::Event event = stream.record();
  EXPECT_EQ(waits_of([] { sn::synchronize(sn::Device(0)); }), 1u);
  EXPECT_EQ(waits_of([] { sn::synchronize(); }), 2u);  // each GPU that was used
  EXPECT_EQ(waits_of([&] { stream.synchronize(); }), 1u);
  EXPECT_EQ(waits_of([&] { event.synchronize(); }), 1u);
  EXPECT_EQ(waits_of([&] { (void)stream.query(), (void)event.query(), stream.wait(event); }), 0u);
}

TEST(Waits, AreInTheStatistics) {
  const auto before = sn::jit_stats();
  (void)sn::ones({2}, "cuda:0").to_vector();
  EXPECT_EQ(sn::jit_stats().waits, before.waits + 1);
}

}  // namespace

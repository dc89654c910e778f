// User-defined functions.
#include "devices.hpp"

#include <gmock/gmock.h>

namespace sn = sinter;
using ::testing::HasSubstr;

namespace {

constexpr sn::function swish([](auto x, auto beta) { return x * sn::sigmoid(beta * x); });
constexpr sn::function squared_distance([](auto x, auto y) {
  const auto d = x - y;
  return d * d;
});
constexpr sn::function twice([](auto x) { return swish(x, 1.f) + swish(x, 1.f); });

class Function : public ::testing::TestWithParam<sn::Device> {};

TEST_P(Function, IsPartOfTheKernel) {
  const auto x = sn::tensor({-1.f, 0.f, 2.f}).to(GetParam()), y = sn::tensor({1.f, 2.f, 3.f}).to(GetParam());
  const auto before = sn::jit_stats();
  const sn::Tensor r = swish(x + 1, 0.5) * y;
  EXPECT_EQ(sn::jit_stats().launches - before.launches, 1u);
  const sn::Tensor expected = (x + 1) * sn::sigmoid(0.5 * (x + 1)) * y;
  EXPECT_TRUE(sn::equal(r, expected));
}

TEST_P(Function, NestsInItselfAndInOthers) {
  const auto x = sn::tensor({-1.f, 0.f, 2.f}).to(GetParam());
  const sn::Tensor r = twice(swish(swish(x, 1.f), 2.f));
  const sn::Tensor s = swish(x, 1.f), t = swish(s, 2.f), expected = swish(t, 1.f) * 2;
  EXPECT_TRUE(sn::allclose(r, expected));
}

TEST_P(Function, TakesTensorsNumbersAndLazy) {
  const auto x = sn::tensor({1.5f, -2.f}).to(GetParam());
  EXPECT_TRUE(sn::equal(sn::Tensor(squared_distance(x, 1)), sn::Tensor((x - 1) * (x - 1))));
  EXPECT_TRUE(sn::equal(sn::Tensor(squared_distance(2.5, x)), sn::Tensor((2.5 - x) * (2.5 - x))));
  const sn::Lazy lazy = x * 2;
  EXPECT_TRUE(sn::equal(sn::Tensor(squared_distance(lazy, x)), sn::Tensor(x * x)));
}

INSTANTIATE_TEST_SUITE_P(Devices, Function, ::testing::ValuesIn(sinter_tests::devices()), [](const auto& about) {
  return about.param.is_cpu() ? "Cpu" : "Gpu" + std::to_string(about.index);
});

TEST(Function, ComputesEachOperandOnce) {
  const auto x = sn::ones({8});
  EXPECT_THAT(sn::explain(squared_distance(sn::exp(x), x)), HasSubstr("3 operations in 1 kernel"));
  using Once = decltype(squared_distance(sn::exp(x) * 2 + 1, x));
  using Four = decltype((sn::exp(x) * 2 + 1 - x) * (sn::exp(x) * 2 + 1 - x));
  EXPECT_LT(Once::byte_count, Four::byte_count);
}

TEST(Function, KeepsWhatItReads) {
  const auto make = [] { return squared_distance(sn::ones({3}) * 3, sn::ones({3})); };
  const auto e = make();
  EXPECT_EQ(sn::Tensor(e).to_vector(), (std::vector<float>{4, 4, 4}));
}

}  // namespace

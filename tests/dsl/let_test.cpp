#include "devices.hpp"

#include <gmock/gmock.h>

namespace sn = sinter;
using testing::ElementsAre;

namespace {

TEST(Let, ComputesTheSharedPartOnce) {
  for (const sn::Device& d : sinter_tests::devices()) {
    const auto x = sn::tensor({1.f, 2.f, 3.f}, d);
    const sn::Tensor r = sn::let(x + 1, [](auto v) { return v * v + v; });
    EXPECT_THAT(r.to_vector(), ElementsAre(6, 12, 20));
  }
}

TEST(Let, Nests) {
  const auto x = sn::tensor({2.f}), y = sn::tensor({10.f});
  const sn::Tensor inner =
      sn::let(x * 2, [&](auto v) { return sn::let(y + 1, [&](auto w) { return v * w - v + x; }); });
  EXPECT_EQ(inner.item(), 4.f * 11 - 4 + 2);
  const sn::Tensor in_value = sn::let(sn::let(x, [](auto v) { return v * v; }), [](auto w) { return w + w; });
  EXPECT_EQ(in_value.item(), 8.f);
  const auto square = [](auto v) { return v * v; };
  const sn::Tensor beside = sn::let(x + 1, square) - sn::let(y, square);
  EXPECT_EQ(beside.item(), 9.f - 100.f);
  const sn::Tensor twice = sn::let(sn::let(x, square), square);
  EXPECT_EQ(twice.item(), 16.f);
}

TEST(Let, KeepsTheTypeSmall) {
  const auto x = sn::tensor({1.0001f});
  const auto step = [](auto v) { return v * v + v * 0.5f; };
  auto e = sn::let(sn::let(sn::let(sn::let(sn::let(x + 0, step), step), step), step), step);
  static_assert(decltype(e)::byte_count < 100);
  float expected = 1.0001f;
  for (int i = 0; i < 5; ++i) expected = expected * expected + expected * 0.5f;
  EXPECT_NEAR(sn::Tensor(e).item(), expected, 1e-3 * expected);
}

TEST(Let, TakesTensorsAndLazies) {
  const auto x = sn::tensor({3.f});
  EXPECT_EQ(sn::Tensor(sn::let(x, [](auto v) { return v * v; })).item(), 9.f);
  EXPECT_EQ(sn::Tensor(sn::let(sn::Lazy(x) + 1, [](auto v) { return v * v; })).item(), 16.f);
  EXPECT_EQ(sn::Tensor(sn::let(x, [](auto v) { return v; })).item(), 3.f);
}

TEST(Let, BodiesTakeValuesAndReferences) {
  const auto x = sn::tensor({3.f});
  EXPECT_EQ(sn::Tensor(sn::let(x + 1, [](auto& v) { return v * v; })).item(), 16.f);
  EXPECT_EQ(sn::Tensor(sn::let(x + 1, [](const auto& v) { return v * v; })).item(), 16.f);
  EXPECT_EQ(sn::Tensor(sn::let(x + 1, [](auto&& v) { return v * v; })).item(), 16.f);
  EXPECT_EQ(sn::Tensor(sn::let(x + 1, [](auto& v) -> auto& { return v; })).item(), 4.f);
  EXPECT_EQ(sn::Tensor(sn::let(x + 1, [](auto& v) { return sn::let(v * 2, [&](auto& w) { return v + w; }); })).item(),
            12.f);
  const auto lazy = sn::Lazy(x) + 1;
  EXPECT_EQ(sn::Tensor(sn::let(lazy, [](auto& v) { return v * v; })).item(), 16.f);
}

}  // namespace

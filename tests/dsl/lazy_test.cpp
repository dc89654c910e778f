#include "devices.hpp"

#include <gmock/gmock.h>

#include <fstream>

namespace sn = sinter;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

TEST(Lazy, GrowsInALoop) {
  for (const sn::Device& d : sinter_tests::devices()) {
    const auto x = sn::tensor({1.f, 2.f}, d);
    sn::Lazy sum = x * 1;
    for (int i = 0; i < 40; ++i) sum = sum * 0.5f + x;
    std::vector<float> expected{1, 2};
    for (int i = 0; i < 40; ++i)
      for (std::size_t k = 0; k < 2; ++k) expected[k] = expected[k] * 0.5f + static_cast<float>(k + 1);
    EXPECT_EQ(sn::Tensor(sum).to_vector(), expected);
  }
}

TEST(Lazy, MixesWithEverything) {
  const auto x = sn::tensor({1.f, 2.f});
  const auto i = sn::tensor({10, 20});
  sn::Lazy e = x + 1;
  static_assert(std::is_same_v<decltype(e), sn::Lazy<float, sn::Cpu>>);
  auto f = sn::where(e > 2, i * 2 + e, 0);
  static_assert(std::is_same_v<decltype(f)::value_type, float>);
  EXPECT_THAT(sn::Tensor(f).to_vector(), ElementsAre(0, 43));
  EXPECT_THAT(sn::Tensor(sn::cast<std::int64_t>(e.exp())).to_vector(), ElementsAre(7, 20));
  sn::Lazy<float> anywhere = e;
  EXPECT_THAT(sn::Tensor(-anywhere).to_vector(), ElementsAre(-2, -3));
  EXPECT_EQ(sinter_tests::printed(e), "tensor([2., 3.])");
}

TEST(Lazy, MovesAndReadsAsTensorsDo) {
  const auto x = sn::tensor({1.f, 2.f});
  const sn::Lazy e = x + 1;
  EXPECT_EQ(e.cuda().device(), sn::Device(sn::cuda<>));
  EXPECT_EQ(e.to("cuda:1").device(), sn::Device("cuda:1"));
  EXPECT_THAT(e.to<std::int64_t>().to_vector(), ElementsAre(2, 3));
  static_assert(std::is_same_v<decltype(e.to<double>()), sn::Lazy<double, sn::Cpu>>);
  EXPECT_EQ(e.shape(), sn::Shape(2));
  EXPECT_EQ(sn::Lazy(x[1] * 3).item(), 6.f);
}

TEST(Lazy, IsWrittenAndEvaluatedAsTreesAre) {
  const auto x = sn::tensor({1.f, 2.f});
  auto y = sn::tensor({10.f, 20.f}), z = sn::zeros({2});
  const sn::Lazy l = x + 1;
  y += l;
  EXPECT_THAT(y.to_vector(), ElementsAre(12, 23));
  y(sn::range(0, 2)) = l + y;
  EXPECT_THAT(y.to_vector(), ElementsAre(14, 26));
  y.assign(l * 2);
  EXPECT_THAT(y.to_vector(), ElementsAre(4, 6));
  const auto [a, b] = sn::evaluate(l, x * 3);
  EXPECT_THAT(a.to_vector(), ElementsAre(2, 3));
  EXPECT_THAT(b.to_vector(), ElementsAre(3, 6));
  sn::evaluate(sn::into(y, l * 5), sn::into(z, y + l));  // everything is read first
  EXPECT_THAT(y.to_vector(), ElementsAre(10, 15));
  EXPECT_THAT(z.to_vector(), ElementsAre(6, 9));
  const auto [c, d] = sn::eager(l, l + x);
  EXPECT_THAT(d.to_vector(), ElementsAre(3, 5));
  const auto before = sn::jit_stats().launches;
  sn::prepare(l, x);
  EXPECT_EQ(sn::jit_stats().launches, before);
}

TEST(Lazy, ShowsWhatItBecomes) {
  const auto x = sn::tensor({1.f, 2.f}), y = sn::tensor({3.f, 4.f});
  const auto tree = (x + 2).exp() * y;
  const sn::Lazy l = tree;
  EXPECT_EQ(sn::explain(l), sn::explain(tree));
  EXPECT_EQ(sn::cuda_source(l), sn::cuda_source(tree));
  EXPECT_EQ(sn::to_dot(l), sn::to_dot(tree));
  const auto launches = sn::jit_stats().launches;
  EXPECT_EQ(sn::shape_of(l), sn::Shape(2));
  EXPECT_EQ(l.shape(), sn::Shape(2));
  EXPECT_EQ(sn::jit_stats().launches, launches);
}

TEST(Lazy, ALoopThatEvaluatesEachStepKeepsNoHistory) {
  const auto resident = [] {
    std::ifstream statm("/proc/self/statm");
    long pages = 0, used = 0;
    statm >> pages >> used;
    return used * 4096 / (1 << 20);
  };
  sn::Lazy s = sn::ones({250'000});  // 1 MB
  const long before = resident();
  for (int i = 0; i < 300; ++i) {
    s = s * 0.5 + 1;
    const sn::Tensor r = s;
  }
  EXPECT_LT(resident() - before, 60);
  EXPECT_EQ(sn::Tensor(s)[0].item(), 2.f);
}

TEST(Lazy, ResultsThatTheirOwnersChange) {
  sn::Lazy s = sn::ones({10});
  double expected = 1;
  for (int i = 0; i < 50; ++i) {
    s = s * 0.5 + 1;
    expected = expected * 0.5 + 1;
    sn::Tensor r = s;
    EXPECT_FLOAT_EQ(r[3].item(), static_cast<float>(expected));
    i % 2 ? r *= 100 : r.assign(0);
    if (i % 3 == 0) r.data()[3] = 7;
  }
  const auto plans = sn::jit_stats().plans;
  for (int i = 0; i < 50; ++i) {
    s = s * 0.5 + 1;
    sn::Tensor r = s;
    r *= 100;
  }
  EXPECT_LT(sn::jit_stats().plans - plans, 5u);  // every step evaluates graphs of the same form
  const sn::Lazy l = sn::tensor({1.f, 2.f}) + 1;
  sn::Tensor r = l;
  r.data()[0] = 100;
  EXPECT_THAT(sn::Tensor(l).to_vector(), ElementsAre(2, 3));
}

TEST(Lazy, ShowsWhatItBecomesAfterItsEvaluationToo) {
  const sn::Lazy l = sn::ones({3}) * 2 + 1;
  const std::string before = sn::explain(l);
  const sn::Tensor r = l;
  EXPECT_EQ(sn::explain(l), before);
}

TEST(Lazy, GraphsOfManyForms) {  // discarded and made again
  for (int round = 0; round < 2; ++round)
    for (int n = 0; n < 1500; ++n) {
      sn::Lazy s = sn::tensor({1.f});
      for (int bit = 0; bit < 11; ++bit) s = n >> bit & 1 ? s + 1 : s * 2;
      float expected = 1;
      for (int bit = 0; bit < 11; ++bit) expected = n >> bit & 1 ? expected + 1 : expected * 2;
      ASSERT_EQ(sn::Tensor(s).item(), expected) << n;
    }
}

TEST(Lazy, RefusesLeavesThatChanged) {
  auto x = sn::tensor({1.f});
  sn::Lazy e = x + 1;
  x += 1;
  EXPECT_THROW(sn::Tensor r = e, sn::Error);
}

TEST(Lazy, LongLoopsStayBounded) {
  const auto x = sn::tensor({1.f});
  sn::Lazy sum = x * 0;
  for (int i = 0; i < 50'000; ++i) sum = sum + x;
  EXPECT_EQ(sn::Tensor(sum).item(), 50'000.f);
}

TEST(Lazy, ACastToItsOwnDtypeRounds) {
  const auto x = sn::tensor<sn::half>({300});
  const sn::Lazy square = x * x;
  EXPECT_EQ(sn::Tensor(sn::cast<float>(sn::cast<sn::half>(square))).item(), INFINITY);
  EXPECT_EQ(sn::Tensor(sn::cast<float>(square)).item(), 90000.f);
}

}  // namespace

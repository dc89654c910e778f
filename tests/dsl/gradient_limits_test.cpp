// Gradients where formulas have none: at zeros of norms, at probabilities of 0 and 1, of 16-bit sums of many elements;
// and through values that the program looked at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <sinter/sinter.hpp>

namespace gradient_limits_test {
namespace {

namespace sn = sinter;
using namespace sn::literals;
using Doubles = sn::Tensor<double>;
using testing::HasSubstr;

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const sn::Error& e) {
    return e.what();
  }
  return "no error";
}

Doubles doubles(std::vector<double> values) {
  return Doubles(sn::from_blob(values.data(), sn::Shape(static_cast<std::int64_t>(values.size()))).clone());
}

TEST(Gradients, OfHalvesCountMoreElementsThanHalvesHold) {
  const sn::Tensor x = sn::full({70000}, 2.0).to<sn::half>(), y = sn::zeros<sn::half>({70000});
  const auto largest = [](const auto& e) { return sn::Tensor(sn::cast<float>(e).abs().max()).item(); };
  EXPECT_NEAR(largest(sn::grad(x.mean(), x)), 1 / 70000.f, 1e-7);
  EXPECT_NEAR(largest(sn::grad(sn::mse_loss(x, y), x)), 4 / 70000.f, 1e-7);
  EXPECT_EQ(largest(sn::grad(x.var(), x)), 0);
  EXPECT_LT(largest(sn::grad(sn::rms_norm(x, {70000}).sum(), x)), 1e-3);
  const sn::Tensor alternating = sn::where(sn::arange(70000) % 2 == 0, 1.f, -1.f).to<sn::half>();
  EXPECT_NEAR(largest(sn::grad(alternating.var(), alternating)), 2 / 70000.f, 1e-7);
}

TEST(Gradients, OfHalvesHaveUnroundedConstants) {
  const sn::Tensor p = sn::tensor({1.f, 0.f, 0.5f}).to<sn::half>(), y = sn::tensor({1.f, 0.f, 1.f}).to<sn::half>();
  const sn::Tensor g = sn::cast<float>(sn::grad(sn::binary_cross_entropy(p, y, sn::reduction::sum), p));
  EXPECT_TRUE(sn::equal(g, sn::tensor({0.f, 0.f, -2.f})));
}

TEST(Gradients, OfBinaryCrossEntropyAreFinite) {
  const Doubles p = doubles({1, 0, 0.25, 1, 0}), y = doubles({1, 0, 1, 0, 1});
  const auto loss = sn::binary_cross_entropy(p, y, sn::reduction::sum);
  EXPECT_TRUE(sn::allclose(sn::grad(loss, p), doubles({0, 0, -4, 1e12, -1e12})));
  EXPECT_TRUE(sn::allclose(sn::grad(loss, y), doubles({-100, 100, std::log(0.75) - std::log(0.25), -100, 100})));
  EXPECT_NEAR(Doubles(loss).item(), -std::log(0.25) + 200, 1e-12);
}

TEST(Gradients, OfNormsAreZeroAtZero) {
  const Doubles nothing = sn::zeros<double>({3}), some = doubles({3, 0, 4});
  const auto at = [&](const Doubles& x, const auto& p) { return Doubles(sn::grad(sn::norm(x, p), x)); };
  for (const double p : {0.5, 1.5, 2.0, 2.5, 3.0, 4.0, -1.0}) EXPECT_TRUE(sn::equal(at(nothing, p), nothing)) << p;
  EXPECT_TRUE(sn::equal(at(nothing, 2_c), nothing));
  EXPECT_TRUE(sn::equal(at(nothing, 1_c), nothing));
  EXPECT_TRUE(sn::allclose(at(some, 2_c), doubles({0.6, 0, 0.8})));
  EXPECT_TRUE(sn::allclose(at(some, 2.0), doubles({0.6, 0, 0.8})));
  EXPECT_TRUE(sn::allclose(at(some, 3.0), doubles({9, 0, 16}) / std::pow(91, 2 / 3.0)));
  const double root = std::sqrt(3) + 2;
  EXPECT_TRUE(sn::allclose(at(some, 0.5), doubles({root / std::sqrt(3), 0, root / 2})));
  EXPECT_TRUE(sn::equal(at(some, -1.0), nothing));  // the norm is 0
  EXPECT_TRUE(sn::equal(sn::grad(sn::normalize(nothing, 2_c, 0).sum(), nothing), sn::full_like(nothing, 1e12)));
  EXPECT_TRUE(sn::allclose(sn::grad(sn::cosine_similarity(nothing, some, 0), nothing), some / 5 / 1e-8));
  EXPECT_TRUE(sn::equal(sn::grad(sn::cosine_similarity(nothing, nothing, 0), nothing), nothing));
  const Doubles second = (1 - some * 7 / 25) / 5;
  EXPECT_TRUE(sn::allclose(sn::grad(sn::grad(sn::norm(some), some).sum(), some), second));
  const sn::Lazy<sn::AnyType> any(some);
  EXPECT_TRUE(sn::allclose(Doubles(sn::grad(sn::grad(sn::norm(any), some).sum(), some)), second));
  const Doubles broken = doubles({NAN, 0, 1});
  EXPECT_TRUE(sn::Tensor(sn::isnan(at(broken, 3.0)).all()).item());
}

TEST(Gradients, OfSmoothLossesWithoutACornerAreThoseOfL1) {
  const Doubles x = doubles({1, 2, 3}), y = doubles({2, 2, 1});
  EXPECT_TRUE(sn::equal(sn::grad(sn::smooth_l1_loss(x, y, 0), x), sn::grad(sn::l1_loss(x, y), x)));
}

TEST(Gradients, OfComplexSoftsign) {
  const sn::Tensor re = doubles({3, 0, -1}), im = doubles({4, 0, 2});
  const auto loss = [&](const auto& a, const auto& b) { return sn::softsign(sn::complex(a, b)).real().sum(); };
  const Doubles g = sn::grad(loss(re, im), re);
  const double step = 1e-6;
  const Doubles expected =
      (sn::softsign(sn::complex(re + step, im)) - sn::softsign(sn::complex(re - step, im))).real() / (2 * step);
  EXPECT_TRUE(sn::allclose(g, expected, 1e-6, 1e-6)) << g << expected;
}

TEST(Gradients, ThroughFlippedViewsAtIndices) {
  for (const sn::Device device : {sn::Device(), sn::Device(0)}) {
    const Doubles x = sn::arange(6).to<double>().view({3, 2}).to(device);
    const auto ids = sn::tensor({0, 2, 2}).to<std::int64_t>().to(device);
    const auto g = [&](const auto& view) {
      return Doubles(sn::grad((sn::index_select(view, 0, ids) * 1).sum(), x)).cpu();
    };
    EXPECT_TRUE(sn::equal(g(x.flip(0)), sn::tensor({{2., 2.}, {0., 0.}, {1., 1.}})));
    EXPECT_TRUE(sn::equal(g(x.flip(1)), sn::tensor({{1., 1.}, {0., 0.}, {2., 2.}})));
    EXPECT_TRUE(sn::equal(g(x.flip(0).flip(1)), sn::tensor({{2., 2.}, {0., 0.}, {1., 1.}})));
    const auto gathered = sn::index_select(x.flip(0), 0, ids);  // and through the gradient
    EXPECT_TRUE(sn::allclose(sn::grad(sn::grad((gathered * gathered * gathered).sum(), x).sum(), x),
                             x * 6 * sn::tensor({{2.}, {0.}, {1.}}).to(device)));
  }
}

TEST(Gradients, OfRealPartsOfComplexJoins) {
  const Doubles x = doubles({1, 2});
  const auto z = sn::Tensor(sn::complex(x, x));
  const auto joined = sn::cat(0, z * 1, sn::cast<std::complex<double>>(x * 1));
  EXPECT_TRUE(sn::allclose(sn::grad(joined.abs().square().sum(), x), x * 2));
}

TEST(Seeds, MustHaveTheValuesShape) {
  const Doubles x = doubles({1, 2});
  const Doubles wide = sn::ones<double>({3, 2}), three = sn::ones<double>({3});
  EXPECT_THAT(
      message_of([&] { (void)sn::vjp(x * x, wide, x); }),
      HasSubstr(
          "grad: the value is float64 (2,), but the seed, the gradient of each of its elements, is float64 (3, 2)"));
  EXPECT_THAT(message_of([&] { (void)sn::vjp(x * x, three, x); }), HasSubstr("the seed"));
  EXPECT_THAT(message_of([&] { (void)sn::vjp((x * x).sum(), three, x); }), HasSubstr("the value is float64 ()"));
  EXPECT_THAT(message_of([&] { (void)sn::jvp(x * x, x, wide); }), HasSubstr("jvp: x is float64 (2,)"));
  EXPECT_THAT(message_of([&] { (void)sn::jvp(x * x, x, three); }), HasSubstr("but the tangent is float64 (3,)"));
  EXPECT_TRUE(sn::equal(sn::vjp(x * x, sn::ones<double>({1}), x), x * 2));
}

TEST(Derivatives, AreZeroWhereNothingDepends) {
  const Doubles x = doubles({1, 2}), y = doubles({3});
  EXPECT_TRUE(sn::equal(sn::jvp(x * 2, y, 1), sn::zeros<double>({2})));
  EXPECT_TRUE(sn::equal(sn::jacobian(x * 2, y), sn::zeros<double>({2, 1})));
  EXPECT_TRUE(sn::equal(sn::jacobian(sn::grad((x * 2).sum(), x), x), sn::zeros<double>({2, 2})));
}

TEST(Derivatives, AlongATangentThroughLogarithmsOfSums) {
  const Doubles x = doubles({1, 2, 3}), t = doubles({0.5, -1, 2});
  const double step = 1e-6;
  const auto values = [&](const Doubles& at) { return Doubles((at * 1).logcumsumexp(0)); };
  const Doubles expected = (values(x + step * t) - values(x - step * t)) / (2 * step);
  EXPECT_TRUE(sn::allclose(sn::jvp((x * 1).logcumsumexp(0), x, t), expected, 1e-6));
  EXPECT_TRUE(sn::allclose(sn::jvp((x * 1).logcumsumexp(0), x, 1), sn::ones<double>({3})));
  const auto steps = [](const auto& v) { return v.narrow(0, 1, 2) - v.narrow(0, 0, 2); };
  EXPECT_TRUE(sn::allclose(sn::jvp(steps((x * 1).logcumsumexp(0)), x, t), steps(expected), 1e-6));
}

/// Writes nothing, but might.
template <class T>
void look_at(const sn::Tensor<T>& t) {
  (void)t.data();
}

TEST(History, GoesThroughValuesThatWereLookedAt) {
  const Doubles x = doubles({1, 2});
  const sn::Lazy<double> a = x * x;
  const Doubles first = a;
  look_at(first);
  const sn::Lazy<double> b = a * 3;
  const Doubles second = b;
  look_at(second);
  EXPECT_TRUE(sn::equal(sn::grad(b.sum(), x), x * 6));
  const sn::Lazy<double> c = b.exp();
  look_at(Doubles(c));
  EXPECT_TRUE(sn::allclose(sn::grad(c.sum(), x), x * 6 * (x * x * 3).exp()));
  EXPECT_TRUE(sn::allclose(sn::grad(sn::grad(b.sum(), x).square().sum(), x), 72 * x));
}

TEST(History, KeepsWritesToWhatWasLookedAtApart) {
  const Doubles x = doubles({1, 2});
  const sn::Lazy<double> a = x * x;
  const Doubles first = a;
  first.data()[0] = 100;
  const sn::Lazy<double> b = a * 3;
  EXPECT_TRUE(sn::equal(b, doubles({3, 12})));
  EXPECT_TRUE(sn::equal(sn::grad(b.sum(), x), x * 6));
}

TEST(History, EndsPastALimitOfMemory) {
  const Doubles x = sn::ones<double>({std::int64_t{4} << 20});  // 32 MiB
  sn::Lazy<double> value = x * 1;
  for (int i = 0; i < 16; ++i) {
    look_at(Doubles(value));
    value = value * 1.5;
  }
  EXPECT_THAT(message_of([&] { (void)sn::grad(value.sum(), x); }),
              HasSubstr("256.00 MiB of results whose memory the program looked at"));
}

TEST(History, DoesNotKeepWhatALoopReadsOnce) {
  const auto in_use = [] { return sn::memory_stats(sn::Device()).in_use; };
  const Doubles x = doubles({0});
  sn::Lazy<double> value = x * 1;
  std::size_t most = 0;
  for (int i = 0; i < 100; ++i) {
    value = value * 0.5 + sn::full<double>({std::int64_t{1} << 20}, 1.0).sum();  // 8 MiB
    look_at(Doubles(value));
    most = std::max(most, in_use());
  }
  EXPECT_LT(most, std::size_t{320} << 20);
}

}  // namespace
}  // namespace gradient_limits_test

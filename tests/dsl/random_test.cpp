// Random tensors: the same numbers everywhere, with the distribution that they claim.
#include "devices.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace sn = sinter;

namespace {

TEST(Random, SameNumbersOnEveryDevice) {
  for (std::uint64_t seed : {0ull, 42ull, ~0ull}) {
    std::vector<float> uniform;
    std::vector<double> uniform_double;
    std::vector<std::int64_t> integers;
    for (const sn::Device& d : sinter_tests::devices()) {
      sn::manual_seed(seed);
      const auto u = sn::rand({100, 7}, d).to_vector();
      const auto v = sn::rand<double>({33}, d).to_vector();
      const auto i = sn::randint(-5, 1'000'000'007, {64}, d).to_vector();
      if (d.is_cpu()) uniform = u, uniform_double = v, integers = i;
      EXPECT_EQ(u, uniform) << to_string(d);
      EXPECT_EQ(v, uniform_double) << to_string(d);
      EXPECT_EQ(i, integers) << to_string(d);
    }
  }
}

TEST(Random, NormalsAgreeBetweenDevices) {
  std::vector<float> first;
  for (const sn::Device& d : sinter_tests::devices()) {
    sn::manual_seed(7);
    const auto n = sn::randn({1000}, d).to_vector();
    if (first.empty()) first = n;
    for (std::size_t i = 0; i < n.size(); ++i) ASSERT_NEAR(n[i], first[i], 4e-6f * (1 + std::abs(first[i]))) << i;
  }
}

TEST(Random, DrawsGoOnWhereTheLastOneEnded) {
  sn::manual_seed(3);
  const auto whole = sn::rand({10}).to_vector();
  sn::manual_seed(3);
  auto parts = sn::rand({4}).to_vector();
  const auto rest = sn::rand({2, 3}).to_vector();
  parts.insert(parts.end(), rest.begin(), rest.end());
  EXPECT_EQ(whole, parts);
  EXPECT_NE(sn::rand({10}).to_vector(), whole);
}

TEST(Random, HasTheRightMoments) {
  sn::manual_seed(1);
  const auto mean_and_variance = [](const auto& v) {
    double sum = 0, squares = 0;
    for (double x : v) sum += x, squares += x * x;
    const double n = static_cast<double>(v.size());
    return std::pair(sum / n, squares / n - sum / n * sum / n);
  };
  const auto [um, uv] = mean_and_variance(sn::rand({200'000}).to_vector());
  EXPECT_NEAR(um, 0.5, 0.005);
  EXPECT_NEAR(uv, 1.0 / 12, 0.002);
  const auto [nm, nv] = mean_and_variance(sn::randn({200'000}).to_vector());
  EXPECT_NEAR(nm, 0, 0.01);
  EXPECT_NEAR(nv, 1, 0.02);
  const auto dice = sn::randint(1, 7, {60'000}).to_vector();
  std::vector<int> counts(8);
  for (std::int64_t d : dice) ++counts.at(static_cast<std::size_t>(d));
  for (int face = 1; face <= 6; ++face) EXPECT_NEAR(counts[static_cast<std::size_t>(face)], 10'000, 600);
}

TEST(Random, RefusesAnEmptyRange) {
  EXPECT_THROW((void)sn::randint(3, 3, {2}), sn::Error);
  constexpr std::int64_t low = std::numeric_limits<std::int64_t>::min(),
                         high = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(sn::randint(low, high, {3}).numel(), 3);
}

}  // namespace

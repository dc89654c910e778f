// Random tensors: the same numbers everywhere, with the distribution that they claim.
#include <sinter/dsl/sharded.hpp>
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

TEST(Random, DrawsDiffer) {
  sn::manual_seed(3);
  const auto first = sn::rand({10}).to_vector(), second = sn::rand({10}).to_vector();
  EXPECT_NE(first, second);
  const auto longer = [&] {
    sn::manual_seed(3);
    return sn::rand({2, 15}).to_vector();
  }();
  EXPECT_TRUE(std::equal(first.begin(), first.end(), longer.begin()));  // an element's number depends on its index
  EXPECT_EQ(sn::rand({10}).to_vector(), second);
}

// Numbers of 32 and of 64 bits are independent, although they have the same index, draw and seed.
TEST(Random, NarrowAndWideNumbersShareNoBits) {
  const sn::Generator generator(3);
  const sn::GeneratorGuard guard(generator);
  const auto narrow = sn::rand({1000}).to_vector();
  generator.set_position(0);
  const auto wide = sn::rand<double>({1000}).to_vector();
  for (std::size_t i = 0; i < narrow.size(); ++i)
    for (std::size_t k : {i / 2, i, 2 * i})
      if (k < wide.size()) {
        ASSERT_GT(std::abs(static_cast<double>(narrow[i]) - wide[k]), 0x1p-24) << i << ' ' << k;
      }
}

/// Compares views and reductions of a draw, each in a kernel of its own, with those of its values.
template <class Drawn>
void expect_numbers_by_index(const Drawn& drawn, const sn::Device& d, std::string_view kind) {
  using T = sn::value_type_of<Drawn>;
  const sn::Tensor whole = drawn;
  const std::int64_t rows = whole.size(0), columns = whole.size(1);
  const auto expect = [&](const auto& view, const auto& part, double bound, std::string_view what) {
    const auto got = sn::Tensor(sn::cast<double>(view + T(0))).to_vector(),
               expected = sn::Tensor(sn::cast<double>(part)).to_vector();
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], expected[i], bound) << what << " of " << kind << " numbers, " << rows << " rows of "
                                              << columns << " on " << to_string(d) << ", element " << i;
  };
  const double rounded = kind == "normal" ? 1e-5 : 0;
  expect(drawn.slice(0, 1, rows), whole.slice(0, 1, rows), rounded, "rows");
  expect(drawn.slice(1, columns / 2, columns), whole.slice(1, columns / 2, columns), rounded, "columns");
  expect(drawn.slice(0, 0, rows, 3), whole.slice(0, 0, rows, 3), rounded, "some rows");
  expect(drawn.transpose(0, 1), whole.transpose(0, 1), rounded, "a transpose");
  expect(drawn.flip({1}), whole.flip({1}), rounded, "a flip");
  const auto padded = sn::zeros<T>({rows, columns + 3}).to(d).slice(1, 0, columns);
  for (const int dim : {0, 1}) {
    const auto bound = 1e-2 * static_cast<double>(rows + columns);  // of bfloat16
    expect(sn::sum(drawn, dim), sn::sum(whole, dim), bound, "sums");
    expect(sn::sum(drawn + padded, dim), sn::sum(whole, dim), bound, "sums with another operand");
    expect(sn::amax(drawn + padded, dim), sn::amax(whole, dim), rounded, "maxima");
  }
}

// Vectors of a thread compute adjacent numbers together if they begin at a multiple.
TEST(Random, NumbersDependOnTheirIndexAlone) {
  for (const sn::Device& d : sinter_tests::devices()) {
    for (const std::int64_t columns : {1, 3, 4, 8, 12, 50, 64, 129}) {
      const auto x = sn::zeros({40, columns}).to(d);
      expect_numbers_by_index(sn::rand_like(x + 0), d, "uniform");
      if (columns != 12 && columns != 64) continue;
      expect_numbers_by_index(sn::rand_like<double>(x + 0), d, "wide");
      expect_numbers_by_index(sn::rand_like<sn::bfloat16>(x + 0), d, "narrow");
      expect_numbers_by_index(sn::randn_like(x + 0), d, "normal");
    }
  }
}

TEST(Random, TilesAndShardsHaveTheirNumbers) {
  for (const sn::Device& d : sinter_tests::devices()) {
    const auto x = sn::randn({512, 1024}).to(d);
    const auto drawn = sn::rand_like(sn::zeros({1024, 512}).to(d) + 0);
    const sn::Tensor whole = drawn;
    EXPECT_TRUE(sn::equal(sn::Tensor(drawn + x.transpose(0, 1)), sn::Tensor(whole + x.transpose(0, 1))))
        << to_string(d);
  }
  for (const std::int64_t columns : {3, 4, 5, 8}) {
    const auto x = sn::zeros({10, columns});
    sn::manual_seed(4);
    const std::vector<float> expected = sn::Tensor(sn::rand_like(x + 0)).to_vector();
    for (const std::size_t ranks : {2u, 3u}) {
      const sn::Sharded<float> shards =
          sn::shard(x, sn::Mesh{sinter_tests::virtual_gpus ? std::vector<sn::Device>{sn::Device(0), sn::Device(1)}
                                                           : std::vector<sn::Device>(ranks)});
      sn::manual_seed(4);
      EXPECT_EQ(sn::Tensor(sn::rand_like(shards + 0)).to(sn::Device()).to_vector(), expected)
          << columns << " columns on " << ranks << " ranks";
    }
  }
}

TEST(Random, GeneratorsHaveSequencesOfTheirOwn) {
  sn::manual_seed(3);
  const auto first = sn::rand({8}).to_vector(), second = sn::rand({8}).to_vector();
  const sn::Generator generator(3), copy = generator;
  {
    const sn::GeneratorGuard guard(generator);
    EXPECT_EQ(sn::rand({8}).to_vector(), first);
    {
      const sn::GeneratorGuard inner{sn::Generator(3)};  // the guard keeps it alive
      EXPECT_EQ(sn::rand({8}).to_vector(), first);
    }
    EXPECT_EQ(copy.position(), 1);
    EXPECT_EQ(sn::Tensor(sn::rand_like(sn::zeros({8}) + 0)).to_vector(), second);
  }
  copy.set_position(1);
  sn::manual_seed(3);
  EXPECT_EQ(sn::rand({8}).to_vector(), first);  // not the generator's
  const sn::GeneratorGuard guard(copy);
  EXPECT_EQ(sn::rand({8}).to_vector(), second);
  EXPECT_EQ(generator.seed(), 3u);
  EXPECT_NE(sn::Generator().seed(), sn::Generator().seed());
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

TEST(Random, PartsOfExpressionsAreMadeInTheirKernel) {
  std::vector<float> dropped, exponential;
  std::vector<sn::half> halves;
  for (const sn::Device& d : sinter_tests::devices()) {
    sn::manual_seed(11);
    const auto x = sn::ones({50, 20}).to(d);
    const auto before = sn::jit_stats();
    const sn::Tensor y = sn::dropout((x + 1).relu(), 0.25) * 3;
    EXPECT_EQ(sn::jit_stats().launches - before.launches, 1u);
    const auto e = sn::Tensor(sn::exponential_like(x, 2)).to_vector();
    const auto h = sn::Tensor(sn::rand_like(x.to<sn::half>() * 2)).to_vector();
    if (d.is_cpu()) dropped = y.to_vector(), exponential = e, halves = h;
    EXPECT_EQ(y.to_vector(), dropped) << to_string(d);
    for (std::size_t i = 0; i < e.size(); ++i) ASSERT_NEAR(e[i], exponential[i], 1e-6f * (1 + e[i]));
    for (std::size_t i = 0; i < h.size(); ++i) ASSERT_EQ(h[i].bits, halves[i].bits);
  }
  for (float v : dropped) EXPECT_TRUE(v == 0 || v == 8) << v;
  EXPECT_NEAR(static_cast<double>(std::ranges::count(dropped, 0.f)) / 1000, 0.25, 0.06);
}

TEST(Random, AnExpressionKeepsItsNumbers) {
  const auto e = sn::rand_like(sn::ones({100}) + 0);
  const sn::Tensor a = e, b = e;
  EXPECT_TRUE(sn::equal(a, b));
  EXPECT_FALSE(sn::equal(a, sn::Tensor(sn::rand_like(sn::ones({100}) + 0))));
  sn::manual_seed(5);
  const auto lazily = sn::rand_like(sn::ones({10}) * 1);
  sn::manual_seed(5);
  EXPECT_EQ(sn::Tensor(lazily).to_vector(), sn::rand({10}).to_vector());
}

TEST(Random, ProbabilitiesAreThoseOfTheirElements) {
  sn::manual_seed(2);
  const auto p = sn::tensor({0.f, 0.1f, 0.5f, 1.f, -1.f, 2.f, NAN}).unsqueeze(1).expand({7, 20'000});
  const std::vector<float> drawn = sn::Tensor(sn::bernoulli(p)).to_vector();
  const double expected[] = {0, 0.1, 0.5, 1, 0, 1, 0};
  for (std::size_t row = 0; row < 7; ++row) {
    double ones = 0;
    for (std::size_t i = 0; i < 20'000; ++i) ones += drawn[row * 20'000 + i];
    EXPECT_NEAR(ones / 20'000, expected[row], expected[row] == 0 || expected[row] == 1 ? 0 : 0.012) << row;
  }
}

TEST(Random, DistributionsHaveTheirMoments) {
  sn::manual_seed(9);
  const auto like = sn::zeros<double>({200'000});
  const auto mean_of = [](const auto& e) {
    double sum = 0;
    for (double v : sn::Tensor(e).to_vector()) sum += v;
    return sum / 200'000;
  };
  EXPECT_NEAR(mean_of(sn::exponential_like(like, 4)), 0.25, 0.003);
  EXPECT_NEAR(mean_of(sn::normal(like + 7, 2)), 7, 0.02);
  const auto n = sn::normal(like, 3);
  EXPECT_NEAR(mean_of(n * n), 9, 0.12);
}

TEST(Random, NarrowDtypesStayBelowOne) {
  sn::manual_seed(1);
  for (float v : sn::rand<sn::bfloat16>({100'000}).to_vector()) ASSERT_LT(v, 1.f);
  for (float v : sn::rand<sn::half>({100'000}).to_vector()) ASSERT_LT(v, 1.f);
}

TEST(Random, ErrorsOfExpressions) {
  using sinter_tests::message_of;
  const auto x = sn::ones({3});
  EXPECT_THAT(message_of<sn::Error>([&] { static_cast<void>(sn::dropout(x, 1.5)); }),
              ::testing::HasSubstr("the probability is 1.5"));
  EXPECT_THAT(message_of<sn::Error>([&] { static_cast<void>(sn::exponential_like(x, 0)); }),
              ::testing::HasSubstr("the rate is 0"));
  EXPECT_THAT(message_of<sn::Error>([&] { static_cast<void>(sn::normal(x, -1)); }),
              ::testing::HasSubstr("the standard deviation is -1"));
  EXPECT_THROW(sn::randint<std::uint8_t>(0, 257, {1}), sn::Error);
  EXPECT_THROW(sn::randint<std::uint8_t>(-1, 5, {1}), sn::Error);
  EXPECT_THROW(sn::randint<bool>(0, 3, {1}), sn::Error);
  EXPECT_THAT(message_of<sn::Error>([] { sn::randint<sn::half>(0, 100'000, {1}); }),
              ::testing::HasSubstr("float16 cannot represent all integers from 0 to 99999"));
  EXPECT_EQ(sn::randint<std::uint8_t>(0, 256, {9}).numel() + sn::randint<bool>(0, 2, {9}).numel(), 18);
  EXPECT_THAT(message_of<sn::ShapeError>([&] { static_cast<void>(sn::rand_like(x + sn::ones({4}))); }),
              ::testing::HasSubstr("do not broadcast: (4,) and (3,)"));
}

}  // namespace

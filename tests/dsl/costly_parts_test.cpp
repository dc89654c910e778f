// Parts of expressions whose operands are broadcast: computed once and stored where a kernel would repeat
// them, with the results of one kernel.
#include "devices.hpp"

#include <random>

#include <gmock/gmock.h>

namespace {

namespace sn = sinter;
namespace jit = sinter::jit;
using sinter::runtime::TensorRef;
using ::testing::HasSubstr;
using ::testing::Not;

sn::Tensor<float> waves(const sn::Shape& shape, const sn::Device& d = {}, float step = 0.37f) {
  return sn::Tensor<float>(sn::Tensor(((sn::arange<float>(shape.numel()) * step).sin() * 0.9f + 1).reshape(shape)))
      .to(d);
}

template <class E>
std::uint64_t launches_of(const E& e) {
  (void)sn::Tensor(e);
  const std::uint64_t before = sn::jit_stats().launches;
  (void)sn::Tensor(e);
  return sn::jit_stats().launches - before;
}

TEST(CostlyParts, AreComputedOnceForAllRows) {
  const auto x = waves({64, 80}), full = waves({64, 80}, {}, 0.1f);
  const auto w = waves({80}), v = waves({80}, {}, 0.2f);
  EXPECT_EQ(launches_of(x * (w / sqrt(v + 1e-5f)) + w), 2u);
  EXPECT_EQ(launches_of(x * exp(v.unsqueeze(0))), 2u);
  EXPECT_EQ(launches_of(x * (full / sqrt(v + 1e-5f))), 2u);  // the square root alone
  const auto both = [&] { return sn::evaluate(x * sigmoid(v), full * sigmoid(v)); };
  (void)both();
  const std::uint64_t before = sn::jit_stats().launches;
  (void)both();
  EXPECT_EQ(sn::jit_stats().launches - before, 2u);
}

TEST(CostlyParts, AreNotStoredForNothing) {
  const auto x = waves({64, 80}), v = waves({80}), column = waves({64, 1}), full = waves({64, 80});
  EXPECT_EQ(launches_of(x * (v + 1)), 1u);                            // cheap
  EXPECT_EQ(launches_of(x * exp(full)), 1u);                          // not broadcast
  EXPECT_EQ(launches_of(x * exp(column)), 1u);                        // once for each row anyway
  EXPECT_EQ(launches_of(x * exp(waves({}))), 1u);                     // once for all
  EXPECT_EQ(launches_of(exp(column + v)), 1u);                        // as many elements as the result
  EXPECT_EQ(launches_of(waves({50, 80}) * exp(v)), 1u);               // a small result
  EXPECT_EQ(launches_of(waves({3, 2000}) * exp(waves({2000}))), 1u);  // few rows
}

TEST(CostlyParts, BesideReductionsFollowTheSameRule) {
  const auto x = waves({64, 80}), v = waves({80});
  EXPECT_EQ(launches_of((x * exp(v)).sum(-1)), 2u);
  EXPECT_EQ(launches_of((x * (v + 1)).sum(-1)), 1u);                            // cheap
  EXPECT_EQ(launches_of((waves({50, 80}) * exp(v)).sum(-1)), 1u);               // small
  EXPECT_EQ(launches_of((waves({3, 2000}) * exp(waves({2000}))).sum(-1)), 1u);  // few rows
  const sn::Tensor<std::int64_t> ids = sn::arange<std::int64_t>(8);
  EXPECT_EQ(launches_of((sn::embedding(waves({640, 80}), ids) * exp(v)).sum(-1)), 1u) << "rows of a large table";
  const auto reduced = [&](std::int64_t rows) {
    const auto y = waves({rows, 80});
    return launches_of(y / (sn::softmax((y + v).sum(0), -1).sigmoid() + 1));
  };
  EXPECT_EQ(reduced(64), reduced(50) + 1) << "the sigmoid of a reduction's row";
  const std::uint64_t before = sn::jit_stats().plans;
  (void)sn::Tensor(waves({41, 99}).cos().sum(-1));
  (void)sn::Tensor(waves({42, 99}).cos().sum(-1));
  for (const std::int64_t rows : {41, 42}) {
    const auto y = waves({rows, 99});
    (void)sn::Tensor(y - (y + 0).sum(0));
  }
  EXPECT_EQ(sn::jit_stats().plans - before, 2u) << "one plan each for all sizes, where nothing costly is repeated";
}

TEST(CostlyParts, AreNotStoredForSmallResultsOfSeveralShapes) {
  const auto launches = [](const auto& x, const auto& v) {
    const auto both = [&] { return sn::evaluate(x * exp(v), v + 1); };
    (void)both();
    const std::uint64_t before = sn::jit_stats().launches;
    (void)both();
    return sn::jit_stats().launches - before;
  };
  EXPECT_EQ(launches(waves({4, 8}), waves({8})), 2u);
  EXPECT_EQ(launches(waves({512, 8}), waves({8})), 3u);
  for (const sn::Device& d : sinter_tests::devices()) {
    if (d.is_cpu()) continue;
    EXPECT_EQ(launches(waves({512, 8}, d), waves({8}, d)), 2u);
  }
}

TEST(CostlyParts, OnMeshesAreWhatExplainShows) {
  const sn::Mesh mesh({sn::Device(), sn::Device()});
  const auto x = sn::shard(waves({64, 160}), mesh);
  const auto v = sn::replicate(waves({160}), mesh);
  const auto e = x * exp(v);
  EXPECT_THAT(sn::explain(e), HasSubstr("2 kernels"));
  EXPECT_EQ(launches_of(e), 4u);
  const sn::Tensor<float> wanted = waves({64, 160}) * exp(waves({160}));
  EXPECT_EQ(sn::Tensor<float>(sn::Tensor(e).cpu()).to_vector(), wanted.to_vector());
}

TEST(CostlyParts, OnGpusFollowTheSameRuleForWhatCostsMore) {
  for (const sn::Device& d : sinter_tests::devices()) {
    if (d.is_cpu()) continue;
    const auto x = waves({1024, 1024}, d), v = waves({1024}, d);
    const auto costly = x * lgamma(v + 1);
    EXPECT_EQ(launches_of(x * exp(v)), 1u);
    EXPECT_EQ(launches_of(costly), 2u);
    const sn::Tensor<float> scale = lgamma(v + 1), wanted = x * scale;
    EXPECT_EQ(sn::Tensor<float>(costly).to_vector(), wanted.to_vector());
    EXPECT_EQ(launches_of(waves({8, 1024}, d) * lgamma(v + 1)), 1u);
  }
}

TEST(CostlyParts, ExplainShowsThem) {
  const auto x = waves({64, 80}), v = waves({80});
  EXPECT_THAT(sn::explain(x * exp(v)),
              HasSubstr("not fused: kernels 1 and 2\n        the value of shape (80,) takes about 10 instructions "
                        "and would be computed again for each row of (64, 80): it is computed once and stored\n"));
  EXPECT_THAT(sn::explain(x * (v + 1)), HasSubstr("1 kernel"));
}

TEST(CostlyParts, InPlaceAndIntoALargerTensor) {
  auto x = waves({64, 80});
  const auto v = waves({80}), before = waves({64, 80});
  x *= sigmoid(v);
  const sn::Tensor<float> scale = sigmoid(v), wanted = before * scale;
  EXPECT_EQ(x.to_vector(), wanted.to_vector());
  auto row = waves({64, 80});
  const auto first = row[0];
  row.assign(row * sigmoid(first));  // the operand of the part is overwritten
  const sn::Tensor<float> first_row = waves({64, 80})[0], by = sigmoid(first_row), apart = waves({64, 80}) * by;
  EXPECT_EQ(row.to_vector(), apart.to_vector());
  auto larger = sn::zeros({2, 64, 80});
  larger.assign(before * sigmoid(v));
  EXPECT_EQ(sn::Tensor<float>(larger[1]).to_vector(), wanted.to_vector());
}

/// A program over tensors of several shapes that broadcast to one, or over copies that have that shape.
std::vector<jit::LazyRef> broadcast_program(unsigned seed, bool expanded) {
  std::mt19937 random(seed);
  const auto draw = [&](std::size_t below) { return std::uniform_int_distribution<std::size_t>(0, below - 1)(random); };
  const sn::Shape whole{3, 25, 64};
  std::vector<sn::Lazy<float>> values;
  for (const sn::Shape& shape :
       {whole, sn::Shape{64}, sn::Shape{25, 64}, sn::Shape{3, 1, 64}, sn::Shape{25, 1}, sn::Shape{}}) {
    const auto leaf = waves(shape, {}, 0.1f * static_cast<float>(values.size() + 1));
    values.push_back(expanded ? sn::Lazy<float>(sn::Tensor<float>(leaf.expand(whole).contiguous()))
                              : sn::Lazy<float>(leaf));
  }
  for (std::size_t i = 4 + draw(12); i > 0; --i) {
    const sn::Lazy<float> a = values[draw(values.size())], b = values[draw(values.size())];
    switch (draw(10)) {
      case 0: values.push_back(exp(a * -0.5f)); break;
      case 1: values.push_back(sigmoid(a)); break;
      case 2: values.push_back(sqrt(abs(a))); break;
      case 3: values.push_back(lgamma(abs(a) + 1)); break;
      case 4: values.push_back(a / (abs(b) + 1)); break;
      case 5: values.push_back(a * b + 1); break;
      case 6: values.push_back(where(a > b, a, b * 0.5f)); break;
      case 7: values.push_back(real(complex(a, b) * complex(b, values[0]) + a)); break;
      case 8: values.push_back(imag(a + complex(b, a) * b)); break;
      default: values.push_back(a - b); break;
    }
  }
  std::vector<jit::LazyRef> results;
  for (std::size_t i = 1 + draw(3); i > 0; --i)  // of the shape of all, as the copies' are
    results.push_back(sn::Lazy<float>(values[values.size() - i] + values[0]).node());
  return results;
}

TEST(CostlyParts, ProgramsHaveTheResultsOfOneKernel) {
  std::uint64_t stored = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::vector<jit::LazyRef> some = broadcast_program(seed, false), all = broadcast_program(seed, true);
    std::vector<TensorRef> got(some.size()), wanted(all.size());
    const std::uint64_t before = sn::jit_stats().launches;
    jit::evaluate(some, got.data());
    stored += sn::jit_stats().launches - before > 1;
    jit::evaluate(all, wanted.data());
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(sn::Tensor<float>(got[i]).to_vector(), sn::Tensor<float>(wanted[i]).to_vector()) << "result " << i;
  }
  EXPECT_GT(stored, 100u);
}

}  // namespace

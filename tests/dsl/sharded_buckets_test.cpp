// Sums across the ranks of a mesh share messages: their number, their bytes and their values.
#include <sinter/dsl/sharded.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "devices.hpp"
#include "gathered.hpp"
#include "traffic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sinter_tests {
namespace {

namespace sn = sinter;
using ::testing::HasSubstr;

sn::Tensor<float> counting(const sn::Shape& shape) {
  return (sn::arange(shape.numel()) % 17).to<float>().reshape(shape) / 4;
}

TEST(ShardedBuckets, SumsOfOneDtypeAreOneMessage) {
  const sn::Mesh mesh({sn::Device(0), sn::Device(1)});
  const auto x = sn::shard(counting({30, 5}), mesh), y = sn::shard(counting({30, 8}), mesh);
  const Traffic one = sent(mesh, [&] { (void)sn::Tensor(sn::sum(y, 0)); });
  const Traffic all =
      sent(mesh, [&] { (void)sn::evaluate(sn::sum(x, 0), sn::sum(x * 2, 0), sn::matmul(x.t(), y), sn::mean(y, 0)); });
  EXPECT_EQ(all.first, one.first);
  // 5 + 40 + 8 + 5 elements, each sum aligned to 4 of them; that of x * 2 is computed last.
  EXPECT_EQ(all.second, all.first * (8 + 40 + 8 + 5) * sizeof(float));
  const Traffic two_dtypes =
      sent(mesh, [&] { (void)sn::evaluate(sn::sum(x, 0), sn::sum(y.to<double>(), 0), y.sum()); });
  EXPECT_EQ(two_dtypes.first, 2 * one.first);
}

TEST(ShardedBuckets, GradientsOfANetAreOneMessage) {
  const sn::Mesh mesh({sn::Device(0), sn::Device(1)});
  const sn::Tensor x = counting({16, 4}), labels = counting({16, 3}), w1 = counting({4, 6}) - 1, b1 = counting({6}),
                   w2 = counting({6, 3}) - 2, b2 = counting({3});
  const auto gradients = [](const auto& input, const auto& target, const auto&... parameters) {
    const auto loss = [&](const auto& v1, const auto& c1, const auto& v2, const auto& c2) {
      return sn::mse_loss(sn::matmul(sn::tanh(sn::matmul(input, v1) + c1), v2) + c2, target);
    }(parameters...);
    return std::apply([](const auto&... g) { return sn::evaluate(g...); }, sn::grad(loss, parameters...));
  };
  const auto whole = gradients(x, labels, w1, b1, w2, b2);
  const auto everywhere = [&](const auto& t) { return sn::replicate(t, mesh); };
  const auto sharded_x = sn::shard(x, mesh), sharded_labels = sn::shard(labels, mesh);
  const Traffic one = sent(mesh, [&] { (void)sn::Tensor(sn::sum(sharded_x, 0)); });
  const Traffic all = sent(mesh, [&] {
    const auto parts =
        gradients(sharded_x, sharded_labels, everywhere(w1), everywhere(b1), everywhere(w2), everywhere(b2));
    EXPECT_TRUE(near(std::get<0>(parts), std::get<0>(whole)));
    EXPECT_TRUE(near(std::get<1>(parts), std::get<1>(whole)));
    EXPECT_TRUE(near(std::get<2>(parts), std::get<2>(whole)));
    EXPECT_TRUE(near(std::get<3>(parts), std::get<3>(whole)));
  });
  EXPECT_EQ(all.first, one.first);
}

TEST(ShardedBuckets, SumsShareAMessageBesideAnExtremeOfFewerRanks) {
  const sn::Mesh mesh(std::vector<sn::Device>{0, 1, 0, 1});
  const auto x = sn::shard(counting({2, 5}), mesh);  // two ranks have rows
  const std::string listed = sn::explain(sn::sum(x, 0) + sn::sum(x * x, 0) + sn::amax(x, 0));
  EXPECT_THAT(listed, HasSubstr("        all_reduce of 13 float32 elements for 2 sums: 52 B\n"));
  EXPECT_THAT(listed, HasSubstr("all_gather of 5 float32 elements for amax"));
}

TEST(ShardedBuckets, ExplainCountsTheSums) {
  const sn::Mesh mesh({sn::cpu, sn::cpu});
  const auto x = sn::shard(counting({4, 6}), mesh);
  const auto e = sn::sum(x, 0) + sn::sum(x * x, 0) * sn::sum(x.to<double>(), 0);
  EXPECT_THAT(sn::explain(e), HasSubstr("        all_reduce of 6 float64 elements for sum: 48 B\n"
                                        "        all_reduce of 14 float32 elements for 2 sums: 56 B\n"));
}

/// Sums, products, extremes and positions of several widths and dtypes, evaluated together on meshes of which some
/// ranks have no rows.
TEST(ShardedBuckets, RandomSetsHaveTheValuesOfOneDevice) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned end) { return static_cast<int>(random() % end); };
    std::vector<sn::Device> devices(1 + static_cast<std::size_t>(below(5)));
    if (seed % 6 == 0)
      for (sn::Device& d : devices) d = sn::Device(below(2));
    const sn::Mesh mesh(devices);
    const sn::Shape shape(1 + below(9), 1 + below(7)), other(shape[0], 1 + below(7));
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + to_string(mesh) + " " + to_string(shape) + " " +
                 to_string(other));
    const sn::Tensor x = counting(shape), y = counting(other);
    const auto values = [](const auto& a, const auto& b) {
      return sn::evaluate(sn::sum(a, 0), sn::sum(b.template to<double>() * 3, 0), sn::matmul(a.t(), b),
                          sn::sum(a > 1, 0), sn::amax(b, 0), sn::argmin(a, 0), sn::sum(a.template to<sn::half>(), 0),
                          sn::mean(b), sn::prod(b / 4, 0), sn::sum(a) + sn::sum(b, 0));
    };
    const auto whole = values(x, y);
    const auto parts = values(sn::shard(x, mesh), sn::shard(y, mesh));
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (..., [&] { EXPECT_TRUE(near(std::get<I>(parts), std::get<I>(whole))) << "value " << I; }());
    }(std::make_index_sequence<10>{});
  }
}

}  // namespace
}  // namespace sinter_tests

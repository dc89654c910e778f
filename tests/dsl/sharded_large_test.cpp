// Sums across the ranks of a mesh that are too large for one message.
#include <sinter/dsl/sharded.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "devices.hpp"
#include "traffic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sinter_tests {
namespace {

TEST(ShardedLarge, SumsAreSeveralMessages) {
  const sn::Mesh mesh({sn::Device(0), sn::Device(1)});
  const std::int64_t columns = 1'700'000;  // 13.6 MB of int64 sums; a bucket has at most 25 MiB
  const auto x = sn::shard((sn::arange(2 * columns) % 5).to<std::uint8_t>().reshape({2, columns}), mesh);
  EXPECT_THAT(sn::explain(sn::sum(x, 0) + sn::sum(x > 1, 0)),
              ::testing::HasSubstr("        all_reduce of 1700000 int64 elements for sum: 13.6 MB\n"
                                   "        all_reduce of 1700000 int64 elements for sum: 13.6 MB\n"));
  const Traffic one = sent(mesh, [&] { (void)sn::Tensor(sn::sum(sn::shard(sn::ones({4, 3}), mesh), 0)); });
  const Traffic all = sent(mesh, [&] {
    const auto [sums, large] = sn::evaluate(sn::sum(x, 0), sn::sum(x > 1, 0));
    EXPECT_EQ(sn::gather(sums(sn::range(0, 5))).to_vector(), (std::vector<std::int64_t>{0, 2, 4, 6, 8}));
    EXPECT_EQ(sn::gather(large(sn::range(columns - 5, columns))).to_vector(),
              (std::vector<std::int64_t>{0, 0, 2, 2, 2}));
  });
  EXPECT_EQ(all.first, 2 * one.first);
}

TEST(ShardedLarge, GradientsOfTheLastLayerAreSentFirst) {
  const sn::Mesh mesh({sn::cpu, sn::cpu});
  const auto x = sn::shard(sn::ones({2, 64}), mesh);
  const auto first = sn::replicate(sn::ones({64, 60'000}), mesh), last = sn::replicate(sn::ones({60'000, 55}), mesh);
  const auto loss = sn::sum(sn::matmul(sn::tanh(sn::matmul(x, first)), last));
  const auto [g, h] = sn::grad(loss, first, last);
  EXPECT_THAT(sn::explain(sn::sum(g) + sn::sum(h)),
              ::testing::HasSubstr("        all_reduce of 3300000 float32 elements for matmul: 13.2 MB\n"
                                   "        all_reduce of 3840000 float32 elements for matmul: 15.4 MB\n"));
}

}  // namespace
}  // namespace sinter_tests

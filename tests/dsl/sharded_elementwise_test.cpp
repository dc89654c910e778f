// Elementwise evaluations on a mesh, which take a fast path, compared with one device; and a sharded dim of one row.
#include <sinter/dsl/sharded.hpp>
#include <sinter/runtime/shards.hpp>

#include <utility>
#include <vector>

#include "devices.hpp"
#include "gathered.hpp"

#include <gtest/gtest.h>

namespace sinter_tests {
namespace {

namespace sn = sinter;

std::vector<sn::Mesh> mixed_and_cpus() {
  std::vector<sn::Mesh> all{sn::Mesh({sn::Device(0), sn::Device(1), sn::Device(0)})};
  for (const std::size_t cpus : {1, 2, 3, 4, 8}) all.emplace_back(std::vector<sn::Device>(cpus));
  return all;
}

sn::Tensor<float> halves(const sn::Shape& shape) {
  return (sn::arange(shape.numel()).to<float>() * 0.5f - 2.5f).reshape(shape);
}

int axis_in_shards(const sn::AnyTensor& x) { return x.dim() - 1 - sn::runtime::sharded_axis_from_end(x.impl()); }

/// Shards of both sizes and of none; operands sharded, replicated, and broadcast along each dim.
TEST(ShardedElementwise, OperandsLieInAnyWay) {
  for (const sn::Mesh& mesh : mixed_and_cpus())
    for (const std::int64_t rows : {0, 1, 3, 8, 10})
      for (const int dim : {0, 1}) {
        const sn::Shape shape = dim == 0 ? sn::Shape(rows, 3) : sn::Shape(3, rows);
        const sn::Shape line = dim == 0 ? sn::Shape(1, 3) : sn::Shape(3, 1);
        const sn::Tensor x = halves(shape), y = halves(shape) * 2, z = halves(line);
        const sn::Tensor s = sn::shard(x, mesh, dim), r = sn::replicate(y, mesh), q = sn::replicate(z, mesh);
        for (int again = 0; again < 2; ++again) {
          const sn::Tensor e = s * r + q - 1;
          EXPECT_TRUE(same(e, x * y + z - 1)) << rows << " along " << dim << " on " << to_string(mesh);
          EXPECT_EQ(axis_in_shards(e), dim);
          EXPECT_TRUE(same(r * q + 1, y * z + 1));
          EXPECT_TRUE(same(s.t() - r.t(), x.t() - y.t()));
        }
      }
}

/// Views whose first element is not the shard's first.
TEST(ShardedElementwise, ViewsAndOutputs) {
  for (const sn::Mesh& mesh : mixed_and_cpus()) {
    const sn::Tensor x = halves({10, 6});
    const sn::Tensor s = sn::shard(x, mesh), r = sn::replicate(x, mesh);
    EXPECT_TRUE(same(s.narrow(1, 2, 3) * r.narrow(1, 1, 3), x.narrow(1, 2, 3) * x.narrow(1, 1, 3)));
    EXPECT_TRUE(same(s.flip(1) + r.flip(0), x.flip(1) + x.flip(0)));
    sn::Tensor out = sn::empty({10, 6}, mesh);
    sn::Tensor expected = sn::zeros({10, 6});
    out.assign(s * 0);
    out.narrow(1, 1, 2).assign(s.narrow(1, 0, 2) + 1);
    expected.narrow(1, 1, 2).assign(x.narrow(1, 0, 2) + 1);
    EXPECT_TRUE(same(out, expected));
    sn::Tensor all = sn::replicate(halves({6}), mesh);
    all += 1;
    EXPECT_TRUE(same(all, halves({6}) + 1));
  }
}

/// The output is also read: in place, next to it, and further on.
TEST(ShardedElementwise, WritesOverWhatItReads) {
  for (const sn::Mesh& mesh : mixed_and_cpus()) {
    sn::Tensor x = halves({10, 600}).contiguous();
    sn::Tensor s = sn::shard(x, mesh);
    s.assign(s * s + 1);
    x.assign(x * x + 1);
    EXPECT_TRUE(same(s, x));
    s.narrow(1, 1, 599).assign(s.narrow(1, 0, 599) + s.narrow(1, 1, 599));
    x.narrow(1, 1, 599).assign(sn::Tensor(x.narrow(1, 0, 599) + x.narrow(1, 1, 599)));
    EXPECT_TRUE(same(s, x));
    s.narrow(1, 0, 300).assign(s.narrow(1, 300, 300) - 1);
    x.narrow(1, 0, 300).assign(x.narrow(1, 300, 300) - 1);
    EXPECT_TRUE(same(s, x));
  }
}

/// Two independent tensors on a mesh in the same memory.
TEST(ShardedElementwise, ShardsOfOthersMayShareMemory) {
  const sn::Mesh mesh(std::vector<sn::Device>(2));
  const sn::Tensor memory = halves({1205});
  std::vector<sn::Tensor<float>> low, high;
  for (const std::int64_t first : {0, 602}) {
    low.push_back(memory.narrow(0, first, 600));
    high.push_back(memory.narrow(0, first + 1, 600));
  }
  const sn::Tensor expected = sn::Tensor(sn::cat(0, low[0], low[1])) * 2;
  sn::Tensor a = sn::from_shards(low, mesh), b = sn::from_shards(high, mesh);
  b.assign(a * 2);
  EXPECT_TRUE(same(b, expected));
}

TEST(ShardedElementwise, AFaultAtOneRankLeavesTheOthers) {
  const sn::Mesh mesh(std::vector<sn::Device>(3));
  const sn::Tensor a = sn::shard(sn::arange(6), mesh);
  const sn::Tensor b = sn::shard((sn::arange(6) - 2) * (sn::arange(6) - 2), mesh);
  sn::Tensor out = sn::shard(sn::zeros<std::int64_t>({6}), mesh);
  EXPECT_THROW(out.assign(a % b + a), sn::Error);
  EXPECT_TRUE(same(out.shard(2), sn::arange(2) * 6 + 4));
}

TEST(ShardedElementwise, ALazyValueSeesTheWrite) {
  const sn::Mesh mesh(std::vector<sn::Device>(2));
  sn::Tensor s = sn::shard(halves({4, 2}), mesh);
  const sn::Tensor shard = s.shard(1);
  const auto before = shard.impl().buffer->version(), whole = s.impl().buffer->version();
  s += 1;
  EXPECT_NE(shard.impl().buffer->version(), before);
  EXPECT_NE(s.impl().buffer->version(), whole);
}

TEST(ShardedElementwise, ViewsOfOneRowKeepTheDimInShards) {
  const sn::Mesh mesh(std::vector<sn::Device>(3));
  for (const int dim : {0, 1}) {
    const sn::Tensor s = sn::shard(halves({1, 1, 5}), mesh, dim);
    EXPECT_EQ(axis_in_shards(s.unsqueeze(0)), dim + 1);
    EXPECT_EQ(axis_in_shards(s.unsqueeze(1)), dim == 0 ? 0 : 2);
    EXPECT_EQ(axis_in_shards(s.unsqueeze(-1)), dim);
    EXPECT_EQ(axis_in_shards(s.transpose(0, 1)), 1 - dim);
    EXPECT_EQ(axis_in_shards(s.permute(2, 0, 1)), dim + 1);
    EXPECT_EQ(axis_in_shards(s.squeeze(1 - dim)), 0);
    EXPECT_EQ(axis_in_shards(s.expand({2, 1, 1, 5})), dim + 1);
    EXPECT_EQ(axis_in_shards(s.narrow(2, 1, 2)), dim);
    EXPECT_THROW((void)s.squeeze(dim), sn::ShapeError);
    EXPECT_TRUE(same(s.unsqueeze(0) + 1, halves({1, 1, 1, 5}) + 1));
  }
}

}  // namespace
}  // namespace sinter_tests

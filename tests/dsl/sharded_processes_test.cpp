// Tensors on a mesh that several processes share, started by mpirun: expressions compared with those of one device.
#include <sinter/dsl/sharded.hpp>
#include <sinter/sinter.hpp>

#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gathered.hpp"
#include "runtime/collective/mpirun.hpp"
#include "setup.hpp"

namespace {

namespace sn = sinter;
using namespace sn::testing;
using sinter_tests::near, sinter_tests::printed, sinter_tests::same;
using sn::matmul, sn::softmax, sn::sum, sn::where;

// No virtual GPUs, unless a test asks for them.
const sinter::test::Setup processes_on_cpus([] { setenv("SINTER_VIRTUAL_GPUS", "", 0); });

sn::Device here() {
  const sn::Mesh world = sn::Mesh::world();
  return world.device(world.first_local_rank());
}
sn::Tensor<float> numbers(const sn::Shape& shape, float scale = 1) {
  return ((sn::arange(shape.numel()).to<float>() * 0.37f).sin() * 3).reshape(shape).to(here()) * scale;
}
/// GPUs compile a kernel for each expression: there the number of ranks is what matters.
std::vector<std::int64_t> row_counts() {
  return here().is_cuda() ? std::vector<std::int64_t>{3} : std::vector<std::int64_t>{0, 1, 3, 9, 30};
}

TEST(Child, DISABLED_Moves) {
  const sn::Mesh world = sn::Mesh::world();
  for (const std::int64_t rows : row_counts()) {
    const sn::Tensor x = numbers({rows, 5, 2});
    const sn::Tensor s = sn::shard(x, world);
    for (int p = world.first_local_rank(); p < world.first_local_rank() + world.local_size(); ++p) {
      const std::int64_t first = world.first_row(rows, p), own = world.rows(rows, p);
      EXPECT_TRUE(same(s.shard(p), x(sn::range(first, first + own)))) << rows << " rows, rank " << p;
    }
    EXPECT_TRUE(same(s, x)) << "gather in every process";
    EXPECT_TRUE(same(s.to<double>(), x.to<double>()));
    EXPECT_TRUE(same(sn::shard(s, world, 1), x)) << rows;
    EXPECT_TRUE(same(sn::shard(sn::shard(x, world, 2), world), x)) << rows;
    EXPECT_TRUE(same(sn::replicate(s, world), x)) << rows;
    EXPECT_EQ(printed(s).substr(0, 7), "tensor(");
    EXPECT_EQ(s.to_vector(), x.to_vector());
    sn::Tensor t = sn::shard(x * 0, world);
    t.copy_(x);
    EXPECT_TRUE(same(t, x));
    sn::Tensor whole = sn::replicate(x * 0, world);
    whole.assign(s * 3);
    EXPECT_TRUE(same(whole, x * 3));
    // On a mesh of this process only.
    const sn::Mesh own({here(), here()});
    EXPECT_TRUE(same(sn::shard(s, own), x)) << rows;
    EXPECT_TRUE(same(sn::shard(sn::shard(x, own), world), x)) << rows;
    std::vector<sn::Tensor<float>> shards;
    for (int p = world.first_local_rank(); p < world.first_local_rank() + world.local_size(); ++p)
      shards.emplace_back(s.shard(p) * 2);
    EXPECT_TRUE(same(sn::from_shards(shards, world, rows), x * 2));
  }
  const sn::Tensor s = sn::shard(numbers({4}), world);
  if (world.local_size() < world.size()) {
    const int other = world.first_local_rank() > 0 ? 0 : world.size() - 1;
    try {
      (void)s.shard(other);
      ADD_FAILURE();
    } catch (const sn::IndexError& e) {
      EXPECT_THAT(e.what(), ::testing::HasSubstr("belongs to another process"));
    }
    EXPECT_THROW((void)sn::from_shards(std::vector<sn::Tensor<float>>{s.shard(world.first_local_rank())}, world),
                 sn::DeviceError);
  }
}

TEST(Child, DISABLED_Computes) {
  const sn::Mesh world = sn::Mesh::world();
  for (const std::int64_t rows : row_counts()) {
    const sn::Tensor x = numbers({rows, 3}), y = numbers({rows, 1}, 0.5f), b = numbers({3});
    const sn::Tensor sx = sn::shard(x, world), sy = sn::shard(y, world), rb = sn::replicate(b, world);
    EXPECT_TRUE(same((sx + 2).exp() * sy - rb, (x + 2).exp() * y - b)) << rows;
    EXPECT_TRUE(same(where(sx > rb, sx, sy * 3), where(x > b, x, y * 3)));
    EXPECT_TRUE(same(sx + sn::replicate(x * 2, world), x + x * 2)) << "each rank takes its part";
    EXPECT_TRUE(near(sx.sum(), x.sum())) << rows;
    EXPECT_TRUE(near(sum(sx, 0), sum(x, 0)));
    EXPECT_TRUE(near(matmul(sx.t(), sy), matmul(x.t(), y))) << rows;
    EXPECT_TRUE(near(matmul(sx.t(), sn::replicate(y, world)), matmul(x.t(), y))) << rows;
    if (rows == 0) continue;
    EXPECT_TRUE(near(softmax(sx, 0), softmax(x, 0))) << rows;
    EXPECT_TRUE(same(sx.argmax(0), x.argmax(0))) << rows;
    if (here().is_cuda()) continue;
    EXPECT_TRUE(near(sx.mean(0), x.mean(0)));
    EXPECT_TRUE(near(softmax(sx, 1), softmax(x, 1)));
    EXPECT_TRUE(near(matmul(sx, sn::replicate(numbers({3, 4}), world)), matmul(x, numbers({3, 4}))));
    EXPECT_TRUE(same(sx.argmin(), x.argmin())) << rows;
    EXPECT_TRUE(same(sx.amax(0), x.amax(0)));
    EXPECT_TRUE(near(sx.to<sn::half>().sum(0), x.to<sn::half>().sum(0), 3e-3));
    EXPECT_EQ(sx.amax().item(), x.amax().item());
    const auto [d, e] = sn::evaluate(sx * 2, sx.sum(0));
    EXPECT_TRUE(same(d, x * 2));
    EXPECT_TRUE(near(e, x.sum(0)));
    sn::Tensor in_place = sx.clone();
    in_place -= in_place.mean(0);
    EXPECT_TRUE(near(in_place, x - x.mean(0)));
    sn::Lazy<float> on_mesh = sx, alone = x;
    for (int i = 0; i < 3; ++i) {
      on_mesh = on_mesh * 1.1f + on_mesh.sum(0) * 0.01f;
      alone = alone * 1.1f + alone.sum(0) * 0.01f;
    }
    EXPECT_TRUE(near(sn::Tensor<float>(on_mesh), sn::Tensor<float>(alone)));
  }
  EXPECT_THROW((void)sn::Tensor(sn::shard(numbers({0, 3}), world).amax(0)), sn::IndexError) << "in every process";
  sn::manual_seed(7);
  const sn::Tensor one = sn::rand({11, 3});
  sn::manual_seed(7);
  EXPECT_TRUE(same(sn::rand({11, 3}, world), one)) << "random numbers are those of one device";
}

/// The same text in every process.
TEST(Child, DISABLED_Prints) {
  const sn::Mesh world = sn::Mesh::world();
  const sn::Tensor s = sn::shard(sn::arange(5).to<float>(), world);
  const std::string text = printed(s);
  EXPECT_EQ(text.rfind("tensor([0., 1., 2., 3., 4.],", 0), 0U) << text;
  EXPECT_NE(text.find("device='" + to_string(world) + "'"), std::string::npos) << text;
  EXPECT_EQ(printed(s.sum(0)).rfind("tensor(10.,", 0), 0U) << printed(s.sum(0));
}

class ShardedOver : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { ASSERT_TRUE(has_mpirun()) << "there is no mpirun: scripts/deps test installs it"; }
};
INSTANTIATE_TEST_SUITE_P(Processes, ShardedOver, ::testing::Values(1, 2, 4));

constexpr const char* all = "Moves:Child.DISABLED_Computes:Child.DISABLED_Prints";

TEST_P(ShardedOver, Cpus) {
  const Result r = mpirun(GetParam(), all);
  EXPECT_EQ(r.status, 0) << r.text;
}
TEST_P(ShardedOver, TwoVirtualGpusEach) {
  const Result r = mpirun(GetParam(), all, "-x SINTER_VIRTUAL_GPUS=2");
  EXPECT_EQ(r.status, 0) << r.text;
}

}  // namespace

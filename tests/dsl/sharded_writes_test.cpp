// Writes to shards of a tensor on a mesh, and lazy expressions that hold it.
#include <sinter/dsl/sharded.hpp>

#include <string>
#include <utility>
#include <vector>

#include "devices.hpp"
#include "gathered.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sinter_tests {
namespace {

namespace sn = sinter;
using Sharded = sn::Sharded<float>;

std::vector<sn::Mesh> written_meshes() {
  return {sn::Mesh({sn::Device(0), sn::Device(1), sn::Device(0)}), sn::Mesh(std::vector<sn::Device>(4))};
}
Sharded on(const sn::Mesh& mesh, bool replicated) {
  const sn::Tensor x = sn::arange(64).to<float>().reshape({32, 2});
  return replicated ? Sharded(sn::replicate(x, mesh)) : Sharded(sn::shard(x, mesh));
}
const std::pair<const char*, void (*)(Sharded&)> writes[] = {{"+=",
                                                              [](Sharded& x) {
                                                                sn::Tensor<float> shard = x.shard(1);
                                                                shard += 1;
                                                              }},
                                                             {"assign",
                                                              [](Sharded& x) {
                                                                sn::Tensor<float> shard = x.shard(1);
                                                                shard.assign(shard * 0 + 3);
                                                              }},
                                                             {"a row",
                                                              [](Sharded& x) {
                                                                sn::Tensor<float> shard = x.shard(1);
                                                                shard[0] = 1;
                                                              }},
                                                             {"all", [](Sharded& x) { x += 1; }}};

TEST(ShardedWrites, NothingIsWrittenWhereElementsShareMemory) {
  const auto message = [](auto write) { return message_of<sn::Error>(write); };
  for (const sn::Mesh& mesh : written_meshes())
    for (const bool replicated : {false, true}) {
      Sharded s = on(mesh, replicated), other = on(mesh, replicated);
      auto windows = s.expand({2, 32, 2});
      EXPECT_THAT(message([&] { windows += 1; }), testing::HasSubstr("single memory location"));
      EXPECT_THAT(message([&] { sn::evaluate(sn::into(s, other + 1), sn::into(s, other + 2)); }),
                  testing::HasSubstr("two outputs of one evaluation share memory"));
      EXPECT_TRUE(same(s, other));
      sn::evaluate(sn::into(s, other + 1), sn::into(other, s + 2));
    }
}

TEST(ShardedWrites, ToShardsAreSeenByLazyExpressions) {
  for (const sn::Mesh& mesh : written_meshes())
    for (const bool replicated : {false, true})
      for (const auto& [name, write] : writes) {
        Sharded s = on(mesh, replicated);
        const sn::Lazy<float> later = s + 1;
        EXPECT_TRUE(same(Sharded(later), s + 1)) << "nothing was written";
        const sn::Lazy<float> after = s + 2;
        write(s);
        EXPECT_THROW((void)Sharded(after), sn::Error) << name;
      }
}

TEST(ShardedWrites, ToShardsOfResultsMakeThemComputedAgain) {
  for (const sn::Mesh& mesh : written_meshes())
    for (const auto& [name, write] : writes) {
      const Sharded s = on(mesh, false);
      const sn::Lazy<float> kept = s * 2;
      Sharded result = kept;
      write(result);
      EXPECT_FALSE(same(result, s * 2)) << name;
      EXPECT_TRUE(same(Sharded(kept + 0), s * 2)) << name;
    }
}

TEST(ShardedWrites, ThroughAnAddressCanHappenAtAnyTime) {
  const Sharded s = on(written_meshes()[1], false);
  const sn::Lazy<float> kept = s * 2;
  const Sharded result = kept;
  sn::Tensor<float> shard = result.shard(1);
  float* const address = shard.data();
  EXPECT_TRUE(same(Sharded(kept + 0), s * 2));
  *address = 77;
  EXPECT_TRUE(same(Sharded(kept + 0), s * 2));
}

TEST(ShardedWrites, ToAllAreSeenByExpressionsOfShards) {
  for (const sn::Mesh& mesh : written_meshes())
    for (const bool replicated : {false, true}) {
      Sharded s = on(mesh, replicated);
      const sn::Lazy<float> of_shard = s.shard(1) + 1;
      s += 1;
      EXPECT_THROW((void)sn::Tensor<float>(of_shard), sn::Error);
    }
}

}  // namespace
}  // namespace sinter_tests

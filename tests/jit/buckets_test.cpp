// Buckets of sums: which sums share one, and that one is sent while kernels still compute the next.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include <jit/mesh/buckets.hpp>
#include <sinter/runtime/shards.hpp>
#include "partial_sums.hpp"

namespace sinter::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

std::vector<std::vector<std::size_t>> sums_of(std::vector<jit::PartialSum> sums, std::int64_t max_bytes) {
  std::vector<std::vector<std::size_t>> found;
  for (const jit::Bucket& b : jit::buckets_of(sums, max_bytes)) found.push_back(b.sums);
  return found;
}

TEST(Buckets, HoldSumsInOrderUpToALimit) {
  using D = DType;
  EXPECT_THAT(sums_of({}, 64), ElementsAre());
  EXPECT_THAT(sums_of({{{4}, D::Float32}, {{4}, D::Float32}, {{8}, D::Float32}}, 64),
              ElementsAre(ElementsAre(0, 1, 2)));
  EXPECT_THAT(sums_of({{{4}, D::Float32}, {{4}, D::Float32}, {{9}, D::Float32}, {{1}, D::Float32}}, 64),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(sums_of({{{1}, D::Float32}, {{100}, D::Float32}, {{1}, D::Float32}}, 64),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
}

TEST(Buckets, AreSentInTheOrderOfTheirLastSums) {
  using D = DType;
  EXPECT_THAT(sums_of({{{1}, D::Float32}, {{1}, D::Float64}, {{1}, D::Float32}}, 64),
              ElementsAre(ElementsAre(1), ElementsAre(0, 2)));
}

TEST(Buckets, AlignTheirSums) {
  const std::vector<jit::PartialSum> sums{{{1}, DType::Float32}, {{3}, DType::Float32}, {{2, 3}, DType::Float32}};
  const std::vector<jit::Bucket> buckets = jit::buckets_of(sums);
  ASSERT_EQ(buckets.size(), 1u);
  EXPECT_THAT(buckets[0].offsets, ElementsAre(0, 4, 8));
  EXPECT_EQ(buckets[0].elements, 14);
}

TEST(Buckets, OverlapWithKernels) {  // the strict tier sees what waits for what
  const Mesh mesh({Device(0), Device(1), Device(0)});
  const std::vector<jit::PartialSum> sums{{{2}, f32}, {{4}, f32}};
  for (const std::int64_t max_bytes : {16, 100}) {
    for (int i = 0; i < 3; ++i) {
      const jit::BucketArrays buckets(sums, jit::buckets_of(sums, max_bytes), mesh);
      EXPECT_EQ(buckets.overlap(), max_bytes == 16);
      for (int rank = 0; rank < mesh.size(); ++rank) {
        TensorRef outputs[] = {runtime::shard(*buckets[0], rank), runtime::shard(*buckets[1], rank)};
        sum_columns(outputs, mesh.device(rank), buckets.overlap());
      }
      buckets.all_reduce();
      for (int rank = 0; rank < mesh.size(); ++rank) {
        EXPECT_THAT(floats(*runtime::shard(*buckets[0], rank)), Each(9));
        EXPECT_THAT(floats(*runtime::shard(*buckets[1], rank)), Each(30));
      }
    }
  }
}

}  // namespace
}  // namespace sinter::testing

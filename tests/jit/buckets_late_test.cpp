// Buckets are sent while kernels still compute the sums of later ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <vector>

#include <jit/mesh/buckets.hpp>
#include <runtime/side_streams.hpp>
#include <runtime/streams.hpp>
#include <runtime/virtual/late_work.hpp>
#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/shards.hpp>
#include <sinter/runtime/transfer.hpp>
#include "partial_sums.hpp"
#include "setup.hpp"

namespace sinter::testing {
namespace {

using runtime::vgpu::LateWork;
using runtime::vgpu::StreamName;
using ::testing::ElementsAre;

const test::Setup late([] {
  setenv("SINTER_VIRTUAL_LATE", "0", 1);
  unsetenv("SINTER_VIRTUAL_STRICT");
});

class LateBuckets : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::virtual_gpus) GTEST_SKIP() << "work on real GPUs is done when they like";
  }
  static runtime::StreamImpl& standard(int gpu) { return runtime::backend(Device(gpu)).streams()->standard(); }
  static LateWork::Mark end_of(int gpu) { return LateWork::instance().end_of(StreamName(standard(gpu))); }
  static void synchronize() {
    for (const int gpu : {0, 1}) runtime::backend(Device(gpu)).synchronize();
  }
  /// How many seeds leave work undone, up to the mark that `program` returns.
  static int count_unfinished(const std::function<LateWork::Mark()>& program) {
    int count = 0;
    for (std::uint32_t seed = 0; seed < 30; ++seed) {
      synchronize();
      LateWork::instance().reseed(seed);
      count += !LateWork::instance().is_over(program());
    }
    synchronize();
    return count;
  }
};

TEST_F(LateBuckets, AreSentBesideLaterWork) {
  const Mesh mesh({Device(0), Device(1)});
  const TensorRef other = runtime::empty({16}, f32, Device(0));
  const std::vector<jit::PartialSum> sums(2, {{8}, f32});
  const auto program = [&](std::int64_t max_bytes) {
    const jit::BucketArrays buckets(sums, jit::buckets_of(sums, max_bytes), mesh);
    for (std::size_t i = 0; i < sums.size(); ++i)
      for (const int rank : {0, 1}) {
        const TensorRef part = runtime::shard(*buckets[i], rank);
        const auto value = static_cast<float>(10 * (i + 1)) + static_cast<float>(rank);
        runtime::upload({part->buffer.get(), part->data}, &value, sizeof(value));
      }
    const std::vector<float> later(16, 1);
    for (int i = 0; i < 8; ++i) runtime::upload({other->buffer.get(), other->data}, later.data(), 64);
    const LateWork::Mark end = end_of(0);
    buckets.all_reduce();
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const runtime::SideStreams beside(mesh);
      EXPECT_EQ(floats(*runtime::view(*runtime::shard(*buckets[i], 0), {1}, {1}))[0],
                20.f * static_cast<float>(i + 1) + 1);
    }
    return end;
  };
  EXPECT_GT(count_unfinished([&] { return program(8 * sizeof(float)); }), 0);
  // A single one is sent in order: no later sum can be computed beside it.
  EXPECT_EQ(count_unfinished([&] { return program(16 * sizeof(float)); }), 0);
}

TEST_F(LateBuckets, AnOutputIsReadBesideLaterKernels) {
  const auto first_of_both = [](bool marks) {
    TensorRef outputs[2];
    sum_columns(outputs, Device(0), marks);
    const LateWork::Mark end = end_of(0);
    const runtime::SideStreams beside(Mesh({Device(0)}));
    EXPECT_THAT(floats(*outputs[0]), ElementsAre(3, 3));
    return end;
  };
  EXPECT_GT(count_unfinished([&] { return first_of_both(true); }), 0);
  EXPECT_EQ(count_unfinished([&] { return first_of_both(false); }), 0);
}

}  // namespace
}  // namespace sinter::testing

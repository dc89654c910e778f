// Ranks of one process: the contract, the bits of sums, what is counted, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include <runtime/collective/collective.hpp>
#include <sinter/runtime/error.hpp>

#include "contract.hpp"
#include "setup.hpp"

namespace {

namespace sn = sinter;
namespace runtime = sn::runtime;
using runtime::ReduceOp;
using runtime::TensorRef;
using sn::Device;
using sn::DType;
using sn::Shape;
using sn::testing::array, sn::testing::gpus;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const sinter::test::Setup eight_gpus([] {
  setenv("SINTER_VIRTUAL_GPUS", "8", 1);
  if (!std::getenv("SINTER_VIRTUAL_LATE")) setenv("SINTER_VIRTUAL_STRICT", "1", 1);
});

std::vector<Device> cpus(int n) { return std::vector<Device>(static_cast<std::size_t>(n), Device(sn::cpu)); }

template <class T>
std::vector<T> values_of(const TensorRef& a) {
  const std::vector<std::byte> bytes = sn::testing::bytes_of(a);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

class Loopback : public ::testing::TestWithParam<int> {};

TEST_P(Loopback, KeepsTheContractOnGpus) {
  const auto c = runtime::make_loopback(gpus(GetParam()));
  sn::testing::Contract(*c, gpus(GetParam()), 11).run(60);
}
TEST_P(Loopback, KeepsTheContractOnTheCpu) {
  const auto c = runtime::make_loopback(cpus(GetParam()));
  sn::testing::Contract(*c, cpus(GetParam()), 12).run(100);
}
TEST_P(Loopback, KeepsTheContractOnBoth) {
  std::vector<Device> mixed = gpus(GetParam());
  mixed.emplace_back(sn::cpu);
  mixed.push_back(mixed.front());
  const auto c = runtime::make_loopback(mixed);
  sn::testing::Contract(*c, mixed, 13).run(60);
}
INSTANTIATE_TEST_SUITE_P(Numbers, Loopback, ::testing::Values(1, 2, 3, 4, 8));

/// ((a + b) + c) + ..., in float32, rounded once.
template <class T>
void expect_sum_in_order(int ranks, std::int64_t n) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const auto c = runtime::make_loopback(gpus(ranks));
  std::vector<TensorRef> arrays;
  std::vector<float> expected(static_cast<std::size_t>(n));
  for (int p = 0; p < ranks; ++p) {
    std::vector<T> own;
    for (std::int64_t i = 0; i < n; ++i)
      own.emplace_back(T(std::ldexp(uniform(random), static_cast<int>(random() % 9))));
    for (std::size_t i = 0; i < own.size(); ++i)
      expected[i] = p == 0 ? static_cast<float>(own[i]) : expected[i] + static_cast<float>(own[i]);
    arrays.push_back(array(Device(p), own));
  }
  c->all_reduce(arrays, ReduceOp::Sum);
  for (const TensorRef& a : arrays) {
    const std::vector<T> got = values_of<T>(a);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const T rounded(expected[i]);
      ASSERT_EQ(std::memcmp(&got[i], &rounded, sizeof(T)), 0) << i;
    }
  }
}
TEST(LoopbackSums, AreMadeInTheOrderOfRanks) { expect_sum_in_order<float>(4, 100'003); }
TEST(LoopbackSums, OfSixteenBitsAreRoundedOnce) {
  expect_sum_in_order<sn::half>(8, 5000);
  expect_sum_in_order<sn::bfloat16>(8, 5000);
}
TEST(LoopbackSums, OfArraysLongerThanABlock) { expect_sum_in_order<sn::half>(2, (1 << 20) + 7); }

TEST(LoopbackValues, IntegersWrap) {
  const auto c = runtime::make_loopback(cpus(2));
  std::vector<TensorRef> arrays{array<std::int8_t>(sn::cpu, {100, -128, 127}),
                                array<std::int8_t>(sn::cpu, {100, -1, 127})};
  c->all_reduce(arrays, ReduceOp::Sum);
  EXPECT_EQ(values_of<std::int8_t>(arrays[1]), (std::vector<std::int8_t>{-56, 127, -2}));
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::vector<TensorRef> wide{array<std::int64_t>(sn::cpu, {least}), array<std::int64_t>(sn::cpu, {-1})};
  c->all_reduce(wide, ReduceOp::Product);
  EXPECT_EQ(values_of<std::int64_t>(wide[0])[0], least);
}

TEST(LoopbackValues, ANanMakesANan) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (const ReduceOp how : sn::testing::combines) {
    const auto c = runtime::make_loopback(cpus(3));
    std::vector<TensorRef> arrays{array<float>(sn::cpu, {nan, 1, 1, 1}), array<float>(sn::cpu, {1, -nan, 1, inf}),
                                  array<float>(sn::cpu, {1, 1, nan, 2})};
    c->all_reduce(arrays, how);
    const std::vector<float> got = values_of<float>(arrays[2]);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(got[static_cast<std::size_t>(i)])) << i;
    EXPECT_EQ(got[3], how == ReduceOp::Minimum ? 1 : inf);
  }
}

TEST(LoopbackValues, ZerosHaveAnOrder) {
  const auto c = runtime::make_loopback(cpus(2));
  std::vector<TensorRef> a{array<double>(sn::cpu, {0.0, -0.0}), array<double>(sn::cpu, {-0.0, 0.0})};
  c->all_reduce(a, ReduceOp::Maximum);
  EXPECT_FALSE(std::signbit(values_of<double>(a[0])[0]) || std::signbit(values_of<double>(a[0])[1]));
  std::vector<TensorRef> b{array<double>(sn::cpu, {0.0, -0.0}), array<double>(sn::cpu, {-0.0, 0.0})};
  c->all_reduce(b, ReduceOp::Minimum);
  EXPECT_TRUE(std::signbit(values_of<double>(b[0])[0]) && std::signbit(values_of<double>(b[0])[1]));
}

/// Messages and bytes of a call.
template <class F>
std::pair<std::uint64_t, std::uint64_t> traffic_of(const runtime::Communicator& c, F call) {
  const auto before = c.traffic();
  call();
  const auto after = c.traffic();
  return {after.messages - before.messages, after.bytes - before.bytes};
}
using Counted = std::pair<std::uint64_t, std::uint64_t>;

TEST(LoopbackTraffic, FollowsTheFormulas) {
  for (const int k : {1, 2, 4, 8}) {
    const auto c = runtime::make_loopback(gpus(k));
    const auto ranks = static_cast<std::uint64_t>(k);
    const std::vector<float> ones(1000, 1.0f);
    std::vector<TensorRef> whole, shard;
    for (int p = 0; p < k; ++p) whole.push_back(array(Device(p), std::vector<float>(1000u * ranks, 1.0f)));
    for (int p = 0; p < k; ++p) shard.push_back(array(Device(p), ones));
    const std::vector<std::int64_t> counts(ranks, 1000);
    const std::uint64_t bytes = 4000;
    const Counted reduced = k == 1 ? Counted{0, 0} : Counted{2 * ranks, 2 * ranks * bytes};
    EXPECT_EQ(traffic_of(*c, [&] { c->all_reduce(shard, ReduceOp::Sum); }), reduced);
    EXPECT_EQ(traffic_of(*c, [&] { c->all_gather(shard, whole, counts); }),
              (Counted{ranks * (ranks - 1), ranks * (ranks - 1) * bytes}));
    EXPECT_EQ(traffic_of(*c, [&] { c->broadcast(shard, k - 1); }), (Counted{ranks - 1, (ranks - 1) * bytes}));
    EXPECT_EQ(traffic_of(*c, [&] { c->send(shard[0], 0, shard.back(), k - 1); }),
              k == 1 ? Counted(0, 0) : Counted(1, bytes));
    if (k == 1) continue;
    EXPECT_EQ(traffic_of(*c, [&] { c->reduce_scatter(whole, shard, counts, ReduceOp::Sum); }),
              (Counted{ranks * ranks + ranks, ranks * (ranks + 1) * bytes}));
  }
}

TEST(LoopbackTraffic, IsNoneOnOneDevice) {
  const auto c = runtime::make_loopback(cpus(4));
  sn::testing::Contract(*c, cpus(4), 3).run(30);
  EXPECT_EQ(c->traffic().messages, 0u);
  EXPECT_EQ(c->traffic().bytes, 0u);
}

TEST(LoopbackErrors, SayWhatIsWrong) {
  const auto c = runtime::make_loopback(gpus(2));
  const auto floats = [](int gpu, std::int64_t n) { return runtime::empty(Shape{n}, DType::Float32, Device(gpu)); };
  const auto reduce = [&](std::vector<TensorRef> arrays, ReduceOp how = ReduceOp::Sum) {
    return [&c, arrays, how] { c->all_reduce(arrays, how); };
  };
  EXPECT_THAT(reduce({floats(0, 3)}),
              ThrowsMessage<sn::Error>(AllOf(HasSubstr("1 given arrays"), HasSubstr("2 ranks"))));
  EXPECT_THAT(reduce({floats(0, 3), TensorRef()}), ThrowsMessage<sn::Error>(HasSubstr("no array for rank 1 (cuda:1)")));
  EXPECT_THAT(reduce({floats(0, 3), floats(0, 3)}),
              ThrowsMessage<sn::DeviceError>(AllOf(HasSubstr("rank 1 (cuda:1)"), HasSubstr("float32 (3,) on cuda:0"))));
  EXPECT_THAT(
      reduce({floats(0, 3), floats(1, 4)}),
      ThrowsMessage<sn::ShapeError>(AllOf(HasSubstr("4 elements where 3"), HasSubstr("all_reduce, sum, by loopback"))));
  EXPECT_THAT(reduce({floats(0, 3), runtime::empty(Shape{3}, DType::Int32, Device(1))}),
              ThrowsMessage<sn::DTypeError>(AllOf(HasSubstr("float32 (3,)"), HasSubstr("int32 (3,)"))));
  EXPECT_THAT(reduce({floats(0, 3), runtime::view(*floats(1, 6), Shape{3}, Shape{2})}),
              ThrowsMessage<sn::Error>(AllOf(HasSubstr("strides (2,)"), HasSubstr("copy it first"))));
  EXPECT_THAT(reduce({floats(0, 3), runtime::iota_tensor(Shape{3}, Device(1))}),
              ThrowsMessage<sn::Error>(HasSubstr("iota tensor")));
  const auto complex = [](int gpu) { return runtime::empty(Shape{3}, DType::Complex64, Device(gpu)); };
  EXPECT_THAT(reduce({complex(0), complex(1)}, ReduceOp::Maximum),
              ThrowsMessage<sn::DTypeError>(AllOf(HasSubstr("complex64"), HasSubstr("maximum"))));
}

TEST(LoopbackErrors, OfShardsAndPlaces) {
  const auto c = runtime::make_loopback(gpus(2));
  const auto floats = [](int gpu, std::int64_t n) { return runtime::empty(Shape{n}, DType::Float32, Device(gpu)); };
  const std::vector<TensorRef> shards{floats(0, 3), floats(1, 2)}, wholes{floats(0, 5), floats(1, 5)};
  const auto gather = [&](std::vector<std::int64_t> counts) {
    return [&, counts] { c->all_gather(shards, wholes, counts); };
  };
  EXPECT_NO_THROW(gather({3, 2})());
  EXPECT_THAT(gather({3}), ThrowsMessage<sn::ShapeError>(HasSubstr("1 counts, [3]")));
  EXPECT_THAT(gather({3, -2}), ThrowsMessage<sn::ShapeError>(HasSubstr("count of rank 1 (cuda:1) is -2")));
  EXPECT_THAT(gather({2, 3}), ThrowsMessage<sn::ShapeError>(HasSubstr("3 elements where 2")));
  const auto scatter = [&](std::vector<std::int64_t> counts) {
    return [&, counts] { c->reduce_scatter(shards, wholes, counts, ReduceOp::Sum); };
  };
  EXPECT_THAT(scatter({5, 5}), ThrowsMessage<sn::ShapeError>(HasSubstr("the counts [5, 5] make 10")));
  EXPECT_THAT([&] { c->broadcast(wholes, 2); },
              ThrowsMessage<sn::IndexError>(HasSubstr("rank 2 to send from does not exist")));
  EXPECT_THAT([&] { c->send(shards[0], 0, shards[1], -1); }, ThrowsMessage<sn::IndexError>(HasSubstr("rank -1")));
  EXPECT_THAT([&] { c->send(shards[0], 0, shards[1], 1); },
              ThrowsMessage<sn::ShapeError>(HasSubstr("2 elements where 3")));
  const auto both = runtime::make_loopback({Device(0), Device(0)});
  const TensorRef one = floats(0, 8);
  const std::vector<TensorRef> shared{runtime::view(*one, Shape{5}, Shape{1}),
                                      runtime::view(*one, Shape{5}, Shape{1}, 3)};
  EXPECT_THAT([&] { both->all_reduce(shared, ReduceOp::Sum); }, ThrowsMessage<sn::Error>(HasSubstr("share memory")));
  EXPECT_THAT([] { runtime::make_loopback({}); }, ThrowsMessage<sn::DeviceError>(HasSubstr("at least one device")));
}

}  // namespace

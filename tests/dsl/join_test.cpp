// cat, stack and roll against a loop over coordinates.
#include "devices.hpp"

#include <gmock/gmock.h>

#include <random>

namespace sn = sinter;
using sinter_tests::message_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using I = sn::Tensor<std::int64_t>;

class Join : public testing::TestWithParam<sn::Device> {
 protected:
  sn::Device d = GetParam();
  I counted(const sn::Shape& shape, std::int64_t from = 0) {
    return (sn::arange(shape.numel(), d) + from).reshape(shape);
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Join, testing::ValuesIn(sinter_tests::devices()), [](const auto& device) {
  return device.param.is_cuda() ? "cuda" + std::to_string(device.param.index()) : "cpu";
});

TEST_P(Join, CatAlongEachAxis) {
  const I a = counted({2, 3}), b = counted({2, 3}, 10);
  EXPECT_THAT(sn::cat({a, b}).to_vector(), ElementsAre(0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15));
  EXPECT_THAT(sn::cat({a, b}, 1).to_vector(), ElementsAre(0, 1, 2, 10, 11, 12, 3, 4, 5, 13, 14, 15));
  EXPECT_THAT(sn::cat(-1, a, b(sn::range(), 1).unsqueeze(1)).to_vector(), ElementsAre(0, 1, 2, 11, 3, 4, 5, 14));
  EXPECT_EQ(sn::cat(std::vector{a, b, a}, 0).shape(), sn::Shape(6, 3));
}

TEST_P(Join, CatOfExpressions) {
  const I a = counted({2, 3}), b = counted({1, 3}, 10);
  EXPECT_THAT(sn::cat(0, a + 1, b * 2).to_vector(), ElementsAre(1, 2, 3, 4, 5, 6, 20, 22, 24));
  EXPECT_THAT(sn::cat(1, a, a + b).to_vector(), ElementsAre(0, 1, 2, 10, 12, 14, 3, 4, 5, 13, 15, 17));
  const sn::Lazy lazy = a + b;
  EXPECT_THAT(sn::cat(0, lazy, b).to_vector(), ElementsAre(10, 12, 14, 13, 15, 17, 10, 11, 12));
  EXPECT_THAT((sn::cat(0, a, b) + 1).t()[0].to_vector(), ElementsAre(1, 4, 11));
}

TEST_P(Join, DtypesPromote) {
  const I a = counted({2});
  const sn::Tensor r = sn::cat(0, a, sn::full({1}, 2.5f, d), sn::ones<bool>({1}, d));
  static_assert(std::is_same_v<decltype(r)::value_type, float>);
  EXPECT_THAT(r.to_vector(), ElementsAre(0, 1, 2.5f, 1));
  const sn::AnyTensor any = a;
  EXPECT_EQ(sn::cat(0, any, sn::ones({1}, d)).dtype(), sn::DType::Float32);
  EXPECT_EQ(sn::cat({any, sn::AnyTensor(sn::ones<double>({1}, d))}).dtype(), sn::DType::Float64);
  EXPECT_THAT(sn::roll(any, 1).as<std::int64_t>().to_vector(), ElementsAre(1, 0));
}

TEST_P(Join, EmptyParts) {
  const I a = counted({2, 3}), no_rows = counted({0, 3}), nothing = counted({0});
  EXPECT_EQ(sn::cat({no_rows, a, no_rows}).shape(), sn::Shape(2, 3));
  EXPECT_EQ(sn::cat({nothing, a, nothing}, 1).shape(), sn::Shape(2, 3));  // PyTorch's exception
  EXPECT_EQ(sn::cat(1, nothing, a + 1).shape(), sn::Shape(2, 3));
  EXPECT_EQ(sn::cat({nothing, nothing}).shape(), sn::Shape(0));
  EXPECT_EQ(sn::cat({no_rows, no_rows}).shape(), sn::Shape(0, 3));
  EXPECT_EQ(sn::stack({nothing, nothing}, 1).shape(), sn::Shape(0, 2));
}

TEST_P(Join, StackMakesAnAxis) {
  const I a = counted({2, 3}), b = counted({2, 3}, 10);
  for (const std::int64_t axis : {0, 1, 2, -1, -3}) {
    const I s = sn::stack({a, b}, axis), e = sn::stack(axis, a + 0, b * 1);
    EXPECT_EQ(s.size(axis), 2);
    EXPECT_TRUE(sn::equal(s.select(axis, 0), a)) << axis;
    EXPECT_TRUE(sn::equal(s.select(axis, 1), b)) << axis;
    EXPECT_TRUE(sn::equal(s, e)) << axis;
  }
  EXPECT_THAT(sn::stack({a[0][1], b[1][2]}).to_vector(), ElementsAre(1, 15));
}

TEST_P(Join, PartsOfOneShapeAreOneKernel) {
  const I a = counted({40, 30}), b = counted({40, 30}, 10);
  for (const std::int64_t axis : {0, 1}) {
    (void)sn::cat(axis, a + 1, b * 2);  // compiles
    const auto before = sn::jit_stats();
    const I joined = sn::cat(axis, a + 1, b * 2), stacked = sn::stack(axis, a + 1, b * 2);
    EXPECT_EQ(sn::jit_stats().launches - before.launches, 2u) << axis;
    EXPECT_TRUE(sn::equal(joined.narrow(axis, a.size(axis), b.size(axis)), b * 2));
    EXPECT_TRUE(sn::equal(stacked.select(axis, 1), b * 2));
  }
}

TEST_P(Join, RollMovesOn) {
  const I x = counted({2, 3});
  EXPECT_THAT(sn::roll(x, 1).to_vector(), ElementsAre(5, 0, 1, 2, 3, 4));
  EXPECT_THAT(sn::roll(x, 1, 1).to_vector(), ElementsAre(2, 0, 1, 5, 3, 4));
  EXPECT_THAT(sn::roll(x + 1, -1, -1).to_vector(), ElementsAre(2, 3, 1, 5, 6, 4));
  EXPECT_THAT(sn::roll(x, {1, 5}, {0, 1}).to_vector(), ElementsAre(4, 5, 3, 1, 2, 0));
  EXPECT_THAT(sn::roll(x, {1, 1}, {1, 1}).to_vector(), ElementsAre(1, 2, 0, 4, 5, 3));  // shifts add up
  EXPECT_THAT(sn::roll(x.t(), -1).to_vector(), ElementsAre(3, 1, 4, 2, 5, 0));
  EXPECT_EQ(sn::roll(counted({0, 3}), 2, 0).shape(), sn::Shape(0, 3));
  EXPECT_EQ(sn::roll(counted({}), 3).item(), 0);
  EXPECT_TRUE(sn::equal(sn::roll(sn::Lazy(x + 1), 7, 1), sn::roll(x + 1, 1, 1)));
  EXPECT_TRUE(sn::equal(sn::roll(x, std::numeric_limits<std::int64_t>::min(), 0), x));
}

TEST_P(Join, RandomRolls) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 20; ++round) {
    const I x = counted({1 + below(4), 1 + below(5), 1 + below(40)});
    const sn::Shape shifts(below(20) - 10, below(90) - 45), axes(below(2), 2);
    const auto rolled = sn::roll(x, shifts, axes).cpu(), whole = x.cpu();
    for (int probe = 0; probe < 40; ++probe) {
      std::int64_t at[3], from[3];
      for (int a = 0; a < 3; ++a) at[a] = from[a] = below(static_cast<int>(x.size(a)));
      for (int i = 0; i < 2; ++i) {
        const std::int64_t n = x.size(axes[i]);
        from[axes[i]] = ((from[axes[i]] - shifts[i]) % n + n) % n;
      }
      ASSERT_EQ(rolled(at[0], at[1], at[2]).item(), whole(from[0], from[1], from[2]).item());
    }
  }
}

TEST(JoinErrors, SayWhatDoesNotFit) {
  const I a = sn::arange(6).reshape({2, 3}), b = sn::arange(4).reshape({2, 2});
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)sn::cat({a, b}); }),
              AllOf(HasSubstr("must match except in dimension 0"), HasSubstr("tensor 1 of the list has shape (2, 2)"),
                    HasSubstr("0: (2, 3)")));
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)sn::cat({a, a[0]}); }), HasSubstr("has shape (3,)"));
  EXPECT_THAT(message_of<sn::IndexError>([&] { (void)sn::cat({a, a}, 2); }), HasSubstr("[-2, 1], but got 2"));
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)sn::cat({a[0][0], a[0][1]}); }),
              HasSubstr("zero-dimensional tensor (at position 0) cannot be concatenated"));
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)sn::cat(std::vector<I>()); }), HasSubstr("nothing to join"));
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)sn::stack({a, b}); }),
              HasSubstr("expects each tensor to be equal size, but got (2, 3) at entry 0 and (2, 2) at entry 1"));
  EXPECT_THROW((void)sn::stack({a, a}, 3), sn::IndexError);
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)sn::roll(a, {1, 2}, {0}); }), HasSubstr("shifts and dimensions"));
  EXPECT_THROW((void)sn::roll(a, 1, 2), sn::IndexError);
  EXPECT_THROW((void)sn::roll(sn::zeros({}), 1, 0), sn::IndexError);  // as in PyTorch: it has no axis
  if (sn::device_count() > 0) {
    const I there = a.to(sn::Device(0));
    EXPECT_THAT(message_of<sn::DeviceError>([&] { (void)sn::cat({a, there}); }), HasSubstr("same device"));
    EXPECT_THROW((void)sn::cat(0, a + 1, there + 1), sn::DeviceError);
  }
}

}  // namespace

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <random>
#include <vector>

#include <sinter/runtime/error.hpp>
#include <sinter/runtime/shape.hpp>

namespace {

using sinter::Shape;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::int64_t big = std::numeric_limits<std::int64_t>::max();

TEST(Shape, HoldsExtentsOfAnyIntegralType) {
  const Shape s{2, 3u, std::int64_t(4), std::size_t(5)};
  EXPECT_EQ(s.ndim(), 4);
  EXPECT_EQ(s.size(), 4u);
  EXPECT_EQ(s.numel(), 120);
  EXPECT_EQ(s[3], 5);
  EXPECT_FALSE(s.empty());
  EXPECT_TRUE(Shape().empty());
  EXPECT_EQ(Shape().numel(), 1);
  static_assert(Shape{2, 3}.numel() == 6);
}

TEST(Shape, EqualityLooksAtTheNdimToo) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE((Shape{2}), (Shape{2, 1}));
  EXPECT_NE(Shape{}, Shape{0});
}

TEST(Shape, FromASpanAndByPushBack) {
  const std::vector<std::int64_t> extents{7, 0, 9};
  Shape s{std::span(extents)};
  EXPECT_EQ(s, (Shape{7, 0, 9}));
  s.push_back(4);
  EXPECT_EQ(s, (Shape{7, 0, 9, 4}));
}

TEST(Shape, MoreThanEightDimensionsAreRefused) {
  Shape s{1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_THAT([&] { s.push_back(9); },
              ThrowsMessage<sinter::ShapeError>(AllOf(HasSubstr("(1, 2, 3, 4, 5, 6, 7, 8)"), HasSubstr("at most 8"))));
  EXPECT_EQ(s.ndim(), 8);
  const std::vector<std::int64_t> nine(9, 1), many(100000, 1);
  EXPECT_THROW(Shape{std::span(nine)}, sinter::ShapeError);
  EXPECT_THAT([&] { Shape{std::span(many)}; }, ThrowsMessage<sinter::ShapeError>(HasSubstr("100000 dimensions")));
}

TEST(Shape, PrintsAsPythonsTuples) {
  EXPECT_EQ(to_string(Shape{}), "()");
  EXPECT_EQ(to_string(Shape{3}), "(3,)");
  EXPECT_EQ(to_string(Shape{2, -3}), "(2, -3)");
}

TEST(CheckShape, TakesWhatFits) {
  for (const Shape& s : {Shape{}, Shape{0}, Shape{1 << 20, 1 << 20}, Shape{big}, Shape{0, big}, Shape{big, 0}})
    EXPECT_NO_THROW(sinter::check_shape(s, 1)) << to_string(s);
  EXPECT_NO_THROW(sinter::check_shape(Shape{big / 8}, 8));
}

TEST(CheckShape, RefusesNegativeExtentsByName) {
  EXPECT_THAT([] { sinter::check_shape(Shape{2, -3, 4}, 4); },
              ThrowsMessage<sinter::ShapeError>(AllOf(HasSubstr("(2, -3, 4)"), HasSubstr("negative"))));
  EXPECT_THROW(sinter::check_shape(Shape{0, -1}, 4), sinter::ShapeError);
  EXPECT_THROW(sinter::check_shape(Shape{std::numeric_limits<std::int64_t>::min()}, 1), sinter::ShapeError);
}

TEST(CheckShape, RefusesWhatOverflows) {
  const std::int64_t half = std::int64_t(1) << 32;
  EXPECT_THAT([&] { sinter::check_shape(Shape{half, half}, 1); },
              ThrowsMessage<sinter::ShapeError>(AllOf(HasSubstr("(4294967296, 4294967296)"), HasSubstr("too large"))));
  EXPECT_THROW(sinter::check_shape(Shape{big / 8 + 1}, 8), sinter::ShapeError);
  EXPECT_THROW(sinter::check_shape(Shape{big, 2}, 1), sinter::ShapeError);
  // numel is 0, yet strides and partial products would overflow.
  EXPECT_THROW(sinter::check_shape(Shape{half, half, 0}, 1), sinter::ShapeError);
  EXPECT_THROW(sinter::check_shape(Shape{0, half, half}, 1), sinter::ShapeError);
}

TEST(ContiguousStrides, AreRowMajor) {
  EXPECT_EQ(contiguous_strides(Shape{}), Shape{});
  EXPECT_EQ(contiguous_strides(Shape{5}), Shape{1});
  EXPECT_EQ(contiguous_strides(Shape{2, 3, 4}), (Shape{12, 4, 1}));
  EXPECT_EQ(contiguous_strides(Shape{2, 0, 4}), (Shape{4, 4, 1}));
  EXPECT_EQ(contiguous_strides(Shape{big, big, big}).ndim(), 3);  // unchecked shapes do not trap
}

/// NumPy's rule, written the other way round: line up from the right with ones in front.
std::optional<std::vector<std::int64_t>> reference(std::vector<std::int64_t> a, std::vector<std::int64_t> b) {
  while (a.size() < b.size()) a.insert(a.begin(), 1);
  while (b.size() < a.size()) b.insert(b.begin(), 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (a[i] == 1)
      a[i] = b[i];
    else if (b[i] != 1)
      return std::nullopt;
  }
  return a;
}

TEST(Shape, AxesCountFromBothEndsAndAreChecked) {
  const Shape s{3, 4};
  EXPECT_EQ(s[-1], 4);
  EXPECT_EQ(s[-2], 3);
  for (const int axis : {2, 9, -3}) EXPECT_THROW((void)s[axis], sinter::IndexError) << axis;
  EXPECT_THROW((void)Shape()[0], sinter::IndexError);
}

TEST(Broadcast, FollowsNumPysRule) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto extents = [&] {
    std::vector<std::int64_t> e(random() % 9);
    for (std::int64_t& x : e) x = std::array{0, 1, 1, 1, 2, 2, 3}[random() % 7];
    return e;
  };
  int fit = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto a = extents(), b = extents();
    const auto expected = reference(a, b);
    Shape into{std::span(a)};
    const Shape before = into, with{std::span(b)};
    ASSERT_EQ(broadcast(into, with), expected.has_value()) << to_string(before) << " and " << to_string(with);
    ASSERT_EQ(into, expected ? Shape{std::span(*expected)} : before) << to_string(before) << " and " << to_string(with);
    fit += expected.has_value();
  }
  EXPECT_GT(fit, 1000);
}

}  // namespace

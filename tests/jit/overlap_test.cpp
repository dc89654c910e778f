#include <jit/plan/overlap.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace sinter::testing {
namespace {

using jit::Overlap;
using jit::overlap;
using runtime::TensorRef;
using runtime::view;

TEST(Overlap, ByByteRanges) {
  const TensorRef base = runtime::empty(Shape{20}, DType::Float32, Device());
  const TensorRef low = view(*base, Shape{10}, Shape{1}), high = view(*base, Shape{10}, Shape{1}, 10),
                  middle = view(*base, Shape{10}, Shape{1}, 5),
                  other = runtime::empty(Shape{20}, DType::Float32, Device());
  EXPECT_EQ(overlap(*low, *high), Overlap::None);
  EXPECT_EQ(overlap(*high, *low), Overlap::None);
  EXPECT_EQ(overlap(*low, *middle), Overlap::Some);
  EXPECT_EQ(overlap(*base, *other), Overlap::None);
  EXPECT_EQ(overlap(*base, *base), Overlap::Same);
  EXPECT_EQ(overlap(*low, *view(*base, Shape{10}, Shape{1})), Overlap::Same);
}

TEST(Overlap, InterleavedViewsDoNotMeet) {
  const TensorRef base = runtime::empty(Shape{4, 10}, DType::Float32, Device());
  EXPECT_EQ(overlap(*view(*base, Shape{20}, Shape{2}), *view(*base, Shape{20}, Shape{2}, 1)), Overlap::None);
  const TensorRef left = view(*base, Shape{4, 3}, Shape{10, 1}), right = view(*base, Shape{4, 7}, Shape{10, 1}, 3);
  EXPECT_EQ(overlap(*left, *right), Overlap::None);
  EXPECT_EQ(overlap(*right, *left), Overlap::None);
  EXPECT_EQ(overlap(*left, *view(*base, Shape{4, 7}, Shape{10, 1}, 2)), Overlap::Some);
  // Elements of other sizes, and strides that differ, are judged by the bytes between.
  const TensorRef bytes = view(*base, Shape{4, 3}, Shape{10, 1}, 3);
  bytes->dtype = DType::Bool;
  EXPECT_EQ(overlap(*left, *bytes), Overlap::Some);
  EXPECT_EQ(overlap(*left, *view(*base, Shape{4}, Shape{9}, 3)), Overlap::Some);
}

std::set<std::int64_t> addresses(const runtime::TensorImpl& t) {
  std::set<std::int64_t> all;
  for (std::int64_t i = 0; i < t.numel; ++i) {
    std::int64_t rest = i, offset = 0;
    for (int axis = t.rank(); axis-- > 0; rest /= t.shape[axis]) offset += rest % t.shape[axis] * t.strides[axis];
    all.insert(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(t.data) / 4) + offset);
  }
  return all;
}

TEST(Overlap, RandomViewsOfEqualStrides) {
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 random(seed);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  const TensorRef base = runtime::empty(Shape{2000}, DType::Float32, Device());
  int none = 0, some = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    Shape a_shape, b_shape, strides;
    for (std::int64_t rank = 1 + below(3), axis = 0; axis < rank; ++axis) {
      a_shape.push_back(1 + below(5));
      b_shape.push_back(below(3) ? 1 + below(5) : a_shape[static_cast<int>(axis)]);
      strides.push_back(below(8) ? below(41) - 20 : 0);
    }
    const TensorRef a = view(*base, a_shape, strides, 900 + below(50)),
                    b = view(*base, b_shape, strides, 900 + below(50));
    const std::set<std::int64_t> of_a = addresses(*a), of_b = addresses(*b);
    const bool meet = std::ranges::any_of(of_a, [&](std::int64_t i) { return of_b.contains(i); });
    const Overlap found = overlap(*a, *b);
    ASSERT_EQ(found != Overlap::None, meet) << to_string(a_shape) << ' ' << to_string(b_shape) << ' '
                                            << to_string(strides) << ' ' << (b->data - a->data) / 4;
    (meet ? some : none) += 1;
  }
  EXPECT_GT(none, 500);
  EXPECT_GT(some, 500);
}

TEST(Overlap, SameOnlyElementForElement) {
  const TensorRef m = runtime::empty(Shape{4, 4}, DType::Float32, Device());
  EXPECT_EQ(overlap(*m, *view(*m, Shape{4, 4}, Shape{1, 4})), Overlap::Some);       // transposed
  EXPECT_EQ(overlap(*m, *view(*m, Shape{4, 4}, Shape{-4, 1}, 12)), Overlap::Some);  // flipped
  EXPECT_EQ(overlap(*m, *view(*m, Shape{4}, Shape{1})), Overlap::Some);             // its first row, broadcast
  EXPECT_EQ(overlap(*m, *view(*m, Shape{1, 4}, Shape{4, 1})), Overlap::Some);
  EXPECT_EQ(overlap(*m, *view(*m, Shape{1, 4, 4}, Shape{16, 4, 1})), Overlap::Same);
  EXPECT_EQ(overlap(*view(*m, Shape{1, 4}, Shape{4, 1}), *view(*m, Shape{4}, Shape{1})), Overlap::Same);
}

TEST(Overlap, NothingHasNoMemory) {
  const TensorRef none = runtime::empty(Shape{0, 3}, DType::Float32, Device()),
                  m = runtime::empty(Shape{3}, DType::Float32, Device());
  EXPECT_EQ(overlap(*none, *none), Overlap::None);
  EXPECT_EQ(overlap(*m, *view(*m, Shape{0}, Shape{1})), Overlap::None);
  EXPECT_EQ(overlap(*m, *runtime::index_tensor(Shape{3}, Device())), Overlap::None);
}

TEST(Overlap, ExpandedArraysOverlapThemselves) {
  const TensorRef m = runtime::empty(Shape{4, 4}, DType::Float32, Device());
  EXPECT_FALSE(jit::overlaps_itself(*m));
  EXPECT_FALSE(jit::overlaps_itself(*view(*m, Shape{4, 4}, Shape{1, 4})));
  EXPECT_FALSE(jit::overlaps_itself(*view(*m, Shape{1, 4}, Shape{0, 1})));
  EXPECT_TRUE(jit::overlaps_itself(*view(*m, Shape{3, 4}, Shape{0, 1})));
  EXPECT_FALSE(jit::overlaps_itself(*view(*m, Shape{3, 0}, Shape{0, 1})));
}

}  // namespace
}  // namespace sinter::testing

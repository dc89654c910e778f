#include <jit/plan/overlap.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

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
  // So do strides that differ, and elements of other sizes.
  EXPECT_EQ(overlap(*left, *view(*base, Shape{4}, Shape{9}, 3)), Overlap::Some);
  EXPECT_EQ(overlap(*left, *view(*base, Shape{2}, Shape{11}, 3)), Overlap::None);
  const TensorRef parts = view(*base, Shape{4, 1}, Shape{5, 1}, 4);
  parts->dtype = DType::Complex64;  // floats 4 and 5 of each row
  EXPECT_EQ(overlap(*left, *parts), Overlap::None);
  EXPECT_EQ(overlap(*right, *parts), Overlap::Some);
}

/// Of every byte, or, with one to an element, of its first.
std::vector<std::int64_t> addresses(const runtime::TensorImpl& t, std::int64_t bytes_of_each) {
  std::vector<std::int64_t> all;
  const auto size = static_cast<std::int64_t>(size_of(t.dtype));
  for (std::int64_t i = 0; i < t.numel; ++i) {
    std::int64_t rest = i, offset = 0;
    for (int axis = t.ndim(); axis-- > 0; rest /= t.shape[axis]) offset += rest % t.shape[axis] * t.strides[axis];
    for (std::int64_t byte = 0; byte < bytes_of_each; ++byte)
      all.push_back(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(t.data)) + offset * size + byte);
  }
  return all;
}

class RandomViews : public ::testing::Test {
 protected:
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<unsigned>(n)); }
  bool meet(const runtime::TensorImpl& a, const runtime::TensorImpl& b) {
    const auto of_a = addresses(a, static_cast<std::int64_t>(size_of(a.dtype))),
               of_b = addresses(b, static_cast<std::int64_t>(size_of(b.dtype)));
    const std::set<std::int64_t> known(of_a.begin(), of_a.end());
    return std::ranges::any_of(of_b, [&](std::int64_t i) { return known.contains(i); });
  }
  TensorRef view_of(const Shape& shape, const Shape& strides) { return view(*base_, shape, strides, 900 + below(50)); }
  Shape extents(std::int64_t ndim) {
    Shape shape;
    while (shape.ndim() < ndim) shape.push_back(1 + below(5));
    return shape;
  }
  Shape strides(std::int64_t ndim) {
    Shape strides;
    while (strides.ndim() < ndim) strides.push_back(below(8) ? below(41) - 20 : 0);
    return strides;
  }

  const std::uint32_t seed_ = std::random_device()();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, fmt::format("seed {}", seed_)};
  std::mt19937 random_{seed_};
  const TensorRef base_ = runtime::empty(Shape{2000}, DType::Float32, Device());
};

TEST_F(RandomViews, OfEqualStrides) {
  int none = 0, some = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const std::int64_t ndim = 1 + below(3);
    const Shape steps = strides(ndim), shape = extents(ndim), other = below(3) ? extents(ndim) : shape;
    const TensorRef a = view_of(shape, steps), b = view_of(other, steps);
    const bool do_meet = meet(*a, *b);
    ASSERT_EQ(overlap(*a, *b) != Overlap::None, do_meet)
        << to_string(shape) << ' ' << to_string(other) << ' ' << to_string(steps) << ' ' << (b->data - a->data) / 4;
    (do_meet ? some : none) += 1;
  }
  EXPECT_GT(none, 500);
  EXPECT_GT(some, 500);
}

TEST_F(RandomViews, OfAnyStridesAndSizes) {
  constexpr DType dtypes[] = {DType::Bool, DType::Float16, DType::Float32};
  int none = 0, some = 0, undecided = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const std::int64_t ndim = 1 + below(3), other_ndim = 1 + below(3);
    const TensorRef a = view_of(extents(ndim), strides(ndim)), b = view_of(extents(other_ndim), strides(other_ndim));
    a->dtype = dtypes[below(3)], b->dtype = dtypes[below(3)];
    a->data += below(4), b->data += below(4);
    const bool do_meet = meet(*a, *b);
    ASSERT_EQ(jit::overlap_as_targets(*a, *b), do_meet) << describe(*a) << describe(*b);
    const bool found = overlap(*a, *b) != Overlap::None;
    ASSERT_TRUE(found || !do_meet);
    undecided += found && !do_meet;
    (do_meet ? some : none) += 1;
  }
  EXPECT_GT(none, 500);
  EXPECT_GT(some, 500);
  EXPECT_LT(undecided, 40);
}

TEST_F(RandomViews, OverlapThemselves) {
  int apart = 0, overlapping = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const std::int64_t ndim = 1 + below(4);
    const TensorRef t = view_of(extents(ndim), strides(ndim));
    const auto all = addresses(*t, 1);
    const bool overlaps = std::set<std::int64_t>(all.begin(), all.end()).size() < all.size();
    ASSERT_EQ(jit::overlaps_itself(*t), overlaps) << to_string(t->shape) << ' ' << to_string(t->strides);
    (overlaps ? overlapping : apart) += 1;
  }
  EXPECT_GT(apart, 500);
  EXPECT_GT(overlapping, 500);
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
  EXPECT_EQ(overlap(*m, *runtime::iota_tensor(Shape{3}, Device())), Overlap::None);
}

TEST(Overlap, ArraysOverlapThemselves) {
  const TensorRef m = runtime::empty(Shape{4, 4}, DType::Float32, Device());
  EXPECT_FALSE(jit::overlaps_itself(*m));
  EXPECT_FALSE(jit::overlaps_itself(*view(*m, Shape{4, 4}, Shape{1, 4})));
  EXPECT_FALSE(jit::overlaps_itself(*view(*m, Shape{1, 4}, Shape{0, 1})));
  EXPECT_TRUE(jit::overlaps_itself(*view(*m, Shape{3, 4}, Shape{0, 1})));
  EXPECT_FALSE(jit::overlaps_itself(*view(*m, Shape{3, 0}, Shape{0, 1})));
  EXPECT_TRUE(jit::overlaps_itself(*view(*m, Shape{14, 3}, Shape{1, 1})));  // windows
  EXPECT_FALSE(jit::overlaps_itself(*view(*m, Shape{5, 3}, Shape{3, 1})));  // side by side
  EXPECT_FALSE(jit::overlaps_itself(*view(*m, Shape{2, 3}, Shape{3, 2})));  // 0 2 4, 3 5 7
}

}  // namespace
}  // namespace sinter::testing

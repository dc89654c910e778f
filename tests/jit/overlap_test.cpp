#include <jit/overlap.hpp>

#include <gtest/gtest.h>

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

TEST(Overlap, InterleavedViewsCountAsOverlapping) {
  const TensorRef base = runtime::empty(Shape{20}, DType::Float32, Device());
  EXPECT_EQ(overlap(*view(*base, Shape{10}, Shape{2}), *view(*base, Shape{10}, Shape{2}, 1)), Overlap::Some);
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

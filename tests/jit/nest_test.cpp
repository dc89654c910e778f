#include <jit/nest.hpp>

#include <gtest/gtest.h>

#include <numeric>

#include "device_arrays.hpp"

namespace sinter::testing {
namespace {

using jit::LoopNest;

LoopNest nest_of(std::vector<TensorImpl*> operands, int outputs = 1) {
  LoopNest nest;
  jit::make_nest(nest, operands, outputs);
  return nest;
}

TensorRef empty(const Shape& shape) { return runtime::empty(shape, DType::Float32, Device()); }

TEST(Nest, ContiguousOperandsAreOneLine) {
  const TensorRef a = empty(Shape{3, 4, 5}), b = empty(Shape{1, 3, 4, 5}), c = empty(Shape{3, 4, 5});
  const LoopNest nest = nest_of({a.get(), c.get()});
  EXPECT_EQ(nest.rank, 1);
  EXPECT_EQ(nest.numel, 60);
  EXPECT_EQ(nest.extents[0], 60);
  EXPECT_EQ(nest.operands[1].strides[0], 1);
  EXPECT_EQ(nest.operands[1].data, c->data);
  EXPECT_EQ(nest_of({b.get(), a.get()}).rank, 1);
}

TEST(Nest, SingleElementsWalkLikeContiguousOnes) {
  const TensorRef a = empty(Shape{1, 1}), b = empty(Shape{});
  const LoopNest nest = nest_of({a.get(), b.get()});
  EXPECT_EQ(nest.rank, 1);
  EXPECT_EQ(nest.extents[0], 1);
  EXPECT_EQ(nest.operands[0].strides[0], 1);
  EXPECT_EQ(nest.operands[1].strides[0], 1);
}

TEST(Nest, BroadcastRowsTakeTwoDims) {
  const TensorRef out = empty(Shape{6, 7, 8}), row = empty(Shape{8}), column = empty(Shape{6, 1, 1}),
                  one = empty(Shape{});
  LoopNest nest = nest_of({out.get(), row.get(), one.get()});
  ASSERT_EQ(nest.rank, 2);  // 6 and 7 merge
  EXPECT_EQ(nest.extents[0], 42);
  EXPECT_EQ(nest.extents[1], 8);
  EXPECT_EQ(nest.operands[1].strides[0], 0);
  EXPECT_EQ(nest.operands[1].strides[1], 1);
  EXPECT_EQ(nest.operands[2].strides[1], 0);
  nest = nest_of({out.get(), column.get()});
  ASSERT_EQ(nest.rank, 2);  // 7 and 8 merge
  EXPECT_EQ(nest.extents[1], 56);
  EXPECT_EQ(nest.operands[1].strides[0], 1);
}

TEST(Nest, DimsFollowTheOutputsMemory) {
  const TensorRef base = empty(Shape{5, 9}), other = empty(Shape{5, 9});
  const TensorRef out = runtime::view(*base, Shape{9, 5}, Shape{1, 9}),
                  in = runtime::view(*other, Shape{9, 5}, Shape{1, 9});
  const LoopNest nest = nest_of({out.get(), in.get()});
  EXPECT_EQ(nest.rank, 1);
  EXPECT_EQ(nest.extents[0], 45);
}

/// Offsets of all operands at every position of a nest, in any order.
std::vector<std::vector<std::int64_t>> walk(const LoopNest& nest) {
  std::vector<std::vector<std::int64_t>> positions;
  for (std::int64_t i = 0; i < nest.numel; ++i) {
    std::vector<std::int64_t> offsets(nest.operands.size());
    std::int64_t rest = i;
    for (int d = nest.rank - 1; d >= 0; --d) {
      for (std::size_t k = 0; k < offsets.size(); ++k)
        offsets[k] += rest % nest.extents[d] * nest.operands[k].strides[d];
      rest /= nest.extents[d];
    }
    positions.push_back(offsets);
  }
  std::ranges::sort(positions);
  return positions;
}

TEST(Nest, RandomOperandsAreWalkedElementForElement) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const Shape shape = random_shape(random, 300);
    std::vector<TensorRef> arrays;
    std::vector<TensorImpl*> operands;
    for (std::size_t k = 0; k < 1 + random() % 4; ++k) {
      const Shape own = k == 0 ? shape : broadcastable(shape, random);
      arrays.push_back(
          random_array(DType::Float32, own, Device(), k ? Layout::Any : static_cast<Layout>(random() % 2), random));
      operands.push_back(arrays.back().get());
    }
    if (shape.numel() == 0) continue;
    const LoopNest nest = nest_of(operands);
    ASSERT_EQ(std::accumulate(nest.extents, nest.extents + nest.rank, std::int64_t{1}, std::multiplies<>()),
              shape.numel());
    std::vector<std::vector<std::int64_t>> expected;
    for (std::int64_t i = 0; i < shape.numel(); ++i) {
      std::vector<std::int64_t> offsets;
      for (const TensorImpl* t : operands) offsets.push_back(offset_of(*t, shape, i));
      expected.push_back(offsets);
    }
    std::ranges::sort(expected);
    ASSERT_EQ(walk(nest), expected);
  }
}

}  // namespace
}  // namespace sinter::testing

#include <jit/plan/nest.hpp>

#include <gtest/gtest.h>

#include <numeric>

#include "device_arrays.hpp"
#include "row_kernels.hpp"

namespace sinter::testing {
namespace {

using jit::LoopNest;

LoopNest nest_of(std::vector<TensorImpl*> operands, int outputs = 1, std::vector<std::uint32_t> arrays = {}) {
  LoopNest nest;
  jit::make_nest(nest, operands, outputs, arrays);
  return nest;
}

TensorRef empty(const Shape& shape) { return runtime::empty(shape, DType::Float32, Device()); }

TEST(Nest, ContiguousOperandsAreOneLine) {
  const TensorRef a = empty(Shape{3, 4, 5}), b = empty(Shape{1, 3, 4, 5}), c = empty(Shape{3, 4, 5});
  const LoopNest nest = nest_of({a.get(), c.get()});
  EXPECT_EQ(nest.ndim, 1);
  EXPECT_EQ(nest.numel, 60);
  EXPECT_EQ(nest.extents[0], 60);
  EXPECT_EQ(nest.operands[1].strides[0], 1);
  EXPECT_EQ(nest.operands[1].data, c->data);
  EXPECT_EQ(nest_of({b.get(), a.get()}).ndim, 1);
}

TEST(Nest, ArraysAreNotWalked) {
  const TensorRef out = empty(Shape{3, 4, 5}), in = empty(Shape{3, 4, 5}), array = empty(Shape{7, 2});
  const LoopNest nest = nest_of({out.get(), in.get(), array.get()}, 1, {2});
  EXPECT_EQ(nest.ndim, 1);
  EXPECT_EQ(nest.numel, 60);
  EXPECT_EQ(nest.operands[1].strides[0], 1);
  EXPECT_EQ(nest.operands[2].strides[0], 0);
  EXPECT_EQ(nest.operands[2].data, array->data);
  const TensorRef one = empty(Shape{1}), index = empty(Shape{});
  EXPECT_EQ(nest_of({one.get(), index.get(), array.get()}, 1, {2}).operands[2].data, array->data);
}

TEST(Nest, SingleElementsWalkLikeContiguousOnes) {
  const TensorRef a = empty(Shape{1, 1}), b = empty(Shape{});
  const LoopNest nest = nest_of({a.get(), b.get()});
  EXPECT_EQ(nest.ndim, 1);
  EXPECT_EQ(nest.extents[0], 1);
  EXPECT_EQ(nest.operands[0].strides[0], 1);
  EXPECT_EQ(nest.operands[1].strides[0], 1);
}

TEST(Nest, BroadcastRowsTakeTwoDims) {
  const TensorRef out = empty(Shape{6, 7, 8}), row = empty(Shape{8}), column = empty(Shape{6, 1, 1}),
                  one = empty(Shape{});
  LoopNest nest = nest_of({out.get(), row.get(), one.get()});
  ASSERT_EQ(nest.ndim, 2);  // 6 and 7 merge
  EXPECT_EQ(nest.extents[0], 42);
  EXPECT_EQ(nest.extents[1], 8);
  EXPECT_EQ(nest.operands[1].strides[0], 0);
  EXPECT_EQ(nest.operands[1].strides[1], 1);
  EXPECT_EQ(nest.operands[2].strides[1], 0);
  nest = nest_of({out.get(), column.get()});
  ASSERT_EQ(nest.ndim, 2);  // 7 and 8 merge
  EXPECT_EQ(nest.extents[1], 56);
  EXPECT_EQ(nest.operands[1].strides[0], 1);
}

TEST(Nest, DimsFollowTheOutputsMemory) {
  const TensorRef base = empty(Shape{5, 9}), other = empty(Shape{5, 9});
  const TensorRef out = runtime::view(*base, Shape{9, 5}, Shape{1, 9}),
                  in = runtime::view(*other, Shape{9, 5}, Shape{1, 9});
  const LoopNest nest = nest_of({out.get(), in.get()});
  EXPECT_EQ(nest.ndim, 1);
  EXPECT_EQ(nest.extents[0], 45);
}

/// Offsets of all operands at every position of a nest, in any order.
std::vector<std::vector<std::int64_t>> offsets_of(const LoopNest& nest) {
  std::vector<std::vector<std::int64_t>> positions;
  for (std::int64_t i = 0; i < nest.numel; ++i) {
    std::vector<std::int64_t> offsets(nest.operands.size());
    std::int64_t rest = i;
    for (int d = nest.ndim - 1; d >= 0; --d) {
      for (std::size_t k = 0; k < offsets.size(); ++k)
        offsets[k] += rest % nest.extents[d] * nest.operands[k].strides[d];
      rest /= nest.extents[d];
    }
    positions.push_back(offsets);
  }
  std::ranges::sort(positions);
  return positions;
}

jit::LoopNest nest_of_rows(Op op, std::uint8_t axes, const TensorRef& x, const Shape& result) {
  const DType t = op == Op::argmax ? DType::Int64 : DType::Float32;
  RowKernel k("rows", axes);
  k.output(k.apply(op, {k.leaf(DType::Float32)}), jit::AxisMapping::Rows);
  const TensorRef y = runtime::empty(result, t, Device());
  std::vector<TensorImpl*> operands{y.get(), x.get()};
  return row_nest(k.done(), operands, x->shape);
}

TEST(Nest, CombinedDimsFollowMemory) {
  const TensorRef x = empty(Shape{4, 5, 6}), back = runtime::view(*x, Shape{6, 5, 4}, Shape{1, 6, 30});
  for (const TensorRef& t : {x, back}) {
    const LoopNest nest = nest_of_rows(Op::sum, 0b111, t, Shape{});
    EXPECT_EQ(nest.reduced, 1);
    EXPECT_EQ(nest.extents[nest.ndim - 1], 120);
    EXPECT_EQ(nest.operands[1].strides[nest.ndim - 1], 1);
  }
  const LoopNest rows = nest_of_rows(Op::sum, 0b001, back, Shape{6, 5});  // whose 6 neighbours are innermost
  EXPECT_EQ(rows.ndim - rows.reduced, 2);
  EXPECT_EQ(rows.extents[1], 6);
  EXPECT_EQ(rows.operands[1].strides[1], 1);
}

TEST(Nest, PositionsKeepTheOrderOfTheAxes) {
  const TensorRef x = empty(Shape{4, 5}), back = runtime::view(*x, Shape{5, 4}, Shape{1, 5});
  const LoopNest nest = nest_of_rows(Op::argmax, 0b11, back, Shape{});
  EXPECT_EQ(nest.reduced, 2);
  EXPECT_EQ(nest.extents[nest.ndim - 2], 5);
}

TEST(Nest, ExpandedOperandsDecideNoOrder) {
  const TensorRef x = empty(Shape{5}), wide = runtime::view(*x, Shape{4, 5}, Shape{0, 1});
  const LoopNest nest = nest_of_rows(Op::sum, 0b11, wide, Shape{});
  EXPECT_EQ(nest.extents[nest.ndim - 1], 5);
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
    ASSERT_EQ(std::accumulate(nest.extents, nest.extents + nest.ndim, std::int64_t{1}, std::multiplies<>()),
              shape.numel());
    std::vector<std::vector<std::int64_t>> expected;
    for (std::int64_t i = 0; i < shape.numel(); ++i) {
      std::vector<std::int64_t> offsets;
      for (const TensorImpl* t : operands) offsets.push_back(offset_of(*t, shape, i));
      expected.push_back(offsets);
    }
    std::ranges::sort(expected);
    ASSERT_EQ(offsets_of(nest), expected);
  }
}

}  // namespace
}  // namespace sinter::testing

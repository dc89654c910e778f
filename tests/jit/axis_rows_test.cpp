// Rows along an axis and back, against coordinates.
#include <jit/library/axis_rows.hpp>

#include <gtest/gtest.h>

#include <sinter/jit/evaluate.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::jit {
namespace {

using runtime::TensorImpl;
using runtime::TensorRef;

/// Elements that say where they are.
TensorRef counted(const Shape& shape) {
  TensorRef t = runtime::empty(shape, DType::Int64, Device());
  for (std::int64_t i = 0; i < t->numel; ++i) reinterpret_cast<std::int64_t*>(t->data)[i] = i;
  return t;
}

std::int64_t at(const TensorImpl& t, const Shape& coordinates) {
  std::int64_t place = 0;
  for (int d = 0; d < t.ndim(); ++d) place += coordinates[d] * t.strides[d];
  return reinterpret_cast<const std::int64_t*>(t.data)[place];
}

TEST(AxisRows, TheAxisGoesToTheEndAndBack) {
  for (int axis = 0; axis < 4; ++axis) {
    const Shape shape(2, 3, 4, 5);
    const TensorRef x = counted(shape), rows = rows_along(*x, axis), back = axis_back(*rows, axis, 4);
    EXPECT_TRUE(rows->contiguous && back->contiguous);
    EXPECT_EQ(back->shape, shape);
    EXPECT_EQ(rows->shape[3], shape[axis]);
    EXPECT_EQ(extent_along(*x, axis), shape[axis]);
    for (std::int64_t i = 0; i < x->numel; ++i) {
      const Shape place(i / 60, i / 20 % 3, i / 5 % 4, i % 5);
      Shape moved;
      for (int d = 0; d < 4; ++d)
        if (d != axis) moved.push_back(place[d]);
      moved.push_back(place[axis]);
      EXPECT_EQ(at(*rows, moved), i);
      EXPECT_EQ(at(*back, place), i);
    }
  }
}

TEST(AxisRows, WhatLiesSoAlreadyIsNotCopied) {
  const TensorRef x = counted({3, 4});
  EXPECT_EQ(rows_along(*x, 1)->data, x->data);
  EXPECT_NE(rows_along(*x, 0)->data, x->data);
  EXPECT_EQ(axis_back(*x, 1, 2).get(), x.get());
  const TensorRef scalar = counted({});
  EXPECT_EQ(rows_along(*scalar, 0)->shape, Shape(1));
  EXPECT_EQ(axis_back(*rows_along(*scalar, 0), 0, 0)->shape, Shape());
  EXPECT_EQ(extent_along(*scalar, 0), 1);
}

TEST(AxisRows, ReducedRowsLoseTheAxisOrKeepItsPlace) {
  const TensorRef rows = counted({2, 4, 1});  // of (2, 3, 4) along axis 1
  EXPECT_EQ(axis_reduced(*rows, 1, 3, false)->shape, Shape(2, 4));
  EXPECT_EQ(axis_reduced(*rows, 1, 3, true)->shape, Shape(2, 1, 4));
  EXPECT_EQ(axis_reduced(*rows, 1, 3, true)->data, rows->data);
  EXPECT_EQ(axis_reduced(*counted({1}), 0, 0, true)->shape, Shape());
}

TEST(AxisRows, AxesCountFromEitherEnd) {
  const TensorRef x = counted({2, 3}), scalar = counted({});
  EXPECT_EQ(checked_axis("f", *x, -2), 0);
  EXPECT_EQ(checked_axis("f", *x, 1), 1);
  EXPECT_EQ(checked_axis("f", *scalar, -1), 0);
  EXPECT_THROW(checked_axis("f", *x, 2), IndexError);
  EXPECT_THROW(checked_axis("f", *x, -3), IndexError);
  EXPECT_THROW(checked_axis("f", *scalar, 1), IndexError);
}

}  // namespace
}  // namespace sinter::jit

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include <sinter/runtime/error.hpp>
#include <sinter/runtime/tensor_impl.hpp>

#include "gpus.hpp"

namespace {

using namespace sinter::runtime;
using sinter::DType;
using sinter::Shape;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(TensorImpl, EmptyIsContiguous) {
  for (const Shape& s : {Shape{}, Shape{0}, Shape{5}, Shape{2, 3, 4}, Shape{2, 0, 4}, Shape{1, 1, 1, 1, 1, 1, 1, 1}}) {
    const TensorRef t = empty(s, DType::Float64, sinter::try_gpu());
    EXPECT_EQ(t->shape, s);
    EXPECT_EQ(t->strides, contiguous_strides(s));
    EXPECT_EQ(t->numel, s.numel());
    EXPECT_EQ(t->buffer->bytes(), static_cast<std::size_t>(8 * s.numel()));
    EXPECT_EQ(t->data, t->buffer->data());
    EXPECT_TRUE(t->contiguous);
    EXPECT_EQ(t->device, sinter::try_gpu());
  }
}

TEST(TensorImpl, EmptyRefusesBadShapesBeforeItTakesMemory) {
  EXPECT_THAT([] { empty(Shape{2, -1}, DType::Bool, sinter::cpu); },
              ThrowsMessage<sinter::ShapeError>(HasSubstr("(2, -1)")));
  EXPECT_THROW(empty(Shape{std::int64_t(1) << 60}, DType::Float64, sinter::cpu), sinter::ShapeError);
  EXPECT_THROW(empty(Shape{std::int64_t(1) << 58}, DType::Float64, sinter::cpu), sinter::OutOfMemory);
  EXPECT_THROW(empty(Shape{2}, DType::Float32, sinter::Device(200)), sinter::DeviceError);
}

TEST(TensorImpl, ViewsShareMemory) {
  const TensorRef t = empty(Shape{4, 6}, DType::Float32, sinter::cpu);
  const TensorRef v = view(*t, Shape{2, 3}, Shape{12, 2}, 7);
  EXPECT_EQ(v->buffer, t->buffer);
  EXPECT_EQ(v->data, t->data + 28);
  EXPECT_EQ(v->numel, 6);
  EXPECT_EQ(v->dtype, DType::Float32);
  EXPECT_FALSE(v->contiguous);
  const TensorRef w = view(*v, Shape{3}, Shape{1}, -7);  // a view of a view counts from the view
  EXPECT_EQ(w->data, t->data);
  EXPECT_TRUE(w->contiguous);
}

TEST(TensorImpl, ContiguousIgnoresStridesOfSingleExtents) {
  const TensorRef t = empty(Shape{12}, DType::Int64, sinter::cpu);
  EXPECT_TRUE(view(*t, Shape{1, 4, 1, 3}, Shape{99, 3, -7, 1})->contiguous);
  EXPECT_TRUE(view(*t, Shape{0, 4}, Shape{0, 0})->contiguous);
  EXPECT_FALSE(view(*t, Shape{3, 4}, Shape{1, 3})->contiguous);
  EXPECT_FALSE(view(*t, Shape{4, 3}, Shape{0, 1})->contiguous);
  EXPECT_FALSE(view(*t, Shape{4}, Shape{-1}, 3)->contiguous);
}

TEST(TensorImpl, ViewsCannotLeaveTheirMemory) {
  const TensorRef t = empty(Shape{10}, DType::Float32, sinter::cpu);
  EXPECT_NO_THROW(view(*t, Shape{10}, Shape{-1}, 9));
  EXPECT_NO_THROW(view(*t, Shape{0, 1000}, Shape{1, 1}, 50));
  EXPECT_NO_THROW(view(*t, Shape{1000}, Shape{0}, 9));
  EXPECT_THAT([&] { view(*t, Shape{11}, Shape{1}); },
              ThrowsMessage<sinter::IndexError>(AllOf(HasSubstr("(11,)"), HasSubstr("float32 (10,) on cpu"))));
  EXPECT_THROW(view(*t, Shape{10}, Shape{1}, 1), sinter::IndexError);
  EXPECT_THROW(view(*t, Shape{1}, Shape{1}, -1), sinter::IndexError);
  EXPECT_THROW(view(*t, Shape{10}, Shape{-1}, 8), sinter::IndexError);
  EXPECT_THROW(view(*t, Shape{-1}, Shape{1}), sinter::ShapeError);
}

TEST(TensorImpl, ByteRangeHoldsEveryElement) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const TensorRef t = empty(Shape{4096}, DType::Int32, sinter::cpu);
  int taken = 0;
  for (int i = 0; i < 3000; ++i) {
    Shape shape, strides;
    for (unsigned axis = random() % 5; axis > 0; --axis) {
      shape.push_back(random() % 6);
      strides.push_back(static_cast<int>(random() % 41) - 20);
    }
    std::vector<std::int64_t> offsets{0};
    for (int axis = 0; axis < shape.ndim(); ++axis) {
      std::vector<std::int64_t> next;
      for (const std::int64_t o : offsets)
        for (std::int64_t k = 0; k < shape[axis]; ++k) next.push_back(o + k * strides[axis]);
      offsets = next;
    }
    const TensorRef v = view(*t, shape, strides, 2048);
    const auto [first, second] = byte_range(*v);
    if (offsets.empty()) {
      ASSERT_EQ(first, second);
      continue;
    }
    ASSERT_EQ(first, v->data + 4 * *std::ranges::min_element(offsets));
    ASSERT_EQ(second, v->data + 4 * (*std::ranges::max_element(offsets) + 1));
    // Contiguous means that the elements in order are 0, 1, 2, ...
    bool in_order = true;
    for (std::size_t k = 0; k < offsets.size(); ++k) in_order &= offsets[k] == static_cast<std::int64_t>(k);
    ASSERT_EQ(v->contiguous, in_order) << to_string(shape) << to_string(strides);
    ++taken;
  }
  EXPECT_GT(taken, 500);
}

TEST(TensorImpl, OverMemoryCopiesNothing) {
  const auto memory = std::make_shared<std::vector<double>>(6, 1.5);
  std::byte* const data = reinterpret_cast<std::byte*>(memory->data());
  const TensorRef t = wrap_memory(Shape{2, 3}, DType::Float64, data, memory);
  EXPECT_EQ(t->data, data);
  EXPECT_EQ(t->buffer->bytes(), 48u);
  EXPECT_EQ(t->shape, (Shape{2, 3}));
  EXPECT_EQ(t->strides, (Shape{3, 1}));
  EXPECT_TRUE(t->contiguous);
  EXPECT_EQ(t->device, sinter::cpu);
  EXPECT_EQ(memory.use_count(), 2);
  EXPECT_THROW(view(*t, Shape{7}, Shape{1}), sinter::IndexError);
  EXPECT_EQ(wrap_memory(Shape{0}, DType::Float32, nullptr, nullptr)->numel, 0);
}

TEST(TensorImpl, OverMemoryWantsAligned) {
  alignas(16) std::byte memory[64];
  for (const auto& [dtype, alignment] : {std::pair(DType::Bool, 1), std::pair(DType::BFloat16, 2),
                                         std::pair(DType::Complex64, 8), std::pair(DType::Complex128, 16)})
    for (int offset = 0; offset < 16; ++offset) {
      EXPECT_EQ(is_aligned(memory + offset, dtype), offset % alignment == 0);
      if (offset % alignment == 0)
        EXPECT_NO_THROW(wrap_memory(Shape{2}, dtype, memory + offset, nullptr));
      else
        EXPECT_THROW(wrap_memory(Shape{2}, dtype, memory + offset, nullptr), sinter::Error);
    }
  EXPECT_THAT([&] { wrap_memory(Shape{2}, DType::Float64, memory + 1, nullptr); },
              ThrowsMessage<sinter::Error>(AllOf(HasSubstr("(2,)"), HasSubstr("float64"), HasSubstr("8 bytes"))));
  EXPECT_THROW(wrap_memory(Shape{2}, DType::Float64, nullptr, nullptr), sinter::Error);
  EXPECT_THROW(wrap_memory(Shape{-2}, DType::Float64, memory, nullptr), sinter::ShapeError);
}

TEST(TensorImpl, IndexTensorsHaveNoMemory) {
  const TensorRef t = iota_tensor(Shape{3, 4}, sinter::try_gpu());
  EXPECT_EQ(t->dtype, DType::Int64);
  EXPECT_EQ(t->data, nullptr);
  EXPECT_FALSE(t->buffer);
  EXPECT_TRUE(t->contiguous);
  EXPECT_EQ(byte_range(*t).first, byte_range(*t).second);
  const TensorRef column = view(*view(*t, Shape{3}, Shape{4}, 1), Shape{2}, Shape{4}, 4);
  EXPECT_EQ(column->first, 5);
  EXPECT_EQ(column->data, nullptr);
  EXPECT_THROW(iota_tensor(Shape{-2}, sinter::cpu), sinter::ShapeError);
}

TEST(TensorImpl, Describe) {
  EXPECT_EQ(describe(*empty(Shape{2, 3}, DType::Bool, sinter::cpu)), "bool (2, 3) on cpu");
  EXPECT_EQ(describe(*iota_tensor(Shape{}, sinter::cuda<3>)), "int64 () on cuda:3");
}

}  // namespace

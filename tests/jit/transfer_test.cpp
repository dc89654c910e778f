// copy(), to(), contiguous(): between dtypes, layouts and devices.
#include <gtest/gtest.h>

#include <sinter/jit/evaluate.hpp>
#include "device_arrays.hpp"

namespace sinter::testing {
namespace {

std::vector<Device> all_devices() {
  std::vector<Device> devices = test_devices();
  if (devices.size() > 1 && device_count() > 1) devices.push_back(Device(1));
  return devices;
}

/// Elements of `from` broadcast to `shape` in another dtype.
std::vector<std::uint64_t> converted(const TensorImpl& from, const Shape& shape, DType to) {
  std::vector<std::uint64_t> values = values_over(from, shape);
  for (std::uint64_t& v : values) v = converted_bits(v, from.dtype, to);
  return values;
}

void expect_values(const TensorImpl& t, const std::vector<std::uint64_t>& expected) {
  const auto got = values_of(t);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_TRUE(same_value(t.dtype, expected[i], got[i])) << i;
}

TEST(Transfer, CopiesAnyArrayToAnyOther) {
  const std::vector<Device> devices = all_devices();
  for (unsigned seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const auto any = [&](auto count) { return random() % static_cast<std::uint64_t>(count); };
    const Shape shape = random_shape(random, 1000);
    const TensorRef from = random_array(static_cast<DType>(any(real_dtype_count)), broadcastable(shape, random),
                                        devices[any(devices.size())], Layout::Any, random),
                    to = random_array(static_cast<DType>(any(real_dtype_count)), shape, devices[any(devices.size())],
                                      Layout::Any, random);
    const auto expected = converted(*from, shape, to->dtype);
    const std::uint64_t version = to->buffer->version();
    jit::copy(*to, *from);
    expect_values(*to, expected);
    if (to->numel > 0) {
      EXPECT_GT(to->buffer->version(), version);
    }
    if (HasFatalFailure()) return;
  }
}

TEST(Transfer, ToConvertsAndMoves) {
  const std::vector<Device> devices = all_devices();
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const auto any = [&](auto count) { return random() % static_cast<std::uint64_t>(count); };
    const TensorRef from = random_array(static_cast<DType>(any(real_dtype_count)), random_shape(random, 1000),
                                        devices[any(devices.size())], Layout::Any, random);
    const auto dtype = static_cast<DType>(any(real_dtype_count));
    const Device device = devices[any(devices.size())];
    const TensorRef moved = jit::to(*from, dtype, device);
    EXPECT_EQ(moved == from, dtype == from->dtype && device == from->device);
    EXPECT_EQ(moved->dtype, dtype);
    EXPECT_EQ(moved->device, device);
    EXPECT_TRUE(moved->contiguous || moved == from);
    expect_values(*moved, converted(*from, from->shape, dtype));
    const TensorRef straight = jit::contiguous(*from);
    EXPECT_EQ(straight == from, from->contiguous);
    EXPECT_TRUE(straight->contiguous);
    expect_values(*straight, values_of(*from));
    if (HasFatalFailure()) return;
  }
}

TEST(Transfer, CopyingToItselfDoesNothing) {
  for (const Device device : all_devices()) {
    const TensorRef x = device_array(DType::Int32, {4}, device, {1, 2, 3, 4});
    jit::copy(*x, *x);
    EXPECT_EQ(values_of(*x), (std::vector<std::uint64_t>{1, 2, 3, 4}));
    jit::copy(*x, *runtime::view(*x, {4}, {-1}, 3));
    EXPECT_EQ(values_of(*x), (std::vector<std::uint64_t>{4, 3, 2, 1}));
    const TensorRef head = runtime::view(*x, {3}, {1}), tail = runtime::view(*x, {3}, {1}, 1);
    jit::copy(*tail, *head);
    EXPECT_EQ(values_of(*x), (std::vector<std::uint64_t>{4, 4, 3, 2}));
  }
}

TEST(Transfer, IndexTensorsGetMemory) {
  for (const Device device : all_devices()) {
    const TensorRef index = runtime::iota_tensor({2, 3}, device);
    EXPECT_EQ(values_of(*jit::contiguous(*index)), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
    EXPECT_TRUE(jit::to(*index, DType::Int64, device)->buffer);
    const TensorRef floats = jit::to(*index, DType::Float32, Device());
    EXPECT_EQ(values_of(*floats)[5], to_bits(5.0f));
    const TensorRef column = runtime::view(*index, {2}, {3}, 2), backwards = runtime::view(*index, {3}, {-1}, 4);
    EXPECT_EQ(values_of(*jit::contiguous(*column)), (std::vector<std::uint64_t>{2, 5}));
    EXPECT_EQ(values_of(*jit::to(*backwards, DType::Int32, device)), (std::vector<std::uint64_t>{4, 3, 2}));
    EXPECT_EQ(values_of(*jit::to(*runtime::view(*index, {2, 2}, {0, 1}, 3), DType::Int64, device)),
              (std::vector<std::uint64_t>{3, 4, 3, 4}));
  }
}

TEST(Transfer, RefusesWhatDoesNotFit) {
  const TensorRef x = device_array(DType::Int32, {4}, Device(), {1, 2, 3, 4}),
                  y = runtime::empty({3}, DType::Int32, Device());
  EXPECT_THROW(jit::copy(*y, *x), ShapeError);
  EXPECT_THROW(jit::copy(*runtime::view(*x, {2, 4}, {0, 1}), *x), Error);
}

}  // namespace
}  // namespace sinter::testing

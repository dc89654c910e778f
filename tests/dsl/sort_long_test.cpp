// Order along an axis, in rows longer than what one block of a GPU sorts.
#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "order_reference.hpp"

namespace sn = sinter;
using namespace sinter_tests;
using sn::AnyTensor;
using sn::DType;

namespace {

TEST(LongSort, EverySizeOfKeys) {
  std::mt19937 random(1);
  for (const DType dtype : {DType::UInt8, DType::Float16, DType::Float32, DType::Float64}) {
    expect_order_of(dtype, {2, 4500}, 1, 2000, random);  // more than are selected
    expect_order_of(dtype, {9, 2100}, 1, 2, random);
  }
}

TEST(LongSort, EveryLength) {
  std::mt19937 random(2);
  for (const std::int64_t n : {2049, 2050, 4095, 4096, 4097, 6143, 6145, 8191})
    expect_order_of(DType::Float32, {3, n}, -1, 1 + n / 5, random);
}

TEST(LongSort, FirstOfEveryNumber) {
  std::mt19937 random(3);
  for (const std::int64_t n : {100, 5000}) {
    const AnyTensor here = tensor_of(DType::Float32, {2, n}, random_numbers(DType::Float32, 2 * n, random));
    for (const sn::Device device : devices()) {
      const AnyTensor x = here.to(device);
      const AnyResult all = x.sort(-1, true);
      for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{63},
                                   std::int64_t{64}, std::int64_t{65}, n - 1, n}) {
        const AnyResult top = x.topk(k);
        EXPECT_EQ(top.values.shape(), sn::Shape(2, k));
        EXPECT_TRUE(sn::equal(top.indices, all.indices.slice(1, 0, k))) << n << " " << k << " " << device;
      }
    }
  }
}

TEST(LongSort, LongRows) {
  std::mt19937 random(5);
  for (const std::int64_t n : {65'536, 65'537, 140'003})
    for (const DType dtype : {DType::Float32, DType::Int64, DType::Int8}) {
      const AnyTensor x = tensor_of(dtype, {2, n}, random_numbers(dtype, 2 * n, random));
      expect_order(x, numbers_of(x), 1, n / 100 + 1);
    }
  expect_order_of(DType::Float32, {1, 70'003}, 1, 60, random);
}

}  // namespace

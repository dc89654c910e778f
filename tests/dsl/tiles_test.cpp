// Operands that lie across each other, such as a matrix and a transposed one: kernels with tiles against the CPU.
#include "devices.hpp"

#include <gmock/gmock.h>

namespace sn = sinter;
using testing::HasSubstr;
using testing::Not;

namespace {

template <class T>
sn::Tensor<T> counted(const sn::Shape& shape, const sn::Device& d) {
  return (sn::arange(shape.numel(), d) % 251).reshape(shape).template to<T>();
}

/// Of operands in `shape`, the second of them with two dims exchanged.
template <class T>
void expect_same_as_on_the_cpu(const sn::Shape& shape, int a, int b) {
  const auto of = [&](const sn::Device& d) {
    sn::Shape exchanged = shape;
    std::swap(exchanged[a], exchanged[b]);
    const auto x = counted<T>(shape, d), y = counted<T>(exchanged, d);
    const auto row = counted<T>({shape[shape.ndim() - 1]}, d), column = counted<T>({shape[shape.ndim() - 2], 1}, d);
    const sn::Tensor sum = x * 2 + y.transpose(a, b);
    const sn::Tensor copy = y.transpose(a, b) + row;
    const sn::Tensor both = sn::where(x > column, y.transpose(a, b), x);
    return std::tuple(sum, copy, both);
  };
  const auto cpu = of(sn::cpu), gpu = of(sn::Device(0));
  EXPECT_TRUE(sn::equal(std::get<0>(gpu).cpu(), std::get<0>(cpu)));
  EXPECT_TRUE(sn::equal(std::get<1>(gpu).cpu(), std::get<1>(cpu)));
  EXPECT_TRUE(sn::equal(std::get<2>(gpu).cpu(), std::get<2>(cpu)));
}

TEST(Tiles, OfEveryWidthOfElements) {
  if (sn::device_count() == 0) GTEST_SKIP() << "no GPU";
  expect_same_as_on_the_cpu<float>({512, 512}, 0, 1);
  expect_same_as_on_the_cpu<double>({512, 512}, 0, 1);
  expect_same_as_on_the_cpu<std::int64_t>({512, 512}, 0, 1);
  expect_same_as_on_the_cpu<std::int32_t>({1024, 256}, 0, 1);
  expect_same_as_on_the_cpu<sn::half>({512, 512}, 0, 1);
  expect_same_as_on_the_cpu<std::uint8_t>({512, 1024}, 0, 1);
}

TEST(Tiles, AlongAnyDim) {
  if (sn::device_count() == 0) GTEST_SKIP() << "no GPU";
  expect_same_as_on_the_cpu<float>({3, 256, 512}, 1, 2);
  expect_same_as_on_the_cpu<float>({512, 3, 256}, 0, 2);
  expect_same_as_on_the_cpu<float>({32, 5, 64, 32}, 0, 3);
}

// Neither extent is a multiple of a warp's tiles, or the vectors are not aligned.
TEST(Tiles, NotWhereTheyDoNotFit) {
  if (sn::device_count() == 0) GTEST_SKIP() << "no GPU";
  expect_same_as_on_the_cpu<float>({520, 520}, 0, 1);
  expect_same_as_on_the_cpu<float>({513, 1024}, 0, 1);
  expect_same_as_on_the_cpu<float>({1000, 999}, 0, 1);
}

TEST(Tiles, InPlaceAndPositions) {
  if (sn::device_count() == 0) GTEST_SKIP() << "no GPU";
  const auto of = [](const sn::Device& d) {
    auto x = counted<float>({512, 512}, d);
    x += counted<float>({512, 512}, d).t();
    x += sn::arange(512 * 512, d).reshape({512, 512}).t() % 7;
    return x.cpu();
  };
  EXPECT_TRUE(sn::equal(of(sn::Device(0)), of(sn::cpu)));
}

TEST(Tiles, AreInTheText) {
  const auto x = counted<float>({512, 512}, sn::cpu);
  EXPECT_THAT(sn::cuda_source(x + x.t()), HasSubstr("x1_tile"));
  EXPECT_THAT(sn::cuda_source(x + x), Not(HasSubstr("_tile")));
  EXPECT_THAT(sn::cuda_source(x.slice(0, 0, 17) + x.slice(1, 0, 17).t()), Not(HasSubstr("_tile")));
}

}  // namespace

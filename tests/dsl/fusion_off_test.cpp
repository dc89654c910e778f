// Expressions operation by operation (SINTER_FUSION=off): the same shapes as fused ones.
#include "devices.hpp"

#include <complex>
#include <cstdlib>

#include <gtest/gtest.h>

#include "setup.hpp"

namespace {

namespace sn = sinter;
using c64 = std::complex<float>;

const sinter::test::Setup off([] { setenv("SINTER_FUSION", "off", 1); });

/// The imaginary part of a real number is 0, whose shape nothing but the operand gives.
TEST(FusionOff, PartsOfComplexNumbersKeepTheirShape) {
  const auto x = sn::ones({3}), y = sn::ones({2, 3});
  const auto none = imag(x.to<c64>());
  const auto [parts, doubled] = sn::evaluate(none, y * 2);
  EXPECT_EQ(sn::Tensor<float>(parts).to_vector(), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(sn::Tensor<float>(doubled).to_vector(), std::vector<float>(6, 2));
  const sn::Tensor<float> sum = sn::sum(none, 0), cosines = sn::sum(cos(none), 0), bare = none;
  EXPECT_EQ(sum.to_vector(), (std::vector<float>{0}));
  EXPECT_EQ(cosines.to_vector(), (std::vector<float>{3}));
  EXPECT_EQ(bare.to_vector(), (std::vector<float>{0, 0, 0}));
  const sn::Tensor<float> product = sn::matmul(cos(imag(y.to<c64>())), y.t());
  EXPECT_EQ(product.to_vector(), (std::vector<float>{3, 3, 3, 3}));
}

TEST(FusionOff, NothingRunsForOutputsWithoutElements) {
  const auto none = sn::empty<int>({0, 4}), i = sn::ones<int>({4}), j = sn::zeros<int>({4});
  const std::uint64_t before = sn::jit_stats().launches;
  const sn::Tensor<int> sum = none + i % j;  // divides by zero, for no element
  EXPECT_EQ(sum.shape(), (sn::Shape{0, 4}));
  EXPECT_EQ(sn::jit_stats().launches, before);
}

}  // namespace

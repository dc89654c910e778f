// Expressions and tensors at the limits: thousands of nodes, a thousand operands, eight dimensions.
#include "devices.hpp"

#include <gtest/gtest.h>

namespace sinter_tests {
namespace {

namespace sn = sinter;

TEST(Size, TenThousandNodes) {
  for (const sn::Device device : devices()) {
    const sn::Tensor<float> x = sn::full({7}, 1.0f, device);
    sn::Lazy<float> e = x;
    for (int i = 0; i < 5000; ++i) e = (e + x) * (i % 2 ? 0.5f : 1.0f);  // 2, 1.5, 2.5, 1.75, ... tends to 4 / 3 * 2
    double expected = 1;
    for (int i = 0; i < 5000; ++i) expected = (expected + 1) * (i % 2 ? 0.5 : 1);
    EXPECT_NEAR(sn::Tensor<float>(e)[3].item(), expected, 1e-5) << sn::to_string(device);
  }
}

TEST(Size, AThousandOperands) {
  for (const sn::Device device : devices()) {
    std::vector<sn::Tensor<std::int64_t>> operands;
    for (int i = 0; i < 1000; ++i) operands.push_back(sn::full({5}, std::int64_t{i}, device));
    sn::Lazy<std::int64_t> sum = operands[0];
    for (std::size_t i = 1; i < operands.size(); ++i) sum = sum + operands[i];
    EXPECT_EQ(sn::Tensor<std::int64_t>(sum)[4].item(), 999 * 500) << sn::to_string(device);
  }
}

TEST(Size, EightDimensions) {
  for (const sn::Device device : devices()) {
    const sn::Tensor<std::int64_t> x =
        sn::arange(1 * 2 * 3 * 2 * 1 * 3 * 2 * 2, device).reshape({1, 2, 3, 2, 1, 3, 2, 2});
    const sn::Tensor<std::int64_t> row = sn::arange(2, device).reshape({2, 1, 1, 1, 1, 1, 1}) * 1000;
    const auto turned = x.transpose(1, 7).transpose(2, 5).transpose(3, 6);  // extents are the same: 2, 3 and 2
    const sn::Tensor<std::int64_t> r = turned * 2 + x + row;
    ASSERT_EQ(r.shape(), x.shape());
    const auto got = r.cpu().to_vector(), at = x.cpu().to_vector();
    std::size_t k = 0;
    std::int64_t i[7];
    for (i[0] = 0; i[0] < 2; ++i[0])
      for (i[1] = 0; i[1] < 3; ++i[1])
        for (i[2] = 0; i[2] < 2; ++i[2])
          for (i[4] = 0; i[4] < 3; ++i[4])
            for (i[5] = 0; i[5] < 2; ++i[5])
              for (i[6] = 0; i[6] < 2; ++i[6], ++k) {
                const std::int64_t other = ((((i[6] * 3 + i[4]) * 2 + i[5]) * 3 + i[1]) * 2 + i[2]) * 2 + i[0];
                ASSERT_EQ(got[k], other * 2 + at[k] + i[0] * 1000) << k << " on " << sn::to_string(device);
              }
  }
}

TEST(Size, NineDimensionsAreRefused) {
  const sn::Tensor<float> x = sn::ones({1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_NE(message_of<sn::ShapeError>([&] { (void)x.unsqueeze(0); }), "");
}

}  // namespace
}  // namespace sinter_tests

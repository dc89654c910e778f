#include <gmock/gmock.h>

#include "nets.hpp"

namespace sn = sinter;
namespace nn = sinter::nn;
using namespace sinter_tests;
using testing::HasSubstr;

namespace {

/// Rows of `width` elements, less their mean if `centred`, divided by their standard deviation; times weight, plus
/// bias.
Doubles normalized(const Doubles& x, std::size_t width, double eps, bool centred, const Doubles& weight,
                   const Doubles& bias) {
  Doubles y;
  for (std::size_t row = 0; row < x.size() / width; ++row) {
    double mean = 0, squares = 0;
    for (std::size_t i = 0; centred && i < width; ++i) mean += x[row * width + i] / static_cast<double>(width);
    for (std::size_t i = 0; i < width; ++i) squares += std::pow(x[row * width + i] - mean, 2);
    for (std::size_t i = 0; i < width; ++i)
      y.push_back((x[row * width + i] - mean) / std::sqrt(squares / static_cast<double>(width) + eps) * weight[i] +
                  bias[i]);
  }
  return y;
}

class Norm : public testing::TestWithParam<sn::Device> {
 protected:
  sn::Device d = GetParam();
  sn::Tensor<float> x = numbers({3, 2, 10}, d);
};
INSTANTIATE_TEST_SUITE_P(Devices, Norm, testing::ValuesIn(devices()), name_of_device);

TEST_P(Norm, Layer) {
  nn::LayerNorm layer({10}, {.device = d});
  expect_near(layer(x), {3, 2, 10}, normalized(doubles(x), 10, 1e-5, true, Doubles(10, 1), Doubles(10, 0)));
  layer.weight.copy_(numbers({10}, d, 2));
  layer.bias.copy_(numbers({10}, d, 3));
  expect_near(layer(x + 0), {3, 2, 10},
              normalized(doubles(x), 10, 1e-5, true, doubles(layer.weight), doubles(layer.bias)));
}

TEST_P(Norm, LayerOverSeveralAxes) {
  const nn::LayerNorm layer({2, 10}, {.eps = 0.1, .elementwise_affine = false, .device = d});
  expect_near(layer(x), {3, 2, 10}, normalized(doubles(x), 20, 0.1, true, Doubles(20, 1), Doubles(20, 0)));
  EXPECT_TRUE(layer.parameters().empty());
}

TEST_P(Norm, Rms) {
  nn::RMSNorm layer(10, {.device = d});
  layer.weight.copy_(numbers({10}, d, 2));
  expect_near(layer(x), {3, 2, 10}, normalized(doubles(x), 10, 0x1p-23, false, doubles(layer.weight), Doubles(10, 0)));
  const nn::RMSNorm plain(10, {.eps = 0.5, .elementwise_affine = false, .device = d});
  expect_near(plain(x), {3, 2, 10}, normalized(doubles(x), 10, 0.5, false, Doubles(10, 1), Doubles(10, 0)));
  EXPECT_EQ(sn::Tensor(layer.to("cpu")(x.cpu())).device(), sn::Device());
}

TEST(NormShapes, AreWrittenAsInPyTorch) {
  nn::LayerNorm one({10}), two({2, 3}), number(4);
  nn::RMSNorm root({10});
  EXPECT_EQ(one.normalized_shape(), sn::Shape(10));
  EXPECT_EQ(two.normalized_shape(), (sn::Shape{2, 3}));
  EXPECT_EQ(number.normalized_shape(), sn::Shape(4));
  EXPECT_EQ(root.normalized_shape(), sn::Shape(10));
}

TEST(NormAlone, BeginsAsOneAndZero) {
  const nn::LayerNorm layer({2, 3});
  EXPECT_TRUE(sn::equal(layer.weight, sn::ones({2, 3})) && sn::equal(layer.bias, sn::zeros({2, 3})));
  EXPECT_TRUE(sn::equal(nn::RMSNorm(4).weight, sn::ones({4})));
  EXPECT_EQ(nn::LayerNorm(4, {.bias = false}).named_parameters().size(), 1u);
  EXPECT_EQ(layer.num_parameters(), 12);
}

TEST(NormAlone, Prints) {
  EXPECT_EQ(printed(nn::LayerNorm(10)), "LayerNorm((10,), eps=1e-05, elementwise_affine=True)");
  EXPECT_EQ(printed(nn::LayerNorm({2, 10}, {.eps = 1e-3, .elementwise_affine = false})),
            "LayerNorm((2, 10), eps=0.001, elementwise_affine=False)");
  EXPECT_EQ(printed(nn::RMSNorm(10)), "RMSNorm((10,), eps=None, elementwise_affine=True)");
  EXPECT_EQ(printed(nn::RMSNorm(10, {.eps = 1})), "RMSNorm((10,), eps=1.0, elementwise_affine=True)");
}

TEST(NormAlone, PrintsWhereNothingIsLeft) {
  nn::LayerNorm layer(10);
  nn::RMSNorm root(10);
  const auto taken = std::move(layer);
  const auto taken_root = std::move(root);
  EXPECT_EQ(printed(layer), "LayerNorm((10,), eps=1e-05, elementwise_affine=False)");
  EXPECT_EQ(printed(root), "RMSNorm((10,), eps=None, elementwise_affine=False)");
  EXPECT_TRUE(layer.state_dict().empty() && root.parameters().empty());
  layer = taken;
  layer.bias = {};
  EXPECT_EQ(printed(layer), "LayerNorm((10,), eps=1e-05, elementwise_affine=True)");
  EXPECT_EQ(layer.named_parameters().size(), 1u);
}

TEST(NormAlone, TellsWhatIsWrong) {
  const nn::LayerNorm layer(3);
  EXPECT_THAT(
      message_of<sn::ShapeError>([&] { sn::Tensor y = layer(sn::ones({3, 4})); }),
      HasSubstr("LayerNorm((3,), eps=1e-05, elementwise_affine=True): the last axes of the input must be (3,)"));
  EXPECT_THAT(
      message_of<sn::DeviceError>([&] { sn::Tensor y = nn::RMSNorm(3)(sn::ones({3}, sn::cuda<0>)); }),
      HasSubstr("in RMSNorm((3,), eps=None, elementwise_affine=True), where\n    input: float32 (3,) on cuda:0"));
  EXPECT_THAT(message_of<sn::DTypeError>([&] { sn::Tensor y = layer(sn::AnyTensor(sn::ones<double>({3}))); }),
              HasSubstr("must have the dtype of the weight, float32"));
  EXPECT_THROW((void)nn::LayerNorm(sn::Shape()), sn::ShapeError);
}

}  // namespace

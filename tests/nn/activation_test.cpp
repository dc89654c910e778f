#include <gmock/gmock.h>

#include "nets.hpp"

namespace sn = sinter;
namespace nn = sinter::nn;
using namespace sinter_tests;

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double gelu(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }
double gelu_tanh(double x) { return x * sigmoid(2 * std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)); }

class Activation : public testing::TestWithParam<sn::Device> {
 protected:
  sn::Device d = GetParam();
  sn::Tensor<float> x = numbers({5, 7}, d);

  template <class M, class F>
  void expect(const M& module, F reference, const char* text) {
    expect_near(module(x), x.shape(), each(doubles(x), reference));
    expect_near(module(x * 0.5), x.shape(), each(doubles(x), [&](double v) { return reference(v / 2); }));
    EXPECT_EQ(printed(module), text);
    EXPECT_TRUE(module.parameters().empty());
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Activation, testing::ValuesIn(devices()), name_of_device);

TEST_P(Activation, ElementByElement) {
  expect(nn::ReLU(), relu, "ReLU()");
  expect(nn::GELU(), gelu, "GELU(approximate='none')");
  expect(nn::GELUTanh(), gelu_tanh, "GELU(approximate='tanh')");
  expect(nn::SiLU(), [](double v) { return v * sigmoid(v); }, "SiLU()");
  expect(nn::Tanh(), [](double v) { return std::tanh(v); }, "Tanh()");
  expect(nn::Sigmoid(), sigmoid, "Sigmoid()");
}

TEST_P(Activation, SoftmaxAlongAnAxis) {
  const Doubles in = doubles(x);
  Doubles across(in.size()), along(in.size());
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 7; ++j) {
      double row = 0, column = 0;
      for (std::size_t k = 0; k < 7; ++k) row += std::exp(in[i * 7 + k]);
      for (std::size_t k = 0; k < 5; ++k) column += std::exp(in[k * 7 + j]);
      along[i * 7 + j] = std::exp(in[i * 7 + j]) / row;
      across[i * 7 + j] = std::exp(in[i * 7 + j]) / column;
    }
  expect_near(nn::Softmax(-1)(x), {5, 7}, along);
  expect_near(nn::Softmax(0)(x), {5, 7}, across);
  EXPECT_EQ(printed(nn::Softmax(-1)), "Softmax(dim=-1)");
  EXPECT_THROW((void)nn::Softmax(2)(x), sn::IndexError);
}

}  // namespace

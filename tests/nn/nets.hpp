// Inputs, and layers' results in double precision, computed by loops over elements.
#pragma once
#include <cmath>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>
#include <sinter/nn.hpp>
#include "../dsl/devices.hpp"

namespace sinter_tests {

/// Numbers in [-2, 2] without a pattern, the same each time.
inline sinter::Tensor<float> numbers(const sinter::Shape& shape, sinter::Device device = {}, int salt = 1) {
  std::vector<float> values(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(2 * std::sin(12.9898 * static_cast<double>(i) + 78.233 * salt));
  return sinter::tensor(values).reshape(shape).to(device);
}

using Doubles = std::vector<double>;

template <class E>
Doubles doubles(const E& e) {
  const std::vector<float> values = sinter::Tensor<float>(e).to(sinter::Device()).to_vector();
  return {values.begin(), values.end()};
}

/// Each row of x times each row of the weight, plus the bias.
template <class L>
Doubles linear(const Doubles& x, const L& layer) {
  const auto in = static_cast<std::size_t>(layer.in_features()), out = static_cast<std::size_t>(layer.out_features());
  const Doubles weight = doubles(layer.weight), bias = layer.has_bias() ? doubles(layer.bias) : Doubles();
  Doubles y;
  for (std::size_t row = 0; row * in < x.size(); ++row)
    for (std::size_t j = 0; j < out; ++j) {
      double sum = layer.has_bias() ? bias[j] : 0;
      for (std::size_t i = 0; i < in; ++i) sum += x[row * in + i] * weight[j * in + i];
      y.push_back(sum);
    }
  return y;
}

template <class F>
Doubles each(Doubles x, F f) {
  for (double& value : x) value = f(value);
  return x;
}

inline double relu(double x) { return x > 0 ? x : 0; }

/// Whether an expression has this shape and these elements, up to a few roundings of float.
template <class E>
void expect_near(const E& e, const sinter::Shape& shape, const Doubles& wanted) {
  const sinter::Tensor<float> got(e);
  ASSERT_EQ(got.shape(), shape);
  const Doubles values = doubles(got);
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(values[i], wanted[i], 1e-5 * (1 + std::abs(wanted[i]))) << "element " << i;
}

inline std::string name_of_device(const testing::TestParamInfo<sinter::Device>& device) {
  return device.param.is_cuda() ? "cuda" + std::to_string(device.param.index()) : "cpu";
}

}  // namespace sinter_tests

#include <gmock/gmock.h>

#include "nets.hpp"

namespace sn = sinter;
namespace nn = sinter::nn;
namespace F = sinter::nn::functional;
using namespace sinter_tests;

namespace {

TEST(Functional, Linear) {
  for (const sn::Device d : devices()) {
    const nn::Linear layer(5, 4, {.device = d});
    const sn::Tensor x = numbers({3, 5}, d);
    expect_near(F::linear(x, layer.weight, layer.bias), {3, 4}, linear(doubles(x), layer));
    expect_near(F::linear(x[0], layer.weight) + layer.bias, {4}, linear(doubles(x[0]), layer));
  }
}

// The same operations under another name.
TEST(Functional, OtherNames) {
  const sn::Tensor x = numbers({3, 5});
  EXPECT_TRUE(sn::equal(F::gelu(x), nn::GELU()(x)));
  EXPECT_TRUE(sn::equal(F::softmax(x, 1), nn::Softmax(1)(x)));
  EXPECT_TRUE(sn::allclose(F::layer_norm(x, {5}), nn::LayerNorm(5)(x)));
  EXPECT_TRUE(sn::allclose(F::rms_norm(x, {5}), nn::RMSNorm(5)(x)));
}

}  // namespace

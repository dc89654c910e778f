#include <gmock/gmock.h>

#include "nets.hpp"

namespace sn = sinter;
namespace nn = sinter::nn;
using namespace sinter_tests;
using namespace sn::literals;

namespace {

class Dropout : public testing::TestWithParam<sn::Device> {
 protected:
  sn::Device d = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Devices, Dropout, testing::ValuesIn(devices()), name_of_device);

TEST_P(Dropout, DropsInTraining) {
  const nn::Dropout layer(0.25);
  sn::manual_seed(3);
  const sn::Tensor x = numbers({100, 100}, d), y = sn::Tensor(layer(x));
  const Doubles in = doubles(x), out = doubles(y);
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (out[i] == 0)
      ++dropped;
    else
      EXPECT_NEAR(out[i], in[i] / 0.75, 1e-6);
  }
  EXPECT_NEAR(static_cast<double>(dropped), 2500, 5 * std::sqrt(10000 * 0.25 * 0.75));
  EXPECT_FALSE(sn::equal(layer(x), y));
  sn::manual_seed(3);
  EXPECT_TRUE(sn::equal(layer(x), y));
}

TEST_P(Dropout, IsNothingInEvaluation) {
  nn::Dropout layer;
  const sn::Tensor x = numbers({50}, d);
  layer.eval();
  EXPECT_TRUE(sn::equal(layer(x), x));
  EXPECT_TRUE(sn::equal(layer(x * 2) + 1, x * 2 + 1));
  layer.train();
  EXPECT_FALSE(sn::equal(layer(x), x));
  EXPECT_TRUE(sn::equal(nn::Dropout(0)(x), x));
  const sn::Tensor special = sn::tensor({INFINITY, -INFINITY, 1e38f}).to(d);
  layer.eval();
  EXPECT_TRUE(sn::equal(layer(special), special));
  EXPECT_TRUE(sn::equal(nn::Dropout(1)(x), x * 0));
}

// No random number is drawn, and no separate kernel runs.
TEST_P(Dropout, CostsNothingInEvaluation) {
  nn::Dropout layer;
  layer.eval();
  const sn::Tensor x = numbers({50}, d);
  const auto before = sn::jit_stats().launches;
  const sn::Tensor y = sn::exp(layer(sn::relu(x)) + 1);
  EXPECT_EQ(sn::jit_stats().launches - before, 1u);
  sn::manual_seed(1);
  const sn::Tensor first = sn::rand({3});
  sn::manual_seed(1);
  EXPECT_TRUE(sn::equal(layer(x), x));
  EXPECT_TRUE(sn::equal(sn::rand({3}), first));
}

TEST(DropoutAlone, OfOtherDtypesAndLazyInputs) {
  const sn::Tensor x = numbers({200});
  const auto few = [](const auto& y) { return sn::mean(sn::cast<float>(y == 0)).item() < 0.5f; };
  const nn::Dropout layer(0.2);
  EXPECT_TRUE(few(layer(x.to<double>())) && few(layer(x.to<sn::bfloat16>())) && few(layer(sn::Lazy(x))));
  static_assert(std::is_same_v<sn::value_type_of<decltype(layer(x.to<sn::bfloat16>()))>, sn::bfloat16>);
  EXPECT_FALSE(sn::equal(layer(x), x));
}

TEST(DropoutAlone, OfNets) {
  nn::Sequential net(nn::Linear(3, 4), nn::Sequential(nn::Dropout(0.9)));
  EXPECT_TRUE(net.is_training() && net[1_c][0_c].is_training());
  net.eval();
  EXPECT_FALSE(net.is_training() || net[0_c].is_training() || net[1_c].is_training() || net[1_c][0_c].is_training());
  const sn::Tensor x = numbers({2, 3});
  EXPECT_TRUE(sn::equal(net(x), net[0_c](x)));
  EXPECT_TRUE(net.train()[1_c][0_c].is_training());
}

TEST(DropoutAlone, PrintsAndRefuses) {
  EXPECT_EQ(printed(nn::Dropout()), "Dropout(p=0.5, inplace=False)");
  EXPECT_EQ(printed(nn::Dropout(1)), "Dropout(p=1.0, inplace=False)");
  EXPECT_THROW(nn::Dropout(1.5), sn::Error);
}

}  // namespace

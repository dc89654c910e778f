#include <gmock/gmock.h>

#include "nets.hpp"

namespace sn = sinter;
namespace nn = sinter::nn;
using namespace sinter_tests;
using namespace sn::literals;

namespace {

std::vector<std::string> names_of(const nn::NamedTensors& tensors) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  return names;
}

class Sequential : public testing::TestWithParam<sn::Device> {
 protected:
  sn::Device d = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Devices, Sequential, testing::ValuesIn(devices()), name_of_device);

TEST_P(Sequential, OneAfterTheOther) {
  nn::Sequential net(nn::Linear(6, 5), nn::ReLU(), nn::Linear(5, 4), nn::Tanh(), nn::Linear(4, 3));
  net.to_(d);
  const sn::Tensor x = numbers({7, 6}, d);
  const Doubles first = each(linear(doubles(x), net[0_c]), relu);
  const Doubles second = each(linear(first, net[2_c]), [](double v) { return std::tanh(v); });
  expect_near(net(x), {7, 3}, linear(second, net[4_c]));
  const sn::Tensor row = x[0];
  EXPECT_TRUE(sn::allclose(net(row), sn::Tensor(net(x))[0]));
}

// Activations and the user's operations are part of the layers' kernels.
TEST_P(Sequential, ActivationsFuse) {
  const auto launches = [](const auto& net, const sn::Tensor<float>& x) {
    const auto before = sn::jit_stats().launches;
    const sn::Tensor y = net(x) * 2 + 1;
    return sn::jit_stats().launches - before;
  };
  nn::Sequential bare(nn::Linear(8, 8), nn::Linear(8, 8), nn::Linear(8, 8));
  nn::Sequential active(nn::Linear(8, 8), nn::GELU(), nn::Sigmoid(), nn::Linear(8, 8), nn::SiLU(), nn::Linear(8, 8),
                        nn::Tanh(), nn::ReLU());
  nn::Sequential quiet(nn::Linear(8, 8), nn::ReLU(), nn::Dropout(), nn::Linear(8, 8), nn::Dropout(), nn::Linear(8, 8));
  const sn::Tensor x = numbers({4, 8}, d);
  const auto least = launches(bare.to_(d), x);
  EXPECT_EQ(launches(active.to_(d), x), least);
  EXPECT_EQ(launches(quiet.to_(d).eval(), x), least);
}

TEST_P(Sequential, Nests) {
  nn::Sequential block(nn::Linear(3, 4), nn::ReLU());
  nn::Sequential net(nn::Sequential(nn::Linear(5, 3)), block, nn::Sequential(nn::Sequential(nn::Linear(4, 2))));
  net.to_(d);
  EXPECT_THAT(names_of(net.named_parameters()),
              testing::ElementsAre("0.0.weight", "0.0.bias", "1.0.weight", "1.0.bias", "2.0.0.weight", "2.0.0.bias"));
  const sn::Tensor x = numbers({6, 5}, d);
  const Doubles hidden = each(linear(linear(doubles(x), net[0_c][0_c]), net[1_c][0_c]), relu);
  expect_near(net(x), {6, 2}, linear(hidden, net[2_c][0_c][0_c]));
}

TEST(SequentialAlone, OneInAnotherIsNoCopy) {
  nn::Sequential inner(nn::Linear(3, 1));
  nn::Sequential outer(inner);
  auto copy = outer;
  static_assert(std::is_same_v<decltype(outer), nn::Sequential<nn::Sequential<nn::Linear>>>);
  static_assert(std::is_same_v<decltype(copy), decltype(outer)>);
  EXPECT_THAT(names_of(outer.named_parameters()), testing::ElementsAre("0.0.weight", "0.0.bias"));
  EXPECT_EQ(printed(outer),
            "Sequential(\n  (0): Sequential(\n    (0): Linear(in_features=3, out_features=1, bias=True)\n  )\n)");
  EXPECT_EQ(outer.size(), 1u);
}

TEST(SequentialAlone, PrintsAsPyTorch) {
  EXPECT_EQ(printed(nn::Sequential(nn::Linear(3, 1))),
            "Sequential(\n  (0): Linear(in_features=3, out_features=1, bias=True)\n)");
  EXPECT_EQ(printed(nn::Sequential(nn::Sequential(nn::Linear(20, 256, {.bias = false}), nn::ReLU()),
                                   nn::Sequential(nn::GELU(), nn::Softmax(-1)), nn::LayerNorm(10), nn::Dropout(0.25),
                                   nn::Embedding(10, 3), nn::Flatten(), nn::Sequential())),
            R"(Sequential(
  (0): Sequential(
    (0): Linear(in_features=20, out_features=256, bias=False)
    (1): ReLU()
  )
  (1): Sequential(
    (0): GELU(approximate='none')
    (1): Softmax(dim=-1)
  )
  (2): LayerNorm((10,), eps=1e-05, elementwise_affine=True)
  (3): Dropout(p=0.25, inplace=False)
  (4): Embedding(10, 3)
  (5): Flatten(start_dim=1, end_dim=-1)
  (6): Sequential()
))");
}

TEST(SequentialAlone, Empty) {
  const nn::Sequential<> nothing;
  const sn::Tensor x = numbers({3});
  EXPECT_TRUE(sn::equal(nothing(x), x));
  EXPECT_TRUE(sn::equal(nothing(x + 1), x + 1));
}

TEST(SequentialAlone, ATemporaryNetIsEnough) {
  sn::manual_seed(1);
  const auto e = nn::Sequential(nn::Linear(3, 4), nn::ReLU())(numbers({2, 3}));
  sn::manual_seed(1);
  const nn::Linear layer(3, 4);
  expect_near(e, {2, 4}, each(linear(doubles(numbers({2, 3})), layer), relu));
}

TEST(SequentialAlone, TypeCarriesTheDevice) {
  nn::Sequential net(nn::Linear(3, 4), nn::Sequential(nn::LayerNorm(4), nn::Dropout()), nn::Embedding(2, 2));
  net.eval();
  auto moved = net.to(sn::cuda<1>);
  using First = std::remove_cvref_t<decltype(moved[0_c])>;
  static_assert(std::is_same_v<First, nn::LinearOf<float, sn::Cuda<1>>>);
  static_assert(std::is_same_v<decltype(moved)::device_type, sn::Cuda<1>>);
  static_assert(std::is_same_v<decltype(moved.to("cpu")), decltype(net)>);
  EXPECT_EQ(moved[0_c].weight.device(), sn::Device(1));
  EXPECT_EQ(net[0_c].weight.device(), sn::Device());
  EXPECT_FALSE(moved.is_training() || moved[0_c].is_training() || moved[1_c][1_c].is_training());
  for (const sn::AnyTensor& p : moved.parameters()) EXPECT_EQ(p.device(), sn::Device(1));
  const auto back = moved.to(sn::cpu);
  static_assert(std::is_same_v<decltype(back)::device_type, sn::Cpu>);
  EXPECT_TRUE(sn::equal(back[0_c].weight, net[0_c].weight));
}

}  // namespace

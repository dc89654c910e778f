#include <gmock/gmock.h>

#include "nets.hpp"

namespace sn = sinter;
namespace nn = sinter::nn;
using namespace sinter_tests;
using testing::HasSubstr;

namespace {

class Embedding : public testing::TestWithParam<sn::Device> {
 protected:
  sn::Device d = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Devices, Embedding, testing::ValuesIn(devices()), name_of_device);

TEST_P(Embedding, RowsByTheirNumber) {
  const nn::Embedding layer(10, 3, d);
  const sn::Tensor ids = sn::tensor({{1, 9}, {0, 1}}).to(d);
  const Doubles weight = doubles(layer.weight);
  Doubles wanted;
  for (const std::size_t id : {1u, 9u, 0u, 1u})
    for (std::size_t i = 0; i < 3; ++i) wanted.push_back(weight[3 * id + i]);
  expect_near(layer(ids), {2, 2, 3}, wanted);
  expect_near(layer(ids.to<std::int32_t>()), {2, 2, 3}, wanted);
  expect_near(layer(ids * 1) * 2, {2, 2, 3}, each(wanted, [](double v) { return 2 * v; }));
}

TEST(EmbeddingAlone, BeginsNormal) {
  sn::manual_seed(11);
  const nn::Embedding layer(500, 40);
  double sum = 0, squares = 0;
  for (const double v : doubles(layer.weight)) sum += v, squares += v * v;
  EXPECT_NEAR(sum / 20000, 0, 5 / std::sqrt(20000.0));
  EXPECT_NEAR(squares / 20000, 1, 5 * std::sqrt(2 / 20000.0));
  sn::manual_seed(11);
  EXPECT_TRUE(sn::equal(nn::Embedding(500, 40).weight, layer.weight));
}

TEST(EmbeddingAlone, PrintsAndRefuses) {
  const nn::Embedding layer(10, 3);
  EXPECT_EQ(printed(layer), "Embedding(10, 3)");
  nn::Embedding other(10, 3);
  const auto taken = std::move(other);
  EXPECT_EQ(printed(other), "Embedding(empty)");
  EXPECT_THAT(message_of<sn::IndexError>([&] { sn::Tensor y = layer(sn::tensor({10})); }),
              HasSubstr("index 10 is out of range for 10 positions (of an embedding, take,"));
  EXPECT_THAT(
      message_of<sn::DeviceError>([&] { sn::Tensor y = layer(sn::tensor({1}).cuda()); }),
      HasSubstr("in Embedding(10, 3), where\n    input: int64 (1,) on cuda:0\n    weight: float32 (10, 3) on cpu"));
}

}  // namespace

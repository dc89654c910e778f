#include <gmock/gmock.h>

#include "nets.hpp"

namespace sn = sinter;
namespace nn = sinter::nn;
using namespace sinter_tests;
using testing::HasSubstr;

namespace {

class Linear : public testing::TestWithParam<sn::Device> {
 protected:
  sn::Device d = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Devices, Linear, testing::ValuesIn(devices()), name_of_device);

TEST_P(Linear, RowsOfAnyNumberOfAxes) {
  const nn::Linear layer(3, 2, {.device = d});
  for (const sn::Shape& shape : {sn::Shape(3), sn::Shape(2, 3), sn::Shape(4, 5, 3), sn::Shape(0, 3)}) {
    const sn::Tensor x = numbers(shape, d);
    sn::Shape out = shape;
    out[-1] = 2;
    expect_near(layer(x), out, linear(doubles(x), layer));
    expect_near(layer(x * 2 - 1), out, linear(each(doubles(x), [](double v) { return 2 * v - 1; }), layer));
    EXPECT_EQ(sn::Tensor(layer(x)).device(), d);
  }
}

TEST_P(Linear, WithoutBias) {
  const nn::Linear layer(5, 4, {.bias = false, .device = d});
  const sn::Tensor x = numbers({7, 5}, d);
  expect_near(layer(x), {7, 4}, linear(doubles(x), layer));
  EXPECT_FALSE(layer.has_bias());
  EXPECT_EQ(layer.named_parameters().size(), 1u);
  EXPECT_EQ(layer.state_dict().size(), 1u);
  EXPECT_EQ(printed(layer), "Linear(in_features=5, out_features=4, bias=False)");
  EXPECT_FALSE(layer.bias.defined());
  EXPECT_EQ(sn::Tensor(layer.to(sn::Device())(x.cpu())).device(), sn::Device());
  const auto typed = layer.to(sn::cuda<0>);
  EXPECT_FALSE(typed.has_bias());
  expect_near(typed(x.to(sn::cuda<0>)), {7, 4}, linear(doubles(x), layer));
  const sn::Lazy lazy = layer(sn::Lazy(x) * 2);
  expect_near(sn::Tensor(lazy), {7, 4}, linear(each(doubles(x), [](double v) { return 2 * v; }), layer));
  const sn::Lazy later = layer(x);
  expect_near(sn::Tensor(later + 1), {7, 4}, each(linear(doubles(x), layer), [](double v) { return v + 1; }));
  expect_near(layer(x)[1], {4}, linear(doubles(x[1]), layer));
  expect_near(sn::let(layer(x), [](auto y) { return y + y; }), {7, 4},
              each(linear(doubles(x), layer), [](double v) { return 2 * v; }));
}

/// No bias costs nothing: the product is written directly to the result.
TEST_P(Linear, WithoutBiasAddsNothing) {
  const nn::Linear with(16, 8, {.device = d}), without(16, 8, {.bias = false, .device = d});
  const sn::Tensor x = numbers({4, 16}, d);
  const auto launches = [](auto f) {
    const auto before = sn::jit_stats().launches;
    f();
    return sn::jit_stats().launches - before;
  };
  EXPECT_EQ(launches([&] { sn::Tensor y = without(x); }), 1u);
  EXPECT_EQ(launches([&] { sn::Tensor y = without(sn::Lazy(x)); }), 1u);
  EXPECT_EQ(launches([&] { sn::Tensor y = with(x); }), 2u);
  EXPECT_EQ(launches([&] { sn::Tensor y = sn::relu(without(x)); }), 2u);
  const nn::Sequential two(without, nn::Linear(8, 2, {.bias = false, .device = d}));
  EXPECT_EQ(launches([&] { sn::Tensor y = two(x); }), 2u);
  const nn::LinearOf<sn::bfloat16> narrow(16, 8, {.bias = false, .device = d});
  EXPECT_EQ(launches([&, y = x.to<sn::bfloat16>()] { sn::Tensor z = narrow(y); }), 1u);
}

TEST(LinearAlone, ABiasThatComesAndGoes) {
  nn::Linear layer(2, 2, {.bias = false});
  layer.weight.copy_(sn::tensor({{1.f, 0.f}, {0.f, 1.f}}));
  const sn::Tensor x = sn::tensor({-0.f, 3.f});
  const sn::Tensor y = layer(x);
  EXPECT_EQ(printed(y), "tensor([0., 3.])");
  layer.bias = sn::tensor({1.f, 2.f});
  EXPECT_EQ(printed(sn::Tensor(layer(x))), "tensor([1., 5.])");
  EXPECT_EQ(layer.named_parameters().size(), 2u);
  layer.bias = {};
  EXPECT_EQ(printed(sn::Tensor(layer(x))), "tensor([0., 3.])");
  EXPECT_EQ(printed(layer), "Linear(in_features=2, out_features=2, bias=False)");
  layer.to_("cuda:0");
  EXPECT_EQ(printed(sn::Tensor(layer(x.cuda()).cpu())), "tensor([0., 3.])");
}

TEST(LinearAlone, PrintsWhereNothingIsLeft) {
  nn::Linear layer(2, 3);
  const nn::Sequential net(layer, nn::Linear(3, 1));
  const nn::Linear taken = std::move(layer);
  EXPECT_EQ(printed(layer), "Linear(empty)");
  EXPECT_EQ(layer.num_parameters(), 0);
  EXPECT_EQ(printed(layer.to("cpu")), "Linear(empty)");
  EXPECT_THAT(message_of<sn::Error>([&] { sn::Tensor y = layer(sn::ones({2})); }), HasSubstr("is empty: it was"));
  EXPECT_EQ(printed(taken), "Linear(in_features=2, out_features=3, bias=True)");
}

TEST(LinearAlone, ThatNoMemoryHoldsSaysHowMuch) {
  EXPECT_THAT(
      message_of<sn::ShapeError>([] { nn::Linear layer(std::int64_t{1} << 40, std::int64_t{1} << 40); }),
      HasSubstr("shape (1099511627776, 1099511627776) with elements of 4 bytes is too large: it takes 4.836e+24 "
                "bytes"));
  EXPECT_THAT(message_of<sn::OutOfMemory>([] { nn::Linear layer(std::int64_t{1} << 30, std::int64_t{1} << 30); }),
              HasSubstr("4611686018427387904 bytes"));
  EXPECT_THAT(message_of<sn::OutOfMemory>([] { nn::LinearOf<sn::bfloat16> layer(1 << 25, std::int64_t{1} << 22); }),
              HasSubstr("281474976710656 bytes"));
}

TEST_P(Linear, OneKernelWithWhatFollows) {
  const nn::Linear layer(16, 8, {.device = d});
  const sn::Tensor x = numbers({4, 16}, d);
  const auto before = sn::jit_stats();
  const sn::Tensor y = sn::gelu(layer(x)) * 2;
  const auto once = sn::jit_stats().launches - before.launches;
  const sn::Tensor z = layer(x);
  EXPECT_EQ(sn::jit_stats().launches - before.launches, 2 * once);
}

TEST_P(Linear, OtherDtypes) {
  const nn::LinearOf<double> layer(3, 2, {.device = d});
  EXPECT_EQ(layer.weight.dtype(), sn::DType::Float64);
  const sn::Tensor<double> y = layer(numbers({4, 3}, d).to<double>());
  EXPECT_EQ(y.shape(), sn::Shape(4, 2));
  const nn::LinearOf<sn::bfloat16> narrow(3, 2, {.device = d});
  EXPECT_EQ(sn::Tensor(narrow(numbers({4, 3}, d).to<sn::bfloat16>())).dtype(), sn::DType::BFloat16);
}

TEST(LinearAlone, BeginsUniform) {
  sn::manual_seed(7);
  const nn::Linear layer(100, 400);
  const double bound = 0.1;
  for (const sn::Tensor<float>& t : {layer.weight, layer.bias}) {
    const Doubles values = doubles(t);
    double sum = 0, squares = 0, largest = 0;
    for (const double v : values) sum += v, squares += v * v, largest = std::max(largest, std::abs(v));
    const auto n = static_cast<double>(values.size());
    EXPECT_LE(largest, bound);
    EXPECT_GT(largest, 0.98 * bound);
    EXPECT_NEAR(sum / n, 0, 5 * bound / std::sqrt(3 * n));
    EXPECT_NEAR(squares / n, bound * bound / 3, 5 * bound * bound * std::sqrt(4.0 / 45 / n));
  }
  sn::manual_seed(7);
  const nn::Linear again(100, 400), other(100, 400);
  EXPECT_TRUE(sn::equal(again.weight, layer.weight) && sn::equal(again.bias, layer.bias));
  EXPECT_FALSE(sn::equal(other.weight, layer.weight));
}

TEST(LinearAlone, WithoutInputsGivesTheBias) {
  const nn::Linear layer(0, 3);
  expect_near(layer(sn::zeros({2, 0})), {2, 3}, Doubles(6, 0));
}

TEST(LinearAlone, TellsWhatIsWrong) {
  const nn::Linear layer(3, 1);
  EXPECT_EQ(message_of<sn::ShapeError>([&] { sn::Tensor y = layer(sn::ones({2, 4})); }),
            "Linear(in_features=3, out_features=1, bias=True): the last axes of the input must be (3,), where\n"
            "    input: float32 (2, 4) on cpu\n"
            "    weight: float32 (1, 3) on cpu\n"
            "  Reshape the input, or make the module for the extents that it has");
  EXPECT_THAT(message_of<sn::ShapeError>([&] { sn::Tensor y = layer(sn::tensor(1.f)); }),
              HasSubstr("input: float32 ()"));
  EXPECT_EQ(message_of<sn::DeviceError>([&] { sn::Tensor y = layer(sn::ones({2, 3}, sn::cuda<1>)); }),
            "Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cpu!\n"
            "  in Linear(in_features=3, out_features=1, bias=True), where\n"
            "    input: float32 (2, 3) on cuda:1\n"
            "    weight: float32 (1, 3) on cpu\n"
            "  Move the input with .to(\"cpu\"), or the net with net.to_(\"cuda:1\")");
  EXPECT_THAT(
      message_of<sn::DTypeError>([&] { sn::Tensor y = layer(sn::AnyTensor(sn::ones<double>({2, 3}))); }),
      HasSubstr("Linear(in_features=3, out_features=1, bias=True): the input must have the dtype of the weight, "
                "float32, where\n    input: float64 (2, 3) on cpu"));
  EXPECT_THAT(
      message_of<sn::ShapeError>([&] { sn::Tensor y = layer(sn::relu(nn::Linear(3, 4)(sn::ones({2, 3})))); }),
      HasSubstr("Linear(in_features=3, out_features=1, bias=True): the last axes of the input must be (3,), where\n"
                "    input: float32 (2, 4) on cpu"));
  EXPECT_THROW(nn::Linear(-1, 3), sn::ShapeError);
}

}  // namespace

// Norms and normalization layers against PyTorch's table.
#include "devices.hpp"

#include <gmock/gmock.h>

#include "torch_results.hpp"

namespace sn = sinter;
using namespace sn::literals;
using sinter_tests::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class Normalize : public testing::TestWithParam<sn::Device> {
 protected:
  sn::Device d = GetParam();
  sinter_tests::TorchResults torch{d};
  sn::Tensor<float> x = torch["x"], y = torch["y"], w = torch["w5"], b = torch["b5"], cube = torch["cube"],
                    image = torch["image"];
};
INSTANTIATE_TEST_SUITE_P(Devices, Normalize, testing::ValuesIn(sinter_tests::devices()), [](const auto& device) {
  return device.param.is_cuda() ? "cuda" + std::to_string(device.param.index()) : "cpu";
});

TEST_P(Normalize, Layers) {
  torch.expect("layer_norm", sn::layer_norm(x, {5}));
  torch.expect("layer_norm weight", sn::layer_norm(x, {5}, w));
  torch.expect("layer_norm bias", sn::layer_norm(x, {5}, w, b));
  torch.expect("layer_norm bias", sn::layer_norm(x * 2 - x, {5}, w + 0, b * 1));
  torch.expect("layer_norm two axes", sn::layer_norm(cube, {3, 4}, 0.1));
  torch.expect("rms_norm", sn::rms_norm(x, {5}, 1e-6));
  torch.expect("rms_norm weight", sn::rms_norm(x + 0, {5}, w));
  const sn::Lazy lazy = x;
  torch.expect("layer_norm bias", sn::layer_norm(lazy, {5}, w, b));
  EXPECT_EQ(torch.left_out("layer") + torch.left_out("rms"), "");
}

TEST_P(Normalize, Groups) {
  torch.expect("group_norm", sn::group_norm(image, 3));
  torch.expect("group_norm bias", sn::group_norm(image, 2, torch["w6"], torch["b6"]));
  torch.expect("group_norm bias", sn::group_norm(image + 0, 2, torch["w6"], torch["b6"]));
  torch.expect("group_norm rows", sn::group_norm(x.t(), 2));
  EXPECT_EQ(torch.left_out("group"), "");
}

TEST_P(Normalize, Lengths) {
  torch.expect("normalize", sn::normalize(x));
  torch.expect("normalize", sn::normalize(x * 1));
  torch.expect("normalize 1", sn::normalize(x, 1_c, 0));
  torch.expect("normalize 3", sn::normalize(x, 3.0, -1));
  torch.expect("cosine_similarity", sn::cosine_similarity(x, y));
  torch.expect("cosine_similarity 0", sn::cosine_similarity(x + 0, y[0], 1));
  torch.expect("softmin", sn::softmin(x, 1));
  const sn::Tensor<float> column = sn::tensor({{3.0f}, {-4.0f}}, GetParam()),
                          row = sn::tensor({{1.0f, 2.0f, 2.0f}}, GetParam());
  EXPECT_TRUE(
      sn::allclose(sn::Tensor(sn::cosine_similarity(column, row, 1)), sn::tensor({0.96225f, -0.96225f}, GetParam())));
  EXPECT_TRUE(sn::allclose(sn::Tensor(sn::cosine_similarity(column + 0, row * 1, 0)),
                           sn::tensor({-0.141421f, -0.141421f, -0.141421f}, GetParam())));
  EXPECT_EQ(torch.left_out("normalize") + torch.left_out("cosine") + torch.left_out("softmin"), "");
}

// The longest rows that stay in registers, with elements that are twice as wide there.
TEST_P(Normalize, LongRowsOfFewBits) {
  constexpr std::int64_t n = 1 << 15;
  for (const std::int64_t columns : {n, n + 8000}) {
    const auto signs = sn::fmod(sn::arange(columns, d), 2) * 2 - 1;
    const sn::Tensor rows = (signs + sn::zeros({2, 1}, d)).to<sn::bfloat16>();
    const sn::Tensor<float> softened = sn::softmax(rows * 0, -1).to<float>();
    EXPECT_TRUE(sn::allclose(softened, sn::full_like(softened, 1.0 / static_cast<double>(columns)), 4e-3, 0));
    EXPECT_TRUE(sn::equal(sn::layer_norm(rows, {columns}), rows));
  }
}

TEST_P(Normalize, OrdersOfNorms) {
  const auto v = sn::tensor({3.f, -4.f, 0.f}, d);
  EXPECT_EQ(sn::norm(v).item(), 5);
  EXPECT_EQ(sn::norm(v, 1_c).item(), 7);
  EXPECT_EQ(sn::norm(v, 0_c).item(), 2);
  EXPECT_EQ(sn::norm(v, sn::inf).item(), 4);
  EXPECT_EQ(sn::norm(v, -sn::inf, 0, sn::keepdim).shape(), sn::Shape(1));
  EXPECT_FLOAT_EQ(sn::norm(v, 3_c).item(), std::cbrt(91.f));
  EXPECT_FLOAT_EQ(sn::norm(v, 1).item(), 7);
  EXPECT_FLOAT_EQ(sn::norm(v, 0.5).item(), std::pow(std::sqrt(3.f) + 2, 2.f));
  EXPECT_THAT(message_of<sn::Error>([&] { (void)sn::norm(v, HUGE_VAL); }), HasSubstr("write norm(x, inf)"));
  EXPECT_THAT(message_of<sn::Error>([&] { (void)sn::norm(v, 0); }), HasSubstr("write norm(x, 0_c)"));
}

TEST_P(Normalize, OfADtypeThatRunTimeKnows) {
  const sn::AnyTensor real = sn::tensor({3.f, -4.f, 0.f, NAN}, d);
  const sn::AnyTensor complex =
      sn::AnyTensor(sn::tensor({std::complex<float>(3, -4), std::complex<float>(0, 12), std::complex<float>()}, d));
  EXPECT_EQ(sn::AnyTensor(sn::norm(real, 0_c)).as<float>().item(), 3);
  EXPECT_EQ(sn::AnyTensor(sn::norm(sn::Lazy(real), 0_c)).as<float>().item(), 3);
  EXPECT_EQ(sn::AnyTensor(sn::norm(real.slice(0, 0, 2))).as<float>().item(), 5);
  EXPECT_EQ(sn::AnyTensor(sn::norm(complex, 0_c)).as<float>().item(), 2);
  EXPECT_EQ(sn::AnyTensor(sn::norm(complex)).as<float>().item(), 13);
  EXPECT_EQ(sn::AnyTensor(sn::norm(sn::Lazy(complex))).as<float>().item(), 13);
  const sn::Tensor doubles = sn::tensor<double>({1e-8, 2e-8}, d);
  const sn::Tensor wanted = sn::rms_norm(doubles, {2});  // by the epsilon of float64
  EXPECT_EQ(sn::AnyTensor(sn::rms_norm(sn::AnyTensor(doubles), {2})).as<double>().to_vector(), wanted.to_vector());
  const sn::AnyTensor ints = sn::tensor({1, 2}, d);
  EXPECT_THAT(message_of<sn::DTypeError>([&] { (void)sn::layer_norm(ints, {2}); }),
              HasSubstr("layer_norm: takes floats, not int64 (2,)"));
  EXPECT_THAT(message_of<sn::DTypeError>([&] { (void)sn::rms_norm(complex, {3}); }),
              HasSubstr("take real(z), imag(z) or abs(z) first"));
}

TEST_P(Normalize, OneKernel) {
  const auto e = sn::layer_norm(x + y, {5}, w, b) * 2;
  (void)sn::evaluate(e);
  const auto before = sn::jit_stats();
  (void)sn::evaluate(e);
  EXPECT_EQ(sn::jit_stats().launches - before.launches, 1u);
}

TEST_P(Normalize, SixteenBitsAreComputedInFloat) {
  const sn::Tensor<sn::half> h =
      sn::full({4}, 200.f, d).to<sn::half>();  // whose squares are past half's largest number
  EXPECT_EQ(static_cast<float>(sn::norm(h).item()), 400);
  EXPECT_EQ(static_cast<float>(sn::rms_norm(h, {4}).to_vector()[0]), 1);
}

TEST_P(Normalize, WrongShapes) {
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)sn::layer_norm(x, {4}); }),
              HasSubstr("layer_norm: the last axes of x must be (4,)"));
  EXPECT_THROW((void)sn::rms_norm(x, {2, 4, 5}), sn::ShapeError);
  const sn::Tensor<float> one = sn::ones({1}, GetParam());
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)sn::layer_norm(x, {5}, one); }),
              HasSubstr("layer_norm: the weight must have the shape to normalize over, (5,), where\n    weight: "));
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)sn::layer_norm(x, {5}, w, one); }), HasSubstr("    bias: "));
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)sn::rms_norm(x + 0, {5}, one * 2); }), HasSubstr("rms_norm"));
  EXPECT_THROW((void)sn::layer_norm(x, {}), sn::ShapeError);
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)sn::group_norm(x, 3); }),
              HasSubstr("the number of channels, 5, must be divisible by the 3 groups"));
  EXPECT_THROW((void)sn::group_norm(w, 1), sn::ShapeError);
  EXPECT_THROW((void)sn::group_norm(x, 0), sn::ShapeError);
}

}  // namespace

// Factories and literals, on every device.
#include "devices.hpp"

#include <gmock/gmock.h>

namespace sn = sinter;
using sinter_tests::message_of;
using sinter_tests::printed;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class Factory : public testing::TestWithParam<sn::Device> {};
INSTANTIATE_TEST_SUITE_P(Devices, Factory, testing::ValuesIn(sinter_tests::devices()), [](const auto& p) {
  return p.param.is_cpu() ? std::string("cpu") : "gpu" + std::to_string(p.param.index());
});

TEST(Literal, TypesFollowTheBraces) {
  static_assert(std::is_same_v<decltype(sn::tensor({1, 2})), sn::Tensor<std::int64_t, sn::Cpu>>);
  static_assert(std::is_same_v<decltype(sn::tensor({1., 2.})), sn::Tensor<float, sn::Cpu>>);
  static_assert(std::is_same_v<decltype(sn::tensor({true})), sn::Tensor<bool, sn::Cpu>>);
  static_assert(std::is_same_v<decltype(sn::tensor<double>({1, 2})), sn::Tensor<double, sn::Cpu>>);
  static_assert(std::is_same_v<decltype(sn::tensor({1, 2}, sn::cuda<0>)), sn::Tensor<std::int64_t, sn::Cuda<0>>>);
  static_assert(std::is_same_v<decltype(sn::tensor({1.f}, "cuda:1")), sn::Tensor<float, sn::AnyDevice>>);
  static_assert(std::is_same_v<decltype(sn::tensor({1.f}, 1)), sn::Tensor<float, sn::Cuda<>>>);
}

TEST_P(Factory, Literals) {
  const auto m = sn::tensor({{1, 2, 3}, {4, 5, 6}}, GetParam());
  EXPECT_EQ(m.shape(), sn::Shape(2, 3));
  EXPECT_THAT(m.to_vector(), ElementsAre(1, 2, 3, 4, 5, 6));
  const auto b = sn::tensor({{{1.5}, {2.5}}, {{3.5}, {4.5}}}, GetParam());
  EXPECT_EQ(b.shape(), sn::Shape(2, 2, 1));
  EXPECT_THAT(b.to_vector(), ElementsAre(1.5f, 2.5f, 3.5f, 4.5f));
  const auto v = sn::tensor(std::vector<double>{1, 2, 3, 4}, {2, 2}, GetParam());
  EXPECT_EQ(v.dtype(), sn::DType::Float64);
  EXPECT_EQ(v[1][0].item(), 3.0);
  EXPECT_EQ(sn::tensor(3, GetParam()).dim(), 0);
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)sn::tensor({{1, 2}, {3}}, GetParam()); }),
              testing::AllOf(HasSubstr("2"), HasSubstr("1")));
  EXPECT_THROW((void)sn::tensor({{{1, 2}, {3, 4}}, {{5, 6}, {7}}}, GetParam()), sn::ShapeError);
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)sn::tensor(std::vector<int>{1, 2, 3}, {2, 2}, GetParam()); }),
              testing::AllOf(HasSubstr("3 values"), HasSubstr("(2, 2)")));
}

TEST_P(Factory, Constants) {
  EXPECT_THAT(sn::zeros({2}, GetParam()).to_vector(), ElementsAre(0, 0));
  EXPECT_THAT(sn::ones<std::int32_t>({2}, GetParam()).to_vector(), ElementsAre(1, 1));
  EXPECT_EQ(sn::full({2}, 7, GetParam()).dtype(), sn::DType::Int64);
  EXPECT_THAT(sn::full<float>({2}, 7, GetParam()).to_vector(), ElementsAre(7, 7));
  EXPECT_THAT(sn::full<std::int64_t>({2}, 2.75, GetParam()).to_vector(), ElementsAre(2, 2));
  EXPECT_THAT(sn::full<bool>({2}, 3, GetParam()).to_vector(), ElementsAre(true, true));
  EXPECT_EQ(sn::empty<double>({3, 0}, GetParam()).numel(), 0);
  EXPECT_THROW((void)sn::zeros({-1}, GetParam()), sn::ShapeError);
  EXPECT_THROW((void)sn::zeros({std::int64_t{1} << 40, std::int64_t{1} << 40}, GetParam()), sn::ShapeError);
}

TEST_P(Factory, Sequences) {
  EXPECT_THAT(sn::arange(4, GetParam()).to_vector(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(sn::arange(2, 9, 3, GetParam()).to_vector(), ElementsAre(2, 5, 8));
  EXPECT_THAT(sn::arange(5, 0, -2, GetParam()).to_vector(), ElementsAre(5, 3, 1));
  EXPECT_THAT(sn::arange(0., 1., 0.25, GetParam()).to_vector(), ElementsAre(0, 0.25f, 0.5f, 0.75f));
  EXPECT_EQ(sn::arange(3, 3, 1, GetParam()).numel(), 0);
  EXPECT_THROW((void)sn::arange(3, 0, 1, GetParam()), sn::ShapeError);
  EXPECT_THROW((void)sn::arange(0, 3, 0, GetParam()), sn::ShapeError);
  EXPECT_THROW((void)sn::arange(0., NAN, 1., GetParam()), sn::ShapeError);
  constexpr std::int64_t max = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(sn::arange(max - 3, max, 2, GetParam()).to_vector(), ElementsAre(max - 3, max - 1));
  EXPECT_THAT(sn::linspace(0, 1, 5, GetParam()).to_vector(), ElementsAre(0, 0.25f, 0.5f, 0.75f, 1));
  EXPECT_THAT(sn::linspace(3, 9, 1, GetParam()).to_vector(), ElementsAre(3));
  EXPECT_EQ(sn::linspace(0.1, 0.7, 7, GetParam()).to_vector().back(), 0.7f);
  EXPECT_THAT(sn::eye(2, 3, GetParam()).to_vector(), ElementsAre(1, 0, 0, 0, 1, 0));
  EXPECT_EQ(sn::eye(3, GetParam()).shape(), sn::Shape(3, 3));
}

TEST_P(Factory, LikeAnother) {
  const auto x = sn::tensor({{1, 2}}, GetParam());
  EXPECT_EQ(sn::ones_like(x).dtype(), sn::DType::Int64);
  EXPECT_EQ(sn::ones_like(x).device(), GetParam());
  EXPECT_EQ(sn::zeros_like<float>(x, "cpu").device(), sn::Device("cpu"));
  EXPECT_THAT(sn::full_like(x, 9).to_vector(), ElementsAre(9, 9));
  EXPECT_EQ(sn::empty_like(x).shape(), x.shape());
  EXPECT_EQ(sn::rand_like(sn::ones({4, 5}, GetParam())).shape(), sn::Shape(4, 5));
}

TEST_P(Factory, PrintsFiveKinds) {
  const std::string d = GetParam().is_cpu() ? "" : ", device='" + to_string(GetParam()) + "'";
  EXPECT_EQ(printed(sn::zeros({2, 2}, GetParam())), "tensor([[0., 0.],\n        [0., 0.]]" + d + ")");
  EXPECT_EQ(printed(sn::ones<double>({1}, GetParam())), "tensor([1.]" + d + ", dtype=float64)");
  EXPECT_EQ(printed(sn::tensor({true, false}, GetParam())), "tensor([ True, False]" + d + ")");
}

}  // namespace

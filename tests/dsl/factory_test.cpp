// Factories and literals, on every device.
#include "devices.hpp"

#include <gmock/gmock.h>

namespace sn = sinter;
using sinter_tests::message_of;
using sinter_tests::printed;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

TEST(Factories, ExtremeRanges) {
  EXPECT_THAT(message_of<sn::Error>([] { sn::arange<int>(2147483640, 2147483660LL, 5); }),
              HasSubstr("does not fit int32"));
  EXPECT_THAT(sn::arange<int>(2147483640, 2147483648LL, 7).to_vector(), ElementsAre(2147483640, 2147483647));
  EXPECT_THAT(sn::linspace<double>(-1.7e308, 1.7e308, 5).to_vector(),
              ElementsAre(-1.7e308, -0.85e308, 0, 0.85e308, 1.7e308));
}

TEST(Tensor, FromTheUsersOwnMemory) {
  const std::vector<float> values{1, 2, 3, 4};
  EXPECT_EQ(sn::tensor(values).shape(), sn::Shape(4));
  EXPECT_EQ(sn::tensor(values, {2, 2}).shape(), sn::Shape(2, 2));
  EXPECT_EQ(sn::tensor(values, 4).shape(), sn::Shape(4));  // an extent, not a GPU
  EXPECT_EQ(sn::tensor(values, sn::cuda<>).device(), sn::Device("cuda:0"));
  EXPECT_EQ(sn::tensor(std::span(values), {4}).to_vector(), values);
}

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

TEST(Literal, NumbersOfSeveralTypesNeedADtype) {
  EXPECT_THAT(sn::tensor<float>({1.5, 2}).to_vector(), ElementsAre(1.5f, 2));
  EXPECT_THAT(sn::tensor<std::int64_t>({1, 2L, 3u, 4.5}).to_vector(), ElementsAre(1, 2, 3, 4));
}

TEST(Literal, RangesGiveTheirTypeOrInt64) {
  const auto i = sn::tensor(std::vector<long long>{1, -2}, {2});
  static_assert(std::is_same_v<decltype(i), const sn::Tensor<std::int64_t, sn::Cpu>>);
  EXPECT_THAT(i.to_vector(), ElementsAre(1, -2));
  EXPECT_THAT(sn::tensor(std::vector<unsigned long long>{7}, {1}).to_vector(), ElementsAre(7));
  EXPECT_THROW((void)sn::tensor(std::vector<unsigned long long>{~0ull}, {1}), sn::Error);
  EXPECT_THAT(sn::tensor(std::vector<bool>{true, false}, {2}).to_vector(), ElementsAre(true, false));
  const float four[] = {1, 2, 3, 4};
  EXPECT_EQ(sn::tensor<double>(four, {2, 2}).dtype(), sn::DType::Float64);
}

TEST(Literal, RefusesNumbersThatTheDtypeCannotHold) {
  const auto refuses = [](auto make, const char* number, const char* dtype) {
    EXPECT_THAT(message_of<sn::Error>(make), testing::AllOf(HasSubstr(number), HasSubstr(dtype)));
  };
  refuses([] { (void)sn::tensor<std::int32_t>({3'000'000'000}); }, "3000000000", "int32");
  refuses([] { (void)sn::tensor<std::int32_t>({{1e20}}); }, "1e+20", "int32");
  refuses([] { (void)sn::tensor<std::int64_t>({NAN}); }, "nan", "int64");
  refuses([] { (void)sn::tensor<std::int64_t>({0x1p63}); }, "9.22", "int64");
  refuses([] { (void)sn::tensor<std::int32_t>({1, -2147483649.0}); }, "-2147483649", "int32");
  refuses([] { (void)sn::tensor(18446744073709551615ull); }, "18446744073709551615", "int64");
  refuses([] { (void)sn::arange(18446744073709551615ull); }, "18446744073709551615", "int64");
  refuses([] { (void)(sn::ones({1}) + 18446744073709551615ull); }, "18446744073709551615", "int64");
  EXPECT_THAT(sn::tensor<std::int32_t>({-2147483648.0, 2147483647.9}).to_vector(),
              ElementsAre(-2147483648, 2147483647));
  EXPECT_THAT(sn::tensor<std::int64_t>({-0x1p63}).to_vector(), ElementsAre(std::numeric_limits<std::int64_t>::min()));
  EXPECT_THAT(sn::tensor<float>({1e300}).to_vector(), ElementsAre(INFINITY));
  EXPECT_THAT(sn::tensor<bool>({NAN, 0.0, 1e30}).to_vector(), ElementsAre(true, false, true));
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
  EXPECT_THAT(sn::full<bool>({1}, 0.5, GetParam()).to_vector(), ElementsAre(true));
  EXPECT_THAT(message_of<sn::Error>([] { (void)sn::full<std::int32_t>({2}, 3'000'000'000ll, GetParam()); }),
              testing::AllOf(HasSubstr("3000000000"), HasSubstr("int32")));
  EXPECT_THROW((void)sn::full<std::int64_t>({2}, -INFINITY, GetParam()), sn::Error);
  EXPECT_EQ(sn::empty<double>({3, 0}, GetParam()).numel(), 0);
  EXPECT_THROW((void)sn::zeros({-1}, GetParam()), sn::ShapeError);
  EXPECT_THROW((void)sn::zeros({std::int64_t{1} << 40, std::int64_t{1} << 40}, GetParam()), sn::ShapeError);
}

TEST_P(Factory, Sequences) {
  EXPECT_THAT(sn::arange(4, GetParam()).to_vector(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(sn::arange(2, 9, 3, GetParam()).to_vector(), ElementsAre(2, 5, 8));
  EXPECT_THAT(sn::arange(2, 5, GetParam()).to_vector(), ElementsAre(2, 3, 4));
  static_assert(std::is_same_v<decltype(sn::arange(0, 10, sn::cuda<>)), sn::Tensor<std::int64_t, sn::Cuda<>>>);
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
  static_assert(std::is_same_v<decltype(sn::empty_like<double>(x)), sn::Tensor<double, sn::AnyDevice>>);
  EXPECT_EQ(sn::rand_like(sn::ones({4, 5}, GetParam())).shape(), sn::Shape(4, 5));
  EXPECT_EQ(sn::rand_like<double>(x).dtype(), sn::DType::Float64);
  EXPECT_EQ(sn::rand_like<double>(x).device(), GetParam());
  EXPECT_EQ(sn::randn_like<float>(x, sn::cpu).device(), sn::Device("cpu"));
  EXPECT_THROW((void)sn::randn_like(x), sn::DTypeError);
  EXPECT_THAT(sn::randint_like(x, 3, 4).to_vector(), ElementsAre(3, 3));
  EXPECT_THAT(sn::randint_like<float>(x, 3, 4, sn::cuda<>).to_vector(), ElementsAre(3, 3));
}

TEST_P(Factory, PrintsFiveKinds) {
  const std::string d = GetParam().is_cpu() ? "" : ", device='" + to_string(GetParam()) + "'";
  EXPECT_EQ(printed(sn::zeros({2, 2}, GetParam())), "tensor([[0., 0.],\n        [0., 0.]]" + d + ")");
  EXPECT_EQ(printed(sn::ones<double>({1}, GetParam())), "tensor([1.]" + d + ", dtype=float64)");
  EXPECT_EQ(printed(sn::tensor({true, false}, GetParam())), "tensor([ True, False]" + d + ")");
}

}  // namespace

#include <sinter/dsl/functions.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include <sinter/sinter.hpp>
#include "devices.hpp"

namespace sinter {
namespace {

using namespace literals;
constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

using Longs = std::vector<std::int64_t>;

Tensor<float> floats() { return tensor({-2.5f, -0.5f, 0.f, 0.25f, 4.f}); }

template <class A, class B>
void expect_same(const A& a, const B& b) {
  const Tensor x = a, y = b;
  static_assert(std::is_same_v<decltype(x), decltype(y)>);
  EXPECT_EQ(to_string(x.shape()), to_string(y.shape()));
  EXPECT_EQ(x.to_vector(), y.to_vector());
}

TEST(Functions, DefaultsAreWhatPyTorchHas) {
  const auto x = floats();
  expect_same(leaky_relu(x), leaky_relu(x, 0.01));
  expect_same(elu(x), elu(x, 1.0));
  expect_same(celu(x), celu(x, 1));
  expect_same(softplus(x), softplus(x, 1, 20));
  expect_same(softplus(x, 0.5), softplus(x, 0.5, 20.0));
  expect_same(hardtanh(x), hardtanh(x, -1, 1));
  expect_same(logit(x / 8 + 0.4), logit(x / 8 + 0.4, -1));
  expect_same(addcmul(x, x, x), x + x * x);
  expect_same(addcdiv(x, x, x + 1), x + x / (x + 1));
  expect_same(isclose(x, x + 1e-3), isclose(x, x + 1e-3, 1e-5, 1e-8, false));
  const auto y = tensor({nan, inf, -inf, 1.f});
  constexpr float most = std::numeric_limits<float>::max();
  EXPECT_EQ(Tensor(nan_to_num(y)).to_vector(), (std::vector{0.f, most, -most, 1.f}));
  EXPECT_EQ(Tensor(nan_to_num(y, 7)).to_vector(), (std::vector{7.f, most, -most, 1.f}));
  EXPECT_EQ(Tensor(nan_to_num(y, 7, 8)).to_vector(), (std::vector{7.f, 8.f, -most, 1.f}));
  EXPECT_EQ(Tensor(nan_to_num(y, 7, 8, 9)).to_vector(), (std::vector{7.f, 8.f, 9.f, 1.f}));
}

TEST(Functions, RefuseNumbersThatMakeNoSense) {
  const auto x = floats();
  const Lazy l = x;
  const auto message = [](auto f) { return sinter_tests::message_of<Error>([&] { (void)Tensor(f()); }); };
  const auto limits = ::testing::HasSubstr("min_val is 2 and max_val is 1");
  EXPECT_THAT(message([&] { return hardtanh(x, 2); }), limits);
  EXPECT_THAT(message([&] { return (x + 1).hardtanh(2, 1).sum(); }), limits);
  EXPECT_THAT(message([&] { return hardtanh(x, 2_c, 1_c); }), limits);
  EXPECT_THAT(message([&] { return hardtanh(tensor({1, 2}), 2.0, 1); }), limits);
  EXPECT_THAT(message([&] { return hardtanh(cast<half>(x), 2, 1); }), limits);
  EXPECT_THROW((void)l.hardtanh(2), Error) << "when it is written";
  EXPECT_THROW((void)parse("hardtanh(x, max_val=-2)", {{"x", x}}), Error);
  EXPECT_THROW((void)parse("isclose(x, x, atol=-1e-8)", {{"x", x}}), Error);
  EXPECT_THAT(message([&] { return isclose(x, x, -0.5); }), ::testing::HasSubstr("rtol is -0.5"));
  EXPECT_THAT(message([&] { return isclose(x, x, 0, -1); }), ::testing::HasSubstr("atol is -1"));
  EXPECT_THAT(message([&] { return isclose(x, x, nan); }), ::testing::HasSubstr("rtol is nan"));
  EXPECT_THAT(message([&] { return isclose(tensor({1}), 1, 0, -1); }), ::testing::HasSubstr("atol is -1"));
  EXPECT_THAT(message([&] { return isclose(complex(x, x), complex(x, x), -1); }), ::testing::HasSubstr("rtol is -1"));
  EXPECT_THROW((void)allclose(x, x, -1), Error);
  EXPECT_THROW((void)l.isclose(x, -1), Error);
  expect_same(hardtanh(x, 1, 1), x * 0 + 1);
  for (double low = -1; low < 3; ++low)  // one expression type, for any numbers
    EXPECT_EQ(message([&] { return hardtanh(x, low, 1); }).empty(), low <= 1);
}

TEST(Functions, MethodsAreTheFunctions) {
  const auto x = floats();
  expect_same(x.leaky_relu(0.2), leaky_relu(x, 0.2));
  expect_same(x.leaky_relu(), leaky_relu(x));
  expect_same((x + 1).softplus(2), softplus(x + 1, 2));
  expect_same(x.nan_to_num(1, 2, 3), nan_to_num(x, 1, 2, 3));
  expect_same(x.isclose(x, 0, 0), isclose(x, x, 0, 0));
  expect_same(x.addcmul(x, x, 2), addcmul(x, x, x, 2));
  expect_same(x.mish(), mish(x));
  expect_same(x.threshold(0, 1), threshold(x, 0, 1));
  const Lazy l = x;
  expect_same(l.leaky_relu(), leaky_relu(x));
  expect_same(l.nan_to_num(), nan_to_num(x));
  expect_same(l.isclose(x), isclose(x, x));
}

TEST(Functions, DefaultsOfIntegersKeepThemIntegers) {
  const auto i = tensor({-3, 0, 5});
  EXPECT_EQ(Tensor(hardtanh(i)).to_vector(), (Longs{-1, 0, 1}));
  EXPECT_EQ(Tensor(addcmul(i, i, i)).to_vector(), (Longs{6, 0, 30}));
  EXPECT_EQ(Tensor(nan_to_num(i)).to_vector(), (Longs{-3, 0, 5}));
  EXPECT_EQ(Tensor(threshold(i, 1.5, 2.5)).to_vector(), (Longs{2, 2, 5}));  // as PyTorch converts them
  EXPECT_EQ(Tensor(relu6(i * 2)).to_vector(), (Longs{0, 0, 6}));
  static_assert(std::is_same_v<value_type_of<decltype(float_power(i, 2))>, double>);
  static_assert(std::is_same_v<value_type_of<decltype(isclose(i, 2))>, bool>);
  static_assert(std::is_same_v<value_type_of<decltype(nan_to_num(i, 0.5))>, std::int64_t>);
  static_assert(std::is_same_v<value_type_of<decltype(nan_to_num(i > 0))>, bool>);
  static_assert(std::is_same_v<value_type_of<decltype(sinc(i))>, float>);
}

TEST(Functions, DivisionRoundsAsItIsTold) {
  const auto i = tensor({7, -7, 8});
  EXPECT_EQ(Tensor(div(i, 2, rounding::floor)).to_vector(), (Longs{3, -4, 4}));
  EXPECT_EQ(Tensor(div(i, 2, rounding::trunc)).to_vector(), (Longs{3, -3, 4}));
  EXPECT_EQ(Tensor(i.div(2, rounding::trunc)).to_vector(), (Longs{3, -3, 4}));
  EXPECT_EQ(Tensor((i + 0).div(i * 0 + 2, rounding::floor)).to_vector(), (Longs{3, -4, 4}));
  EXPECT_EQ(Tensor(true_divide(i, 2)).to_vector(), (std::vector{3.5f, -3.5f, 4.f}));
  EXPECT_EQ(Tensor(div(floats(), 2, rounding::trunc)).to_vector(), (std::vector{-1.f, -0.f, 0.f, 0.f, 2.f}));
  try {
    Tensor(div(i, 0, rounding::trunc)).to_vector();
    FAIL() << "divided by zero";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("trunc_divide of int64"), std::string::npos) << e.what();
  }
}

TEST(Functions, ShiftsAreNoStreams) {
  auto i = tensor({1, -8, 5});
  EXPECT_EQ(Tensor(i << 2).to_vector(), (Longs{4, -32, 20}));
  EXPECT_EQ(Tensor(i >> 1).to_vector(), (Longs{0, -4, 2}));
  EXPECT_EQ(Tensor(1 << tensor({0, 4, 63, 64, -1})).to_vector(), (Longs{1, 16, INT64_MIN, 0, 0}));
  EXPECT_EQ(Tensor(i >> 64).to_vector(), (Longs{0, -1, 0}));
  EXPECT_EQ(Tensor((i << 1_c) >> 1_c).to_vector(), i.to_vector());
  EXPECT_EQ(Tensor(1_c << i).to_vector(), (Longs{2, 0, 32}));
  std::ostringstream out;
  out << i << (i << 1) << 3;
  EXPECT_EQ(out.str(), "tensor([ 1, -8,  5])tensor([  2, -16,  10])3");
  i <<= 1;
  EXPECT_EQ(i.to_vector(), (Longs{2, -16, 10}));
  i >>= tensor({1, 2, 3});
  EXPECT_EQ(i.to_vector(), (Longs{1, -4, 1}));
}

TEST(Functions, HalfIsComputedInFloat) {
  const auto x = floats();
  const Tensor<half> h = cast<half>(x);
  const auto rounded = [](const auto& e) { return Tensor(cast<float>(Tensor(cast<half>(e)))); };
  expect_same(rounded(mish(h)), rounded(mish(x)));
  expect_same(rounded(digamma(h * 3 + 9)), rounded(digamma(x * 3 + 9)));
  expect_same(rounded(leaky_relu(h)), rounded(leaky_relu(x)));
  static_assert(std::is_same_v<value_type_of<decltype(leaky_relu(h))>, half>);
  EXPECT_EQ(Tensor(cast<float>(nan_to_num(h / 0))).to_vector(),
            (std::vector{-65504.f, -65504.f, 0.f, 65504.f, 65504.f}));
  EXPECT_EQ(Tensor(cast<float>(nan_to_num(h / 0, 1, 5))).to_vector(), (std::vector{-65504.f, -65504.f, 1.f, 5.f, 5.f}));
  const auto narrow = cast<std::int8_t>(tensor({-128, 100, 7}));
  EXPECT_EQ(Tensor(cast<std::int64_t>(narrow << 1)).to_vector(), (Longs{0, -56, 14}));
  EXPECT_EQ(Tensor(cast<std::int64_t>(narrow << 8)).to_vector(), (Longs{0, 0, 0}));
  EXPECT_EQ(Tensor(cast<std::int64_t>(narrow >> 9)).to_vector(), (Longs{-1, 0, 0}));
  EXPECT_EQ(Tensor(cast<std::int64_t>(gcd(narrow, 12))).to_vector(), (Longs{4, 4, 1}));
}

}  // namespace
}  // namespace sinter

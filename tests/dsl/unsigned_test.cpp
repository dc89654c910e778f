// uint16, uint32 and uint64: conversions at the ends of their ranges, operations that wrap, and what uint64 refuses.
#include <sinter/sinter.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "devices.hpp"

namespace sinter_tests {
namespace {

namespace sn = sinter;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
std::vector<T> ends() {
  using Limits = std::numeric_limits<T>;
  return {0, 1, 2, 127, 128, 255, Limits::max() / 2, Limits::max() / 2 + 1, Limits::max() - 1, Limits::max()};
}
template <class T>
sn::Tensor<T> tensor_of(const std::vector<T>& values) {
  const auto t = sn::empty<T>({static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.data());
  return t;
}

template <class T>
class Unsigned : public ::testing::Test {};
using Types = ::testing::Types<std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Unsigned, Types);

TYPED_TEST(Unsigned, ConvertsToEveryDtypeAsCppDoes) {
  const std::vector<TypeParam> values = ends<TypeParam>();
  for (const sn::Device device : devices()) {
    const sn::Tensor<TypeParam> x = tensor_of(values).to(device);
    const auto expect = [&]<class To>(std::type_identity<To>) {
      const std::vector<To> got = sn::Tensor<To>(x.template to<To>()).to_vector();
      for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_EQ(got[i], static_cast<To>(values[i])) << values[i] << " to " << name(sn::dtype_of<To>);
    };
    expect(std::type_identity<std::int8_t>());
    expect(std::type_identity<std::uint8_t>());
    expect(std::type_identity<std::int16_t>());
    expect(std::type_identity<std::uint16_t>());
    expect(std::type_identity<std::int32_t>());
    expect(std::type_identity<std::uint32_t>());
    expect(std::type_identity<std::int64_t>());
    expect(std::type_identity<std::uint64_t>());
    expect(std::type_identity<float>());
    expect(std::type_identity<double>());
    expect(std::type_identity<bool>());
  }
}

TYPED_TEST(Unsigned, FloatsTruncateAndSaturate) {
  constexpr auto most = std::numeric_limits<TypeParam>::max();
  const sn::Tensor x = sn::tensor<double>({0.0, 1.9, -0.5, -3.0, 1e30, -1e30, NAN, INFINITY, -INFINITY, 65535.0});
  const std::vector<TypeParam> want = {0, 1, 0, 0, most, 0, 0, most, 0, 65535};
  for (const sn::Device device : devices()) {
    EXPECT_EQ(sn::Tensor(x.to(device).template to<TypeParam>()).to_vector(), want);
    EXPECT_EQ(sn::Tensor(sn::Tensor(x.template to<float>()).to(device).template to<TypeParam>()).to_vector(), want);
    EXPECT_EQ(sn::Tensor(sn::cast<TypeParam>(x.to(device) * 1)).to_vector(), want);
  }
}

TYPED_TEST(Unsigned, SumsProductsAndBitsWrap) {
  std::mt19937_64 random(17);
  std::vector<TypeParam> a(1000), b(1000);
  for (TypeParam& v : a) v = static_cast<TypeParam>(random());
  for (TypeParam& v : b) v = static_cast<TypeParam>(random());
  for (const sn::Device device : devices()) {
    const sn::Tensor<TypeParam> x = tensor_of(a).to(device), y = tensor_of(b).to(device);
    const sn::Tensor<TypeParam> chain = (x * y + x) - (y ^ 5) * x, equal = sn::where(x == y, x, y);
    const std::vector<TypeParam> got = chain.to_vector();
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::uint64_t p = a[i], q = b[i];
      ASSERT_EQ(got[i], static_cast<TypeParam>(p * q + p - (q ^ 5) * p)) << i;
    }
    EXPECT_EQ(equal.to_vector(), b);
    std::uint64_t sum = 0;
    for (const TypeParam v : a) sum += v;
    EXPECT_EQ(static_cast<std::uint64_t>(x.sum().item()), sum);
    EXPECT_EQ(
        sn::Tensor<TypeParam>(x(sn::range(10, 3, -1))).to_vector(),
        std::vector<TypeParam>(std::make_reverse_iterator(a.begin() + 11), std::make_reverse_iterator(a.begin() + 4)));
  }
}

TEST(UnsignedDtypes, OrderAndDivisionAreUnsigned) {
  for (const sn::Device device : devices()) {
    const sn::Tensor<std::uint32_t> x = tensor_of(ends<std::uint32_t>()).to(device);
    EXPECT_EQ(x.max().item(), 0xFFFFFFFFu);
    EXPECT_EQ(sn::Tensor(sn::floor_divide(x, 2)).to_vector().back(), 0x7FFFFFFFu);
    EXPECT_THAT(sn::Tensor(x > 0x7FFFFFFF).to_vector(),
                ElementsAre(false, false, false, false, false, false, false, true, true, true));
    EXPECT_EQ(sn::Tensor(x.to<float>() * 2).to_vector().back(), 8589934592.0f);
    EXPECT_EQ(sn::Tensor(-x).to_vector()[1], 0xFFFFFFFFu);
  }
}

TEST(UnsignedDtypes, MixedSignsPromoteToWhatHoldsBoth) {
  const sn::Tensor a = sn::tensor<std::uint16_t>({65535});
  const sn::Tensor b = sn::tensor<std::int16_t>({-1});
  const sn::Tensor sum = a + b;
  static_assert(std::is_same_v<decltype(sum)::value_type, std::int32_t>);
  EXPECT_EQ(sum.item(), 65534);
  const sn::Tensor wide = sn::tensor<std::uint32_t>({4294967295}) * b;
  static_assert(std::is_same_v<decltype(wide)::value_type, std::int64_t>);
  EXPECT_EQ(wide.item(), -4294967295);
}

TEST(UnsignedDtypes, Uint64SortsAndScans) {
  const std::vector<std::uint64_t> values = ends<std::uint64_t>();
  for (const sn::Device device : devices()) {
    const sn::Tensor<std::uint64_t> x = tensor_of(values).to(device);
    EXPECT_EQ(sn::Tensor<std::uint64_t>(sn::sort(x, 0, true).values).to_vector(),
              std::vector<std::uint64_t>(values.rbegin(), values.rend()));
    EXPECT_EQ(x.cummax(0).values.to_vector(), values);
    EXPECT_EQ(x.cumsum(0).to_vector()[3], 130u);
  }
}

TEST(UnsignedDtypes, Uint64RefusesWhatInt64CannotCompute) {
  const sn::AnyTensor x(sn::tensor<std::uint64_t>({1, 2}));
  const sn::AnyTensor y(sn::tensor<std::int64_t>({1, 2}));
  EXPECT_THAT(message_of<sn::DTypeError>([&] { sn::AnyTensor(x < x); }),
              AllOf(HasSubstr("lt"), HasSubstr("uint64"), HasSubstr("convert with cast<std::int64_t>(x)")));
  EXPECT_THAT(message_of<sn::DTypeError>([&] { sn::AnyTensor(x + y); }),
              AllOf(HasSubstr("add"), HasSubstr("no dtype holds the values of both")));
  EXPECT_THAT(message_of<sn::DTypeError>([&] { sn::AnyTensor(x.max()); }), HasSubstr("uint64"));
  const sn::Tensor data = sn::tensor<float>({1, 2});
  EXPECT_THAT(message_of<sn::DTypeError>([&] { (void)data[x]; }), HasSubstr("indices are integers that int64 holds"));
}

TEST(UnsignedDtypes, PrintAllDigits) {
  std::ostringstream out;
  out << tensor_of(std::vector<std::uint64_t>{0, 18446744073709551615u});
  EXPECT_EQ(out.str(), "tensor([                   0, 18446744073709551615], dtype=uint64)");
}

}  // namespace
}  // namespace sinter_tests

// The 16-bit floats, all of them.
#include <sinter/runtime/half.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace {

using sinter::bfloat16;
using sinter::half;

/// A format's value from its definition.
double value_of(std::uint16_t bits, int fraction_bits, int bias) {
  const int last = (1 << (15 - fraction_bits)) - 1, exponent = bits >> fraction_bits & last;
  const double fraction = bits & ((1 << fraction_bits) - 1), one = 1 << fraction_bits;
  if (exponent == last) return fraction == 0 ? HUGE_VAL : NAN;
  return exponent == 0 ? std::ldexp(fraction / one, 1 - bias) : std::ldexp(1 + fraction / one, exponent - bias);
}

template <class T>
class HalfTest : public ::testing::Test {
 public:
  static constexpr int fraction_bits = std::numeric_limits<T>::digits - 1;
  static constexpr int bias = std::is_same_v<T, half> ? 15 : 127;
  static double value(std::uint16_t bits) {
    return std::copysign(value_of(bits & 0x7FFF, fraction_bits, bias), bits & 0x8000 ? -1.0 : 1.0);
  }
};
using Types = ::testing::Types<half, bfloat16>;
TYPED_TEST_SUITE(HalfTest, Types);

TYPED_TEST(HalfTest, EveryNumberIsWhatTheFormatSays) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto b = static_cast<std::uint16_t>(bits);
    const float got = TypeParam::from_bits(b);
    const double expected = this->value(b);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << std::hex << bits;
      ASSERT_TRUE(std::isnan(static_cast<float>(TypeParam(got)))) << std::hex << bits;
    } else {
      ASSERT_EQ(static_cast<double>(got), expected) << std::hex << bits;
      ASSERT_EQ(TypeParam(got).bits, b);
    }
  }
}

TYPED_TEST(HalfTest, RoundsToTheNearestAndHalvesToEven) {
  for (std::uint16_t bits = 0; bits < TypeParam(HUGE_VALF).bits; ++bits) {
    const double low = this->value(bits), high = bits + 1 < TypeParam(HUGE_VALF).bits
                                                     ? this->value(static_cast<std::uint16_t>(bits + 1))
                                                     : 2 * low - this->value(static_cast<std::uint16_t>(bits - 1));
    const auto middle = static_cast<float>(low + (high - low) / 2);  // exact: a float has a bit to spare
    const auto upper = static_cast<std::uint16_t>(bits + 1), even = bits % 2 == 0 ? bits : upper;
    ASSERT_EQ(TypeParam(middle).bits, even) << low;
    ASSERT_EQ(TypeParam(-middle).bits, even | 0x8000) << low;
    ASSERT_EQ(TypeParam(std::nextafter(middle, 0.f)).bits, bits) << low;
    ASSERT_EQ(TypeParam(std::nextafter(middle, HUGE_VALF)).bits, upper) << low;
  }
}

TYPED_TEST(HalfTest, LimitsAreThoseOfTheFormat) {
  using Limits = std::numeric_limits<TypeParam>;
  EXPECT_EQ(static_cast<double>(Limits::max()),
            std::ldexp(2 - std::ldexp(1, 1 - Limits::digits), Limits::max_exponent - 1));
  EXPECT_EQ(static_cast<double>(Limits::lowest()), -static_cast<double>(Limits::max()));
  EXPECT_EQ(static_cast<double>(Limits::min()), std::ldexp(1, Limits::min_exponent - 1));
  EXPECT_EQ(static_cast<double>(Limits::denorm_min()), std::ldexp(1, Limits::min_exponent - Limits::digits));
  EXPECT_EQ(static_cast<double>(Limits::epsilon()), std::ldexp(1, 1 - Limits::digits));
  EXPECT_TRUE(std::isinf(Limits::infinity()) && std::isnan(Limits::quiet_NaN()) && std::isnan(Limits::signaling_NaN()));
}

TEST(Half, IsKnownAtCompileTime) {
  static_assert(half(1.5f).bits == 0x3E00 && half(65520.f).bits == 0x7C00 && half(0x1p-24f).bits == 1);
  static_assert(bfloat16(1.5f).bits == 0x3FC0 && static_cast<float>(bfloat16(3.f)) == 3.f);
  static_assert(std::is_trivial_v<half> && sizeof(half) == 2 && std::is_trivial_v<bfloat16> && sizeof(bfloat16) == 2);
}

}  // namespace

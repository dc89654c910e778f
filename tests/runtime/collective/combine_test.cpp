// Combining on the host: every pair of special numbers in either order, in every dtype.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

#include <runtime/collective/combine.hpp>

namespace {

namespace sn = sinter;
namespace runtime = sn::runtime;
using runtime::ReduceOp;

constexpr ReduceOp all_ways[] = {ReduceOp::Sum, ReduceOp::Product, ReduceOp::Maximum, ReduceOp::Minimum};

template <class T>
T with_payload(unsigned payload) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(0x7FC00000u + payload);
  else
    return std::bit_cast<T>(0x7FF8000000000000u + payload);
}

template <class T>
std::vector<T> specials() {
  using L = std::numeric_limits<T>;
  std::vector<T> all{T(0), T(1), L::max(), L::lowest(), L::min()};
  if constexpr (std::is_floating_point_v<T>)
    all.insert(all.end(), {T(-0.0), T(-1), L::infinity(), -L::infinity(), L::denorm_min(), with_payload<T>(1),
                           -with_payload<T>(2)});
  return all;
}

template <class T>
T combined(ReduceOp how, T a, T b) {
  T result;
  const std::byte* const both[] = {reinterpret_cast<const std::byte*>(&a), reinterpret_cast<const std::byte*>(&b)};
  runtime::combine(sn::dtype_of<T>, how, reinterpret_cast<std::byte*>(&result), both, 1);
  return result;
}

template <class T>
void expect_commutes(const std::vector<T>& values, ReduceOp how) {
  for (const T a : values)
    for (const T b : values) {
      const T x = combined(how, a, b), y = combined(how, b, a);
      EXPECT_EQ(std::memcmp(&x, &y, sizeof(T)), 0) << sn::name(sn::dtype_of<T>) << " " << static_cast<int>(how);
    }
}

TEST(ReduceOp, SwappingOperandsChangesNoBit) {
  for (const ReduceOp how : all_ways) {
    expect_commutes(specials<float>(), how);
    expect_commutes(specials<double>(), how);
    expect_commutes(specials<std::int8_t>(), how);
    expect_commutes(specials<std::int64_t>(), how);
    expect_commutes(std::vector<std::uint8_t>{0, 1, 255}, how);
  }
  std::vector<std::complex<float>> complex;
  for (const float re : specials<float>())
    for (const float im : specials<float>()) complex.emplace_back(re, im);
  expect_commutes(complex, ReduceOp::Sum);
}

TEST(ReduceOp, BoolIsOrAndAnd) {
  for (const bool a : {false, true})
    for (const bool b : {false, true}) {
      EXPECT_EQ(combined(ReduceOp::Sum, a, b), a || b);
      EXPECT_EQ(combined(ReduceOp::Maximum, a, b), a || b);
      EXPECT_EQ(combined(ReduceOp::Product, a, b), a && b);
      EXPECT_EQ(combined(ReduceOp::Minimum, a, b), a && b);
    }
}

TEST(ReduceOp, OverItsFirstOperand) {
  float a[] = {1, 2, 3};
  const float b[] = {10, 20, 30};
  const std::byte* const both[] = {reinterpret_cast<const std::byte*>(a), reinterpret_cast<const std::byte*>(b)};
  runtime::combine(sn::DType::Float32, ReduceOp::Sum, reinterpret_cast<std::byte*>(a), both, 3);
  EXPECT_EQ(std::vector<float>(a, a + 3), (std::vector<float>{11, 22, 33}));
}

TEST(ReduceOp, EveryHalfComesBack) {
  std::vector<float> wide;
  std::vector<sn::half> halves;
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    halves.push_back(sn::half::from_bits(static_cast<std::uint16_t>(bits)));
    wide.push_back(halves.back());
  }
  auto* const bytes = reinterpret_cast<std::byte*>(wide.data());
  runtime::narrow(sn::DType::Float16, bytes, bytes, 0x10000);  // in place
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    sn::half got;
    std::memcpy(&got, bytes + 2 * bits, 2);
    if (halves[bits] == halves[bits]) {
      ASSERT_EQ(got.bits, bits);
    }
  }
}

}  // namespace

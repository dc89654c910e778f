// Scans of lines that lie in memory in every way, and in pieces.
#include <jit/library/cpu_scan.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace sinter::jit::cpu {
namespace {

template <class T>
std::vector<T> scanned(const std::vector<T>& x, DType dtype, Scan what, std::int64_t outer, std::int64_t length,
                       std::int64_t inner) {
  std::vector<T> to(x.size());
  scan({reinterpret_cast<const std::byte*>(x.data()), dtype, outer, length, inner}, what,
       reinterpret_cast<std::byte*>(to.data()));
  return to;
}

TEST(CpuScan, LinesOfEveryLayout) {
  std::mt19937 random(1);
  for (const std::int64_t inner : {1, 2, 3, 63, 64, 65, 130})
    for (const std::int64_t outer : {1, 2, 3, 4, 5, 7, 9})
      for (const std::int64_t length : {1, 2, 5, 100}) {
        std::vector<std::int64_t> x(static_cast<std::size_t>(outer * length * inner));
        for (auto& v : x) v = static_cast<std::int64_t>(random());
        const auto found = scanned(x, DType::Int64, Scan::Sum, outer, length, inner);
        for (std::size_t i = 0; i < x.size(); ++i) {
          const std::size_t along = i / static_cast<std::size_t>(inner) % static_cast<std::size_t>(length);
          const std::int64_t before = along == 0 ? 0 : found[i - static_cast<std::size_t>(inner)];
          ASSERT_EQ(found[i], before + x[i]) << inner << " " << outer << " " << length << " " << i;
        }
      }
}

TEST(CpuScan, LongLinesInPieces) {
  std::mt19937 random(2);
  for (const std::int64_t n : {(1 << 17) - 1, 1 << 17, (1 << 17) + 1, (1 << 17) + (1 << 14), 150'000})
    for (const std::int64_t outer : {1, 3}) {
      std::vector<std::int64_t> x(static_cast<std::size_t>(outer * n));
      for (auto& v : x) v = static_cast<std::int64_t>(random());
      const auto found = scanned(x, DType::Int64, Scan::Sum, outer, n, 1);
      std::vector<std::int64_t> values(x.size()), indices(x.size());
      scan({reinterpret_cast<const std::byte*>(x.data()), DType::Int64, outer, n, 1}, Extreme::Max,
           reinterpret_cast<std::byte*>(values.data()), indices.data());
      std::int64_t sum = 0, largest = 0, where = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto along = static_cast<std::int64_t>(i) % n;
        if (along == 0) sum = 0, largest = -1;
        sum += x[i];
        if (x[i] >= largest) largest = x[i], where = along;
        ASSERT_EQ(found[i], sum) << n << " " << i;
        ASSERT_EQ(values[i], largest);
        ASSERT_EQ(indices[i], where);
      }
    }
}

/// 2^24 + 1 + 1 + ... stays 2^24 in float, and each half of a unit is lost in half.
TEST(CpuScan, AccumulatesWider) {
  std::vector<float> x(3, 1);
  x[0] = 0x1p24f;
  EXPECT_EQ(scanned(x, DType::Float32, Scan::Sum, 1, 3, 1)[2], 0x1p24f + 2);
  std::vector<half> h(3, half(1));
  h[0] = half(2048);
  EXPECT_EQ(static_cast<float>(scanned(h, DType::Float16, Scan::Sum, 1, 3, 1)[2]), 2050.f);
  std::vector<std::complex<float>> z(3, {1, 1});
  z[0] = {0x1p24f, 0};
  EXPECT_EQ(scanned(z, DType::Complex64, Scan::Sum, 1, 3, 1)[2], std::complex<float>(0x1p24f + 2, 2));
}

TEST(CpuScan, LogSumExpOfSpecialValues) {
  const float inf = INFINITY;
  const std::vector<float> found =
      scanned<float>({-inf, -inf, 0, 1000, -1000, inf, -inf, inf, NAN, 1}, DType::Float32, Scan::LogSumExp, 1, 10, 1);
  EXPECT_EQ(found[0], -inf);
  EXPECT_EQ(found[1], -inf);
  EXPECT_EQ(found[2], 0);
  EXPECT_EQ(found[3], 1000);
  EXPECT_EQ(found[4], 1000);
  EXPECT_EQ(found[5], inf);
  EXPECT_EQ(found[7], inf);
  EXPECT_TRUE(std::isnan(found[8]) && std::isnan(found[9]));
}

}  // namespace
}  // namespace sinter::jit::cpu

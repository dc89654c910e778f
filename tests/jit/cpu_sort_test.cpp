// Keys that have the order of the numbers, and rows sorted by them.
#include <jit/library/cpu_sort.hpp>
#include <jit/library/sort_keys.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace sinter::jit::cpu {
namespace {

template <class T>
bool below(T a, T b) {
  const auto x = static_cast<double>(a), y = static_cast<double>(b);
  return std::isnan(y) ? !std::isnan(x) : x < y;
}

template <class T>
void expect_keys_in_order(const std::vector<T>& numbers) {
  for (const T a : numbers)
    for (const T b : numbers)
      ASSERT_EQ(sort_key(a) < sort_key(b), below(a, b)) << static_cast<double>(a) << " " << static_cast<double>(b);
}

TEST(SortKeys, EveryNumberOf16Bits) {
  for (const bool brain : {false, true}) {
    // In the order of the numbers; a neighbour that is equal has an equal key.
    std::vector<float> numbers;
    const auto number_at = [&](std::uint32_t bits) {
      const auto b = static_cast<std::uint16_t>(bits);
      return brain ? static_cast<float>(bfloat16::from_bits(b)) : static_cast<float>(half::from_bits(b));
    };
    const auto key_at = [&](std::uint32_t bits) {
      const auto b = static_cast<std::uint16_t>(bits);
      return brain ? sort_key(bfloat16::from_bits(b)) : sort_key(half::from_bits(b));
    };
    std::vector<std::uint32_t> all(1 << 16);
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    std::sort(all.begin(), all.end(), [&](auto a, auto b) { return below(number_at(a), number_at(b)); });
    for (std::size_t i = 1; i < all.size(); ++i)
      ASSERT_EQ(key_at(all[i - 1]) < key_at(all[i]), below(number_at(all[i - 1]), number_at(all[i]))) << i;
    EXPECT_EQ(key_at(all.back()), 0xFFFF);
  }
}

TEST(SortKeys, OtherNumbers) {
  using Float = std::numeric_limits<float>;
  using Double = std::numeric_limits<double>;
  expect_keys_in_order<float>({0.f, -0.f, 1.f, -1.f, Float::infinity(), -Float::infinity(), NAN, -NAN, Float::max(),
                               Float::lowest(), Float::denorm_min(), -Float::denorm_min(), 1.5f});
  expect_keys_in_order<double>({0., -0., 1., -1., Double::infinity(), -Double::infinity(), static_cast<double>(NAN),
                                Double::max(), Double::lowest(), Double::denorm_min(), -Double::denorm_min()});
  expect_keys_in_order<bool>({false, true});
  expect_keys_in_order<std::uint8_t>({0, 1, 127, 128, 255});
  expect_keys_in_order<std::int8_t>({-128, -1, 0, 1, 127});
  expect_keys_in_order<std::int16_t>({-32768, -1, 0, 1, 32767});
  expect_keys_in_order<std::int32_t>({INT32_MIN, -1, 0, 1, INT32_MAX});
  EXPECT_LT(sort_key(INT64_MIN), sort_key(INT64_MIN + 1));
  EXPECT_LT(sort_key(std::int64_t{-1}), sort_key(std::int64_t{0}));
  EXPECT_LT(sort_key(INT64_MAX - 1), sort_key(INT64_MAX));
}

TEST(SortKeys, EntriesAreOrderedByKeyThenPosition) {
  EXPECT_LT(PackedEntry(1, 5), PackedEntry(1, 6));
  EXPECT_LT(PackedEntry(1, 0xFFFFFFFF), PackedEntry(2, 0));
  EXPECT_EQ(PackedEntry(0xFFFFFFFF, 0xFFFFFFFF).index(), 0xFFFFFFFF);
  EXPECT_EQ(PackedEntry(0xFFFFFFFF, 7).key(), 0xFFFFFFFF);
  EXPECT_LT(WideEntry(1, 5), WideEntry(1, 6));
  EXPECT_LT(WideEntry(1, 6), WideEntry(2, 0));
  EXPECT_FALSE(WideEntry(2, 0) < WideEntry(1, 6));
}

/// Around where comparing, passes over bytes, heaps and threads begin.
TEST(CpuSort, EveryWayOfSorting) {
  std::mt19937_64 random(1);
  for (const std::int64_t n : {1, 2, 511, 512, 513, 5000, 65535, 65536, 65537, 140'000})
    for (const std::int64_t most : {std::int64_t{3}, INT64_MAX})  // many equal ones; passes that have nothing to do
      for (const std::int64_t first : {std::int64_t{1}, n / 32, std::int64_t{1024}, n}) {
        if (first < 1 || first > n) continue;
        std::vector<std::int64_t> x;
        for (std::int64_t i = 0; i < n; ++i)
          x.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most)));
        std::vector<std::int64_t> values(static_cast<std::size_t>(first)), indices(values.size()), right(x.size());
        sort({reinterpret_cast<const std::byte*>(x.data()), DType::Int64, 1, n}, true, first,
             reinterpret_cast<std::byte*>(values.data()), indices.data());
        for (std::size_t i = 0; i < right.size(); ++i) right[i] = static_cast<std::int64_t>(i);
        const auto at = [&](std::int64_t i) { return x[static_cast<std::size_t>(i)]; };
        std::sort(right.begin(), right.end(),
                  [&](auto i, auto j) { return at(i) > at(j) || (at(i) == at(j) && i < j); });
        right.resize(values.size());
        ASSERT_EQ(indices, right) << n << " " << most << " " << first;
        for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], at(right[i]));
      }
}

TEST(CpuSort, PicksAreOfEachRow) {
  const std::vector<float> x = {3, 1, 2, NAN, 7, 5, NAN, NAN, NAN};
  const RowArray rows{reinterpret_cast<const std::byte*>(x.data()), DType::Float32, 3, 3};
  std::vector<float> values(3);
  std::vector<std::int64_t> indices(3);
  const auto picked = [&](Statistic statistic, std::int64_t position) {
    pick(rows, statistic, position, reinterpret_cast<std::byte*>(values.data()), indices.data());
    return indices;
  };
  using Three = std::vector<std::int64_t>;
  EXPECT_EQ(picked(Statistic::Kth, 0), (Three{1, 2, 0}));
  EXPECT_EQ(picked(Statistic::Kth, 2), (Three{0, 0, 2}));
  EXPECT_EQ(picked(Statistic::Median, 0), (Three{2, 0, 0}));
  EXPECT_EQ(picked(Statistic::NanMedian, 0), (Three{2, 2, 0}));
  EXPECT_EQ(values[1], 5);
}

}  // namespace
}  // namespace sinter::jit::cpu

#include <jit/plan/parameters.hpp>

#include <gtest/gtest.h>

#include <random>

#include "reference.hpp"

namespace sinter::testing {
namespace {

using jit::AccessPattern;
using jit::KernelClass;

/// The words of a nest of two dims whose inner extent is `d`.
std::vector<std::uint64_t> words_for(std::int64_t d, bool wide) {
  jit::LoopNest nest;
  nest.ndim = 2;
  nest.extents[0] = 1;
  nest.extents[1] = d;
  nest.numel = d;
  nest.operands.resize(1);
  const KernelClass c{2, 1, wide, false, {AccessPattern::Contiguous}};
  std::vector<std::uint64_t> words(jit::nest_word_count(c));
  EXPECT_EQ(jit::write_nest(words.data(), c, nest), words.data() + words.size());
  return words;
}

TEST(Parameters, DividersAreExact) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t d = i < 3000 ? i + 1 : 1 + static_cast<std::int64_t>(random() >> 33 >> random() % 31);
    const std::vector<std::uint64_t> words = words_for(d, false);
    ASSERT_EQ(words[2], static_cast<std::uint64_t>(d));
    const std::uint64_t multiplier = words[3] & 0xFFFFFFFF, shift = words[3] >> 32;
    const auto divide = [&](std::uint32_t a) {
      return static_cast<std::uint32_t>(static_cast<std::uint32_t>(a * multiplier >> 32) + a) >> shift;
    };
    for (const std::int64_t a :
         {std::int64_t{0}, d - 1, d, d + 1, std::int64_t{0x7FFFFFFF}, static_cast<std::int64_t>(random() >> 33),
          static_cast<std::int64_t>(random() >> 33) / d * d, static_cast<std::int64_t>(random() >> 33) / d * d - 1})
      if (a >= 0 && a <= 0x7FFFFFFF) {
        ASSERT_EQ(divide(static_cast<std::uint32_t>(a)), static_cast<std::uint32_t>(a / d)) << a << " / " << d;
      }
  }
}

TEST(Parameters, WideDividersAreExact) {
  __extension__ using Wide = unsigned __int128;
  std::mt19937_64 random(4);
  for (int i = 0; i < 20000; ++i) {
    const auto d = static_cast<std::int64_t>(1 + (random() >> 1 >> random() % 63));
    if (d < 0) continue;
    const std::vector<std::uint64_t> words = words_for(d, true);
    const auto divide = [&](std::int64_t a) {
      const auto high = static_cast<std::uint64_t>(static_cast<Wide>(static_cast<std::uint64_t>(a)) * words[3] >> 64);
      return (high + static_cast<std::uint64_t>(a)) >> words[4];
    };
    const auto any = static_cast<std::int64_t>(random() >> 1);
    for (const std::int64_t a : {std::int64_t{0}, d - 1, d, INT64_MAX, any, any / d * d, any / d * d - 1})
      if (a >= 0) {
        ASSERT_EQ(divide(a), static_cast<std::uint64_t>(a / d)) << a << " / " << d;
      }
  }
}

TEST(Parameters, WordsFollowTheOrderThatTheClassStates) {
  jit::LoopNest nest;
  nest.ndim = 2;
  nest.extents[0] = 5;
  nest.extents[1] = 12;
  nest.numel = 60;
  nest.operands.resize(4);
  for (std::size_t k = 0; k < 4; ++k) nest.operands[k].data = reinterpret_cast<std::byte*>(1000 * (k + 1));
  const std::int64_t strides[4][2] = {{12, 1}, {40, 1}, {7, 0}, {-3, 2}};
  for (std::size_t k = 0; k < 4; ++k) std::copy(strides[k], strides[k] + 2, nest.operands[k].strides);
  const KernelClass c{2,
                      4,
                      false,
                      false,
                      {AccessPattern::Contiguous, AccessPattern::InnerContiguous, AccessPattern::InnerBroadcast,
                       AccessPattern::Strided}};
  std::vector<std::uint64_t> words(jit::nest_word_count(c));
  ASSERT_EQ(jit::write_nest(words.data(), c, nest), words.data() + words.size());
  EXPECT_EQ(words[0], 1000u);
  EXPECT_EQ(words[3], 4000u);
  EXPECT_EQ(words[4], 60u);  // elements
  EXPECT_EQ(words[5], 12u);  // of a row
  const std::vector<std::int64_t> rest(words.begin() + 7, words.end());
  EXPECT_EQ(rest, (std::vector<std::int64_t>{40, 7, -3, 2}));
  EXPECT_EQ(jit::thread_count(c, nest), 15);
}

TEST(Parameters, GenericClassesPadOuterDims) {
  jit::LoopNest nest;
  nest.ndim = 1;
  nest.extents[0] = 9;
  nest.numel = 9;
  nest.operands.resize(1);
  nest.operands[0].strides[0] = -2;
  const KernelClass c{max_ndim, 1, true, true, {AccessPattern::Strided}};
  std::vector<std::uint64_t> words(jit::nest_word_count(c));
  ASSERT_EQ(jit::write_nest(words.data(), c, nest), words.data() + words.size());
  EXPECT_EQ(words[1], 9u);
  EXPECT_EQ(words[2], 9u);
  for (int d = 1; d < 7; ++d) EXPECT_EQ(words[2 + 3 * static_cast<std::size_t>(d)], 1u);
  EXPECT_EQ(static_cast<std::int64_t>(words.back()), -2);
  EXPECT_EQ(words[words.size() - 2], 0u);
}

TEST(Parameters, ScalarsConvertAsKernelsDo) {
  using jit::scalar_word;
  EXPECT_EQ(scalar_word(2.5, Category::Float, DType::Float32), test::to_bits(2.5f));
  EXPECT_EQ(scalar_word(0.1, Category::Float, DType::Float64), test::to_bits(0.1));
  EXPECT_EQ(scalar_word(std::int64_t{-1}, Category::Int, DType::Int32), 0xFFFFFFFFu);
  EXPECT_EQ(scalar_word(std::int64_t{-1}, Category::Int, DType::Float64), test::to_bits(-1.0));
  EXPECT_EQ(scalar_word(std::int64_t{1} << 40, Category::Int, DType::Int32), 0u);
  EXPECT_EQ(scalar_word(true, Category::Bool, DType::Float32), test::to_bits(1.0f));
  EXPECT_EQ(scalar_word(std::int64_t{7}, Category::Int, DType::Bool), 1u);
}

}  // namespace
}  // namespace sinter::testing

// Which scheme is chosen at which sizes.
#include <jit/plan/row_scheme.hpp>

#include <gtest/gtest.h>

#include <fstream>

#include "golden.hpp"
#include "row_kernels.hpp"

namespace sinter::testing {
namespace {

using jit::RowGrid;
using jit::RowScheme;
using jit::RowSizes;
using jit::RowTraits;

/// A line for each size: "16384 x 1024: ..."
std::string table(const RowTraits& traits, int width, bool row_per_element) {
  std::string out;
  for (const std::int64_t rows : {1, 16, 200, 4096, 1 << 20})
    for (const std::int64_t columns :
         {1, 2, 32, 33, 64, 129, 256, 1000, 1024, 1025, 4096, 5000, 16384, 32768, 40000, 57000, 100000, 1 << 24}) {
      if (rows * columns > std::int64_t{1} << 32) continue;
      const int fits = row_per_element ? width : columns % 8 == 0 ? width : 1;
      const RowScheme s = choose_rows(traits, {rows, columns, fits, row_per_element});
      const RowGrid g = row_grid(s, rows, columns);
      out += fmt::format("{:>7} x {:<8} width {} vectors {:<2} {:>7} row groups of {:<4} {}\n", rows, columns,
                         s.vector_width, s.config.vectors_per_thread, g.row_blocks, g.block,
                         describe(s, g, s.config.row_cache));
    }
  return out;
}

TEST(RowScheme, OfSoftmax) {
  RowKernel k("softmax");
  write_softmax(k, DType::Float32, DType::Float32);
  const RowTraits traits(k.done());
  EXPECT_EQ(traits.passes, 3);
  EXPECT_TRUE(traits.has_final_pass);
  EXPECT_EQ(traits.row_register_bytes, 4);
  EXPECT_EQ(traits.streams, 1);
  EXPECT_EQ(traits.partial_bytes, (std::vector{4, 4}));
  test::expect_golden("row_scheme_softmax.txt", table(traits, 4, false));
  test::expect_golden("row_scheme_softmax_row_per_element.txt", table(traits, 4, true));
}

TEST(RowScheme, OfSum) {
  RowKernel k("sum");
  write_sum(k, DType::Float32);
  const RowTraits traits(k.done());
  EXPECT_EQ(traits.passes, 1);
  EXPECT_FALSE(traits.has_final_pass);
  test::expect_golden("row_scheme_sum.txt", table(traits, 4, false));
  test::expect_golden("row_scheme_sum_row_per_element.txt", table(traits, 4, true));
}

TEST(RowScheme, OfNormOfHalves) {
  RowKernel k("norm");
  write_norm(k, DType::Float16, DType::Float32);
  const RowTraits traits(k.done());
  EXPECT_EQ(traits.passes, 3);
  EXPECT_EQ(traits.row_register_bytes, 4);  // as floats; the weights are read once as it is
  EXPECT_EQ(traits.streams, 2);
  test::expect_golden("row_scheme_norm_f16.txt", table(traits, 8, false));
}

TEST(RowScheme, OfTwoPasses) {
  RowKernel k("shares");
  const Operand x = k.leaf(DType::Float64);
  k.output(k.apply(Op::div, {x, k.apply(Op::sum, {x})}));
  const RowTraits traits(k.done());
  EXPECT_EQ(traits.passes, 2);
  test::expect_golden("row_scheme_shares_f64.txt", table(traits, 2, false));
  test::expect_golden("row_scheme_shares_f64_row_per_element.txt", table(traits, 2, true));
}

/// A block exchanges one partial result of each of its 32 warps, twice, through 40 KB of shared memory.
TEST(RowScheme, PartialResultsHaveRoom) {
  RowKernel k("sum");
  write_sum(k, DType::Float32);
  RowTraits traits(k.done());
  const auto team = [&](int bytes) {
    traits.partial_bytes = {bytes};
    traits.loop_partial_bytes = bytes;
    return choose_rows(traits, {.rows = 1, .columns = 100000, .vector_width = 4}).config.team;
  };
  EXPECT_EQ(team(640), 0) << "all threads of a block";
  EXPECT_EQ(team(641), 32) << "a warp";
}

/// Elements that no sum changes are written in the pass that computes the sum.
TEST(RowScheme, OfElementsBesideTheirSum) {
  const auto traits_of = [](Op function) {
    RowKernel k("elements");
    const Operand x = k.apply(function, {k.leaf(DType::Float32)});
    k.output(x);
    k.output(k.apply(Op::sum, {x}), AxisMapping::Rows);
    return RowTraits(k.done());
  };
  const RowTraits few = traits_of(Op::relu), many = traits_of(Op::gelu);
  for (const RowTraits& traits : {few, many}) {
    EXPECT_EQ(traits.passes, 1);
    EXPECT_FALSE(traits.has_final_pass);
  }
  EXPECT_EQ(choose_rows(few, {1024, 16384, 4, true}).config.block, 1024);
  EXPECT_EQ(choose_rows(many, {1024, 16384, 4, true}).config.block, 512);
}

TEST(RowScheme, OfAFunctionOfTheSum) {
  RowKernel k("scaled");
  const Operand x = k.leaf(DType::Float32);
  k.output(k.apply(Op::mul, {x, k.apply(Op::rsqrt, {k.apply(Op::sum, {x})})}));
  const RowTraits traits(k.done());
  EXPECT_TRUE(traits.has_final_pass);
  EXPECT_EQ(choose_rows(traits, {1024, 16384, 4, true}).config.block, 1024);
}

/// Every thread that a row needs is there, and every split has vectors.
TEST(RowScheme, OfMoreColumnsThanAnIntCounts) {
  RowKernel k("sum");
  write_sum(k, DType::Float32);
  const RowTraits traits(k.done());
  for (const std::int64_t columns : {std::int64_t{1} << 33, std::int64_t{1} << 36})
    EXPECT_GT(choose_rows(traits, {32, columns, 1, true}).config.team, 0);
}

TEST(RowScheme, CoversTheRow) {
  RowTraits few, many, wide;
  few.passes = 1, few.partial_bytes = {8};
  many.passes = 4, many.row_register_bytes = 40, many.partial_bytes = {16, 16, 128};
  wide.passes = 2, wide.partial_bytes = {4000};
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const RowTraits& traits = i % 3 == 0 ? few : i % 3 == 1 ? many : wide;
    const auto size = [&] { return static_cast<std::int64_t>(random() >> (33 + random() % 31)); };
    const RowSizes sizes{size(), size(), 1 << random() % 4, random() % 2 == 0};
    const RowScheme s = choose_rows(traits, sizes);
    const RowGrid g = row_grid(s, sizes.rows, sizes.columns);
    const jit::RowConfig& t = s.config;
    SCOPED_TRACE(::testing::Message() << sizes.rows << " x " << sizes.columns << ": " << describe(s, g));
    ASSERT_EQ(t.row_per_element, sizes.row_per_element);
    ASSERT_LE(s.vector_width, sizes.vector_width);
    ASSERT_LE(g.block, static_cast<unsigned>(t.block));
    ASSERT_TRUE(t.team <= t.block && g.block % 32 == 0 && g.block <= 1024);
    const std::int64_t vectors = t.row_per_element ? sizes.columns : sizes.columns / s.vector_width;
    const std::int64_t team = t.team ? t.team : g.block;
    ASSERT_EQ(t.tail, !t.row_per_element && sizes.columns % s.vector_width != 0);
    if (t.in_registers) {
      ASSERT_GE(team * t.vectors_per_thread, vectors);
      ASSERT_FALSE(t.split);
    }
    ASSERT_GE(g.row_blocks * (t.team ? t.block / t.team : 1) * (t.row_per_element ? s.vector_width : 1), sizes.rows);
    if (t.split) {
      ASSERT_GE(g.splits * g.vectors_per_split, vectors);
      ASSERT_LT((g.splits - 1) * g.vectors_per_split, std::max<std::int64_t>(vectors, 1));
    }
    int parts = 0;
    for (const int bytes : traits.partial_bytes) parts += bytes;
    const int shared = t.row_per_element ? (t.team > 1 ? s.vector_width * t.block * parts : 0)
                       : t.team == 0     ? 32 * parts
                                         : 0;
    ASSERT_LE(shared, 48 << 10);
  }
}

}  // namespace
}  // namespace sinter::testing

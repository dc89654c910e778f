// Sums that are computed in the same pass as the reduction that they depend on: which ones, and that special values and
// accuracy are those of a separate pass.
#include <jit/plan/online_sums.hpp>

#include <gtest/gtest.h>

#include <limits>

#include <jit/plan/row_passes.hpp>
#include "row_kernels.hpp"

namespace sinter::testing {
namespace {

using jit::Executable;
using jit::OnlineSum;
using jit::RowStages;

Operand mean_of(RowKernel& k, Operand x, DType t) {
  return k.apply(Op::div, {k.apply(Op::sum, {x}), k.cast(k.apply(Op::count, {x}), t)});
}
Operand finite_of(RowKernel& k, Operand x, DType t) {
  return k.apply(Op::where, {k.apply(Op::isfinite, {x}), x, k.number(t, 0)});
}
Operand sum_of_exp(RowKernel& k, Operand x, Operand shift) {
  return k.apply(Op::sum, {k.apply(Op::exp, {k.apply(Op::sub, {x, shift})})});
}
Operand sum_of_squares(RowKernel& k, Operand x, Operand shift) {
  const Operand d = k.apply(Op::sub, {x, shift});
  return k.apply(Op::sum, {k.apply(Op::mul, {d, d})});
}

TEST(OnlineSums, AreKnownByTheirGraph) {
  RowKernel k("patterns");
  const DType t = DType::Float32;
  const Operand x = k.cast(k.leaf(DType::BFloat16), t), twice = k.apply(Op::add, {x, x});
  const Operand most = k.apply(Op::amax, {x}), mean = mean_of(k, x, t), finite = finite_of(k, most, t);
  const auto kind = [&](Operand sum) {
    const auto found = online_sum(k.graph(), sum);
    return found ? std::optional(found->kind) : std::nullopt;
  };
  EXPECT_EQ(kind(sum_of_exp(k, x, most)), OnlineSum::Kind::Exponentials);
  EXPECT_EQ(kind(sum_of_exp(k, x, finite)), OnlineSum::Kind::Exponentials);
  EXPECT_EQ(kind(sum_of_squares(k, x, mean)), OnlineSum::Kind::Squares);
  EXPECT_EQ(online_sum(k.graph(), sum_of_exp(k, x, finite))->base, most);
  EXPECT_EQ(kind(sum_of_exp(k, twice, most)), std::nullopt);
  EXPECT_EQ(kind(sum_of_exp(k, x, k.apply(Op::amin, {x}))), std::nullopt);
  EXPECT_EQ(kind(sum_of_exp(k, x, mean)), std::nullopt);
  EXPECT_EQ(kind(sum_of_squares(k, twice, mean)), std::nullopt);
  EXPECT_EQ(kind(sum_of_squares(k, x, most)), std::nullopt);
  EXPECT_EQ(kind(k.apply(Op::sum, {k.apply(Op::exp, {x})})), std::nullopt);
  EXPECT_EQ(kind(most), std::nullopt);
  EXPECT_EQ(kind(x), std::nullopt);
}

TEST(OnlineSums, SpareAStage) {
  RowKernel k("softmax");
  write_softmax(k, DType::Float32, DType::Float32);
  const Kernel& kernel = k.done();
  EXPECT_EQ(RowStages(kernel).count, 2);
  EXPECT_EQ(RowStages(kernel, true).count, 1);
  const jit::RowPasses passes(kernel, true);
  EXPECT_EQ(passes.passes.size(), 2u);
  EXPECT_EQ(passes.reads(0), 2);
  EXPECT_EQ(partial_size(passes, 0, false), 8);
}

/// What explain() counts.
TEST(OnlineSums, SpareALaunchWhereBlocksShareRows) {
  const Overridden w({{.block = 128, .vectors_per_thread = 2, .split = true}, 4, 32});
  RowKernel k("softmax_shared");
  write_softmax(k, DType::Float32, DType::Float32);
  const Executable e(k.done());
  const TensorRef x = runtime::empty(Shape{1, 5000}, DType::Float32, Device());
  TensorImpl* const operands[] = {x.get(), x.get()};
  const jit::RowReport plan = e.row_report(row_nest(e.kernel(), operands, {1, 5000}), true, Device());
  EXPECT_EQ(plan.launches, 2);
  EXPECT_TRUE(plan.rereads);
}

TEST(OnlineSums, StayWhereAStageHasOthers) {
  RowKernel k("mixed");
  const DType t = DType::Float32;
  const Operand x = k.leaf(t), most = k.apply(Op::amax, {x}), mean = mean_of(k, x, t);
  k.output(sum_of_exp(k, x, most), AxisMapping::Rows);
  k.output(k.apply(Op::sum, {k.apply(Op::abs, {k.apply(Op::sub, {x, mean})})}), AxisMapping::Rows);
  EXPECT_EQ(RowStages(k.done(), true).count, 2);
}

/// Of a stage that has become one with the one before it, another does not.
TEST(OnlineSums, OfThreeStagesTwoAreLeft) {
  RowKernel k("three");
  const DType t = DType::Float32;
  const Operand x = k.leaf(t), squares = sum_of_squares(k, x, mean_of(k, x, t));
  const Operand y = k.apply(Op::mul, {x, squares});
  k.output(sum_of_exp(k, y, k.apply(Op::amax, {y})), AxisMapping::Rows);
  const Kernel& kernel = k.done();
  EXPECT_EQ(RowStages(kernel).count, 4);
  EXPECT_EQ(RowStages(kernel, true).count, 2);
}

/// They may be in the place of the elements that the sums read twice.
TEST(OnlineSums, ElementsBesideThemTakeAFinalPass) {
  RowKernel k("elements_beside_online_sums");
  const Operand x = k.leaf(DType::Float32);
  k.output(k.apply(Op::exp, {x}));
  k.output(sum_of_exp(k, x, k.apply(Op::amax, {x})), AxisMapping::Rows);
  const Kernel& kernel = k.done();
  EXPECT_EQ(RowStages(kernel).count, 2);
  EXPECT_FALSE(RowStages(kernel).has_final_pass);
  EXPECT_EQ(RowStages(kernel, true).count, 1);
  EXPECT_TRUE(RowStages(kernel, true).has_final_pass);
}

class Online : public ::testing::TestWithParam<NamedOverride> {
 protected:
  void SetUp() override {
    if (test_devices().size() < 2) GTEST_SKIP() << "no GPU";
  }
};

constexpr int kinds = 10;
/// Rows that are hard: of each kind one.
double value_of(int kind, std::int64_t c, std::int64_t columns, std::mt19937_64& random) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double noise = static_cast<double>(random() % 2001) / 1000 - 1;
  switch (kind) {
    case 1: return -inf;
    case 2: return c == columns - 1 ? -1000 : -inf;
    case 3: return c == columns / 2 ? inf : noise;
    case 4: return c == columns - 1 ? std::numeric_limits<double>::quiet_NaN() : noise;
    case 5: return static_cast<double>(c) / 2;
    case 6: return static_cast<double>(columns - c) / 2 - 2000;
    case 7: return 32500;
    case 8: return 1e4 + noise;
    case 9: return c == 0 ? 1e4 : noise;
    default: return 10 * noise;
  }
}

struct Sums {
  double exponentials = 0, about_finite = 0, squares = 0;
};
template <class T>
Sums reference(std::span<const T> row) {
  double most = static_cast<double>(row[0]);
  long double sum = 0;
  for (const T v : row) {
    const auto x = static_cast<double>(v);
    most = most != most || most > x ? most : x;
    sum += x;
  }
  const long double mean = sum / static_cast<long double>(row.size());
  Sums s;
  for (const T v : row) {
    const auto x = static_cast<double>(v);
    s.exponentials += std::exp(x - most);
    s.about_finite += std::exp(x - (std::isfinite(most) ? most : 0));
    s.squares += static_cast<double>((x - mean) * (x - mean));
  }
  return s;
}

void expect_close(double got, double want, double error) {
  if (std::isfinite(want))
    ASSERT_NEAR(got, want, error * want);
  else
    ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << got << ", not " << want;
}

template <class T, class R>
void test_sums(const NamedOverride& named, double error) {
  const Overridden w(named.chosen);
  const DType compute = dtype_of<R>;
  RowKernel k(fmt::format("online_{}", name(dtype_of<T>)));
  const Operand x = k.cast(k.leaf(dtype_of<T>), compute), most = k.apply(Op::amax, {x});
  k.output(sum_of_exp(k, x, most), AxisMapping::Rows);
  k.output(sum_of_exp(k, x, finite_of(k, most, compute)), AxisMapping::Rows);
  k.output(sum_of_squares(k, x, mean_of(k, x, compute)), AxisMapping::Rows);
  const Executable e(k.done());
  ASSERT_EQ(RowStages(e.kernel(), true).count, 1);
  constexpr std::int64_t rows = 12;
  std::mt19937_64 random(11);
  const bool all = std::is_same_v<T, float>;
  for (const std::int64_t columns :
       all ? std::vector<std::int64_t>{1, 33, 128, 1025} : std::vector<std::int64_t>{33, 1025}) {
    std::vector<T> values;
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c)
        values.push_back(T(static_cast<R>(value_of(static_cast<int>(r) % kinds, c, columns, random))));
    std::vector<TensorRef> operands;
    for (int o = 0; o < 3; ++o) operands.push_back(runtime::empty(Shape{rows}, compute, test_devices()[1]));
    operands.push_back(matrix(values, rows, columns, named.chosen.config.row_per_element, test_devices()[1]));
    run_rows(e, operands, {rows, columns});
    std::vector<R> got[3];
    for (std::size_t o = 0; o < 3; ++o) got[o] = download<R>(operands[o]);
    for (std::size_t r = 0; r < rows; ++r) {
      SCOPED_TRACE(::testing::Message() << "row " << r << " of " << columns);
      const auto n = static_cast<std::size_t>(columns);
      const Sums want = reference(std::span<const T>(values).subspan(r * n, n));
      expect_close(got[0][r], want.exponentials, error);
      expect_close(got[1][r], want.about_finite, error);
      expect_close(got[2][r], want.squares, error);
    }
  }
}

TEST_P(Online, OfFloats) { test_sums<float, float>(GetParam(), 1e-6); }
TEST_P(Online, OfHalves) { test_sums<half, float>(GetParam(), 1e-6); }
TEST_P(Online, OfBFloats) { test_sums<bfloat16, float>(GetParam(), 1e-6); }
TEST_P(Online, OfDoubles) { test_sums<double, double>(GetParam(), 2e-13); }

/// The schemes that do not keep a row.
std::vector<NamedOverride> loops() {
  std::vector<NamedOverride> found;
  for (const NamedOverride& w : overrides)
    if (!w.chosen.config.in_registers) found.push_back(w);
  return found;
}
INSTANTIATE_TEST_SUITE_P(Schemes, Online, ::testing::ValuesIn(loops()), [](const auto& i) { return i.param.name; });

/// A mean that is large next to what varies, and values far from all others where a pivot comes from.
TEST(OnlineSums, SquaresOfLongRows) {
  if (test_devices().size() < 2) GTEST_SKIP() << "no GPU";
  RowKernel k("squares_of_long_rows");
  const Operand x = k.leaf(DType::Float32);
  k.output(sum_of_squares(k, x, mean_of(k, x, DType::Float32)), AxisMapping::Rows);
  const Executable e(k.done());
  std::mt19937_64 random(12);
  for (const std::int64_t rows : {4, 400})
    for (const std::int64_t columns : {40001, 100000}) {
      if (rows == 400 && columns == 100000) continue;
      std::vector<float> values;
      for (std::int64_t i = 0; i < rows * columns; ++i) {
        const double noise = static_cast<double>(random() % 20001) / 10000 - 1;
        const bool far = i / columns % 2 == 1 && i % columns < 16;
        values.push_back(static_cast<float>(far ? 1e6 : i / columns % 2 == 0 ? 1e4 + noise : noise));
      }
      const TensorRef out = runtime::empty(Shape{rows}, DType::Float32, test_devices()[1]);
      run_rows(e, {out, matrix(values, rows, columns, false, test_devices()[1])}, {rows, columns});
      const std::vector<float> got = download<float>(out);
      for (std::int64_t r = 0; r < rows; r += rows / 4 + 1)
        for (const std::int64_t row : {r, r + 1}) {
          if (row >= rows) continue;
          const auto n = static_cast<std::size_t>(columns);
          const Sums want = reference(std::span<const float>(values).subspan(static_cast<std::size_t>(row) * n, n));
          EXPECT_NEAR(got[static_cast<std::size_t>(row)], want.squares, 5e-7 * want.squares) << row << ' ' << columns;
        }
    }
}

}  // namespace
}  // namespace sinter::testing

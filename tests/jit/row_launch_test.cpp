// Kernels that reduce on a GPU: every scheme at every kind of size, against references written here.
#include <jit/run/executable.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "row_kernels.hpp"

namespace sinter::testing {
namespace {

using jit::Executable;

std::vector<float> some_values(std::int64_t n, std::mt19937_64& random) {
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& v : values) v = static_cast<float>(static_cast<double>(random() % 20001) / 1000 - 10);
  return values;
}

std::span<const float> row_of(const std::vector<float>& x, std::int64_t row, std::int64_t columns) {
  return std::span(x).subspan(static_cast<std::size_t>(row * columns), static_cast<std::size_t>(columns));
}

void expect_softmax(std::span<const float> x, std::span<const float> y) {
  double most = -INFINITY, sum = 0;
  for (const float v : x) most = std::max(most, double{v});
  for (const float v : x) sum += std::exp(v - most);
  for (std::size_t c = 0; c < x.size(); ++c) {
    const double expected = std::exp(x[c] - most) / sum;
    ASSERT_NEAR(y[c], expected, 2e-6 * expected + 1e-12) << "column " << c;
  }
}

class RowLaunch : public ::testing::TestWithParam<NamedOverride> {
 protected:
  void SetUp() override {
    if (test_devices().size() < 2) GTEST_SKIP() << "no GPU";
  }
};

/// Two stages and a pass that writes; every second size in place.
TEST_P(RowLaunch, Softmax) {
  const Overridden w(GetParam().chosen);
  const bool row_per_element = GetParam().chosen.config.row_per_element;
  RowKernel k("softmax_f32");
  write_softmax(k, DType::Float32, DType::Float32);
  const Executable e(k.done());
  std::mt19937_64 random(1);
  for (const std::int64_t columns : {1, 31, 128, 129})
    for (const std::int64_t rows : {0, 1, 2, 35}) {
      SCOPED_TRACE(::testing::Message() << rows << " rows of " << columns);
      const std::vector<float> x = some_values(rows * columns, random);
      const TensorRef in = matrix(x, rows, columns, row_per_element, test_devices()[1]),
                      out = rows == 2 ? in : matrix(x, rows, columns, row_per_element, test_devices()[1]);
      run_rows(e, {out, in}, {rows, columns}, rows == 2);
      const std::vector<float> y = by_rows<float>(out);
      for (std::int64_t r = 0; r < rows; ++r) expect_softmax(row_of(x, r, columns), row_of(y, r, columns));
    }
}

INSTANTIATE_TEST_SUITE_P(Schemes, RowLaunch, ::testing::ValuesIn(overrides),
                         [](const auto& i) { return i.param.name; });

/// What choose_rows gives by itself, at the sizes where it changes.
TEST(RowLaunchChoice, SoftmaxOfLongRows) {
  if (test_devices().size() < 2) GTEST_SKIP() << "no GPU";
  RowKernel k("softmax_of_long_rows_f32");
  write_softmax(k, DType::Float32, DType::Float32);
  const Executable e(k.done());
  std::mt19937_64 random(2);
  for (const std::int64_t columns : {1023, 1024, 4096, 4097, 32768, 100000}) {
    const std::int64_t rows = columns < 5000 ? 3 : 1;
    SCOPED_TRACE(::testing::Message() << columns << " columns");
    const std::vector<float> x = some_values(rows * columns, random);
    const TensorRef in = matrix(x, rows, columns, false, test_devices()[1]),
                    out = matrix(x, rows, columns, false, test_devices()[1]);
    run_rows(e, {out, in}, {rows, columns});
    const std::vector<float> y = by_rows<float>(out);
    for (std::int64_t r = 0; r < rows; ++r) expect_softmax(row_of(x, r, columns), row_of(y, r, columns));
  }
}

/// Rows that a block keeps, of which some inputs are read once as it is.
TEST(RowLaunchChoice, NormOfLongRows) {
  if (test_devices().size() < 2) GTEST_SKIP() << "no GPU";
  RowKernel k("norm_of_long_rows_f32");
  write_norm(k, DType::Float32, DType::Float32);
  const Executable e(k.done());
  std::mt19937_64 random(5);
  for (const std::int64_t columns : {4096, 32768}) {
    const std::vector<float> x = some_values(2 * columns, random), weights = some_values(columns, random);
    const TensorRef out = matrix(x, 2, columns, false, test_devices()[1]),
                    means = runtime::empty(Shape{2}, DType::Float32, test_devices()[1]);
    run_rows(
        e, {out, means, matrix(x, 2, columns, false, test_devices()[1]), upload(weights, {columns}, test_devices()[1])},
        {2, columns});
    const std::vector<float> y = by_rows<float>(out);
    for (std::int64_t r = 0; r < 2; ++r) {
      double mean = 0, var = 0;
      for (const float v : row_of(x, r, columns)) mean += v / static_cast<double>(columns);
      for (const float v : row_of(x, r, columns)) var += (v - mean) * (v - mean) / static_cast<double>(columns);
      for (std::int64_t c = 0; c < columns; ++c) {
        const double want = (row_of(x, r, columns)[static_cast<std::size_t>(c)] - mean) / std::sqrt(var + 1e-5) *
                            weights[static_cast<std::size_t>(c)];
        ASSERT_NEAR(y[static_cast<std::size_t>(r * columns + c)], want, 1e-5 * (std::fabs(want) + 1)) << r << ' ' << c;
      }
    }
  }
}

/// A sum of n equal terms and a large one is within a few units of the last place whatever n.
TEST(RowLaunchChoice, SumsLoseLittle) {
  if (test_devices().size() < 2) GTEST_SKIP() << "no GPU";
  RowKernel k("sum_of_long_rows_f32");
  write_sum(k, DType::Float32);
  const Executable e(k.done());
  for (const std::int64_t columns : {0, 1, 4095, 70001, 1 << 20}) {
    std::vector<float> x(static_cast<std::size_t>(columns), 0.1f);
    if (columns > 1) x[0] = 1e4f;
    double sum = 0;
    for (const float v : x) sum += v;
    const TensorRef out = runtime::empty(Shape{1}, DType::Float32, test_devices()[1]);
    run_rows(e, {out, matrix(x, 1, columns, false, test_devices()[1])}, {1, columns});
    EXPECT_NEAR(download<float>(out)[0], sum, 4 * 6e-8 * sum) << columns;
  }
}

TEST(RowLaunchChoice, SumOfColumns) {
  if (test_devices().size() < 2) GTEST_SKIP() << "no GPU";
  RowKernel k("sum_of_columns_f32");
  write_sum(k, DType::Float32);
  const Executable e(k.done());
  std::mt19937_64 random(3);
  for (const std::int64_t rows : {33, 1000})
    for (const std::int64_t columns : {1, 4, 129, 5000}) {
      SCOPED_TRACE(::testing::Message() << rows << " sums of " << columns);
      const std::vector<float> x = some_values(rows * columns, random);
      const TensorRef out = runtime::empty(Shape{rows}, DType::Float32, test_devices()[1]);
      run_rows(e, {out, matrix(x, rows, columns, true, test_devices()[1])}, {rows, columns});
      const std::vector<float> y = download<float>(out);
      for (std::int64_t r = 0; r < rows; ++r) {
        double sum = 0, of_sizes = 0;
        for (const float v : row_of(x, r, columns)) sum += v, of_sizes += std::fabs(v);
        ASSERT_NEAR(y[static_cast<std::size_t>(r)], sum, 20 * 6e-8 * of_sizes) << r;
      }
    }
}

TEST(RowLaunchChoice, TheSameBitsEachTime) {
  if (test_devices().size() < 2) GTEST_SKIP() << "no GPU";
  RowKernel k("sum_again_f32");
  write_sum(k, DType::Float32);
  const Executable e(k.done());
  std::mt19937_64 random(4);
  const TensorRef in = matrix(some_values(300000, random), 3, 100000, false, test_devices()[1]);
  std::vector<float> first;
  for (int i = 0; i < 3; ++i) {
    const TensorRef out = runtime::empty(Shape{3}, DType::Float32, test_devices()[1]);
    run_rows(e, {out, in}, {3, 100000});
    if (i == 0) first = download<float>(out);
    EXPECT_EQ(download<float>(out), first);
  }
}

}  // namespace
}  // namespace sinter::testing

// Every reduction, dtype and kind of operand in kernels that reduce on a GPU.
#include <jit/run/executable.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include <sinter/runtime/error.hpp>
#include "row_kernels.hpp"

namespace sinter::testing {
namespace {

using jit::Executable;

class RowKinds : public ::testing::TestWithParam<NamedOverride> {
 protected:
  void SetUp() override {
    if (test_devices().size() < 2) GTEST_SKIP() << "no GPU";
  }
  bool row_per_element() const { return GetParam().chosen.config.row_per_element; }
};

template <class T>
struct Expected {
  T most, least;
  std::int64_t at_most = 0, at_least = 0;
  bool any = false, all = true;
  std::uint64_t sum = 0, product = 1;
};

template <class T>
Expected<T> expected(std::span<const T> row) {
  Expected<T> e{row[0], row[0]};
  for (std::size_t i = 0; i < row.size(); ++i) {
    const T v = row[i];
    const auto at = static_cast<std::int64_t>(i);
    if (e.most == e.most && (v != v || v > e.most)) e.most = v, e.at_most = at;
    if (e.least == e.least && (v != v || v < e.least)) e.least = v, e.at_least = at;
    e.any |= v != T(0);
    e.all &= v != T(0);
    if constexpr (std::is_integral_v<T>) {
      e.sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(v));
      e.product *= static_cast<std::uint64_t>(static_cast<std::int64_t>(v));
    }
  }
  return e;
}

template <class T>
void test_all(const NamedOverride& named, const std::vector<T>& few, bool with_sums) {
  const Overridden w(named.chosen);
  constexpr DType dtype = dtype_of<T>;
  RowKernel k(fmt::format("all_{}", name(dtype)));
  const Operand x = k.leaf(dtype), zero = k.number(dtype, 0);
  const Operand filled = k.apply(Op::ne, {x, zero});
  for (const Op op : {Op::amax, Op::amin, Op::argmax, Op::argmin}) k.output(k.apply(op, {x}), AxisMapping::Rows);
  k.output(k.apply(Op::any, {filled}), AxisMapping::Rows);
  k.output(k.apply(Op::all, {filled}), AxisMapping::Kept);
  k.output(k.apply(Op::count, {x}), AxisMapping::Rows);
  const Operand wide = with_sums ? k.cast(x, DType::Int64) : x;
  if (with_sums)
    k.output(k.apply(Op::sum, {wide}), AxisMapping::Rows), k.output(k.apply(Op::prod, {wide}), AxisMapping::Rows);
  const Kernel& kernel = k.done();
  const Executable e(kernel);
  std::mt19937_64 random(7);
  for (const std::int64_t columns : {33, 132})
    for (const std::int64_t rows : {1, 9}) {
      SCOPED_TRACE(::testing::Message() << rows << " rows of " << columns);
      std::vector<T> values(static_cast<std::size_t>(rows * columns));
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto row = i / static_cast<std::size_t>(columns);
        values[i] = few[random() % (row % 3 == 0 ? few.size() : row % 3 == 1 ? 2 : 1)];
      }
      std::vector<TensorRef> operands;
      for (std::size_t o = 0; o < kernel.outputs.size(); ++o) {
        const DType t = kernel.graph[kernel.graph.outputs()[o]].dtype;
        operands.push_back(runtime::empty(o == 5 ? Shape{rows, 1} : Shape{rows}, t, test_devices()[1]));
      }
      operands.push_back(matrix(values, rows, columns, named.chosen.config.row_per_element, test_devices()[1]));
      run_rows(e, operands, {rows, columns});
      std::vector<std::vector<std::uint64_t>> got;
      for (std::size_t o = 0; o < kernel.outputs.size(); ++o) got.push_back(values_of(*operands[o]));
      for (std::int64_t r = 0; r < rows; ++r) {
        const auto i = static_cast<std::size_t>(r);
        const auto want = expected(std::span<const T>(values).subspan(i * static_cast<std::size_t>(columns),
                                                                      static_cast<std::size_t>(columns)));
        ASSERT_TRUE(same_value(dtype, got[0][i], test::to_bits(want.most))) << "amax of row " << r;
        ASSERT_TRUE(same_value(dtype, got[1][i], test::to_bits(want.least))) << "amin of row " << r;
        ASSERT_EQ(static_cast<std::int64_t>(got[2][i]), want.at_most) << "argmax of row " << r;
        ASSERT_EQ(static_cast<std::int64_t>(got[3][i]), want.at_least) << "argmin of row " << r;
        ASSERT_EQ(got[4][i], want.any) << "any of row " << r;
        ASSERT_EQ(got[5][i], want.all) << "all of row " << r;
        ASSERT_EQ(static_cast<std::int64_t>(got[6][i]), columns);
        if (!with_sums) continue;
        ASSERT_EQ(got[7][i], want.sum) << "sum of row " << r;
        ASSERT_EQ(got[8][i], want.product) << "prod of row " << r;
      }
    }
}

TEST_P(RowKinds, AllOfFloats) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  test_all<float>(GetParam(), {-inf, 1.5f, std::numeric_limits<float>::quiet_NaN(), inf, 0, -2, 3}, false);
}

TEST_P(RowKinds, AllOfInts) {
  test_all<std::int32_t>(GetParam(), {std::numeric_limits<int>::min(), 3, std::numeric_limits<int>::max(), 0, 7}, true);
}

TEST_P(RowKinds, AllOfLongs) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  test_all<std::int64_t>(GetParam(), {-most - 1, 3, most, 0, 1ll << 40}, true);
}

TEST_P(RowKinds, AllOfDoubles) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  test_all<double>(GetParam(), {-inf, 1 + 1e-15, std::numeric_limits<double>::quiet_NaN(), inf, 0, -1e300, 1}, false);
}

std::vector<double> means_of(const TensorRef& t) {
  if (t->dtype == DType::Float64) return download<double>(t);
  const std::vector<float> means = download<float>(t);
  return {means.begin(), means.end()};
}

/// Two stages, weights of columns, the mean as an output of rows; from and to memory in a dtype with so much error.
template <class T>
void test_norm(const NamedOverride& named, DType compute, double error) {
  const Overridden w(named.chosen);
  const bool row_per_element = named.chosen.config.row_per_element;
  RowKernel k(fmt::format("norm_{}", name(dtype_of<T>)));
  write_norm(k, dtype_of<T>, compute);
  const Executable e(k.done());
  std::mt19937_64 random(8);
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{3, 33}, {34, 40}, {2, 264}}) {
    std::vector<T> x(static_cast<std::size_t>(rows * columns)), weights(static_cast<std::size_t>(columns));
    for (T& v : x) v = T(static_cast<float>(random() % 2001) / 1000 - 1);
    for (T& v : weights) v = T(static_cast<float>(random() % 17) / 16);
    const TensorRef out = matrix(x, rows, columns, row_per_element, test_devices()[1]),
                    means = runtime::empty(Shape{rows}, compute, test_devices()[1]);
    run_rows(e,
             {out, means, matrix(x, rows, columns, row_per_element, test_devices()[1]),
              upload(weights, {columns}, test_devices()[1])},
             {rows, columns});
    const std::vector<T> y = by_rows<T>(out);
    const std::vector<double> got_means = means_of(means);
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto* row = x.data() + r * columns;
      double mean = 0, var = 0;
      for (std::int64_t c = 0; c < columns; ++c) mean += static_cast<double>(row[c]);
      mean /= static_cast<double>(columns);
      for (std::int64_t c = 0; c < columns; ++c) var += std::pow(static_cast<double>(row[c]) - mean, 2);
      var /= static_cast<double>(columns);
      ASSERT_NEAR(got_means[static_cast<std::size_t>(r)], mean, 1e-6);
      for (std::int64_t c = 0; c < columns; ++c) {
        const double want = (static_cast<double>(row[c]) - mean) / std::sqrt(var + 1e-5) *
                            static_cast<double>(weights[static_cast<std::size_t>(c)]);
        ASSERT_NEAR(static_cast<double>(y[static_cast<std::size_t>(r * columns + c)]), want,
                    error * std::fabs(want) + 1e-6)
            << r << ' ' << c;
      }
    }
  }
}

TEST_P(RowKinds, NormOfHalves) { test_norm<half>(GetParam(), DType::Float32, 1e-3); }
TEST_P(RowKinds, NormOfBFloats) { test_norm<bfloat16>(GetParam(), DType::Float32, 8e-3); }
TEST_P(RowKinds, NormOfDoubles) { test_norm<double>(GetParam(), DType::Float64, 1e-13); }

/// Positions, what is read at computed places, divisions by zero: none of it of elements that do not exist.
TEST_P(RowKinds, PositionsLoadsAndFaults) {
  const Overridden w(GetParam().chosen);
  RowKernel k("loads");
  const Operand at = k.iota(), table = k.array(DType::Int64), divisor = k.leaf(DType::Int64),
                of_row = k.leaf(DType::Int64, AxisMapping::Rows);
  const Operand n = k.number(DType::Int64, 7), one = k.number(DType::Int64, 1);
  const Operand place = k.apply(Op::remainder, {at, n});
  const Operand offset = k.apply(Op::axis_offset, {place, n, one});
  const Operand loaded = k.graph().load(table, offset);
  const Operand quotient = k.apply(Op::floor_divide, {k.apply(Op::mul, {loaded, of_row}), divisor});
  k.output(k.apply(Op::sum, {quotient}), AxisMapping::Rows);
  k.output(k.apply(Op::argmax, {quotient}), AxisMapping::Rows);
  const Executable e(k.done());
  const std::vector<std::int64_t> entries{5, 50, 500, 5000, 50000, 500000, 5000000};
  const TensorRef entries_there = upload(entries, {7}, test_devices()[1]);
  for (const bool faults : {false, true})
    for (const std::int64_t columns : {3, 67}) {
      const std::int64_t rows = 10;
      std::vector<std::int64_t> divisors(static_cast<std::size_t>(rows * columns)), of_rows;
      for (std::size_t i = 0; i < divisors.size(); ++i) divisors[i] = static_cast<std::int64_t>(i % 5) + 1;
      for (std::int64_t r = 0; r < rows; ++r) of_rows.push_back(r - 4);
      if (faults) divisors.back() = 0;
      TensorRef positions = runtime::iota_tensor({rows, columns}, test_devices()[1]);
      const TensorRef sums = runtime::empty(Shape{rows}, DType::Int64, test_devices()[1]),
                      places = runtime::empty(Shape{rows}, DType::Int64, test_devices()[1]);
      run_rows(e,
               {sums, places, positions, entries_there,
                matrix(divisors, rows, columns, row_per_element(), test_devices()[1]),
                upload(of_rows, {rows}, test_devices()[1])},
               {rows, columns});
      if (faults) {
        EXPECT_THROW(runtime::backend(test_devices()[1]).synchronize(), Error);
        continue;
      }
      const auto got_sums = download<std::int64_t>(sums), got_places = download<std::int64_t>(places);
      for (std::int64_t r = 0; r < rows; ++r) {
        std::int64_t sum = 0, most = std::numeric_limits<std::int64_t>::min(), place_of_most = 0;
        for (std::int64_t c = 0; c < columns; ++c) {
          const std::int64_t i = r * columns + c, d = divisors[static_cast<std::size_t>(i)];
          const std::int64_t a = entries[static_cast<std::size_t>(i % 7)] * (r - 4);
          const std::int64_t q = a / d - (a % d != 0 && a < 0);
          sum += q;
          if (q > most) most = q, place_of_most = c;
        }
        ASSERT_EQ(got_sums[static_cast<std::size_t>(r)], sum) << r;
        ASSERT_EQ(got_places[static_cast<std::size_t>(r)], place_of_most) << r;
      }
    }
}

/// Rows along the first and the last of three axes, which are no single dim in memory.
TEST_P(RowKinds, AxesThatDoNotMerge) {
  const Overridden w(GetParam().chosen);
  RowKernel k("apart", 0b101);
  const Operand x = k.leaf(DType::Float32);
  const Operand n = k.cast(k.apply(Op::count, {x}), DType::Float32);
  const Operand d = k.apply(Op::sub, {x, k.apply(Op::div, {k.apply(Op::sum, {x}), n})});
  k.output(k.apply(Op::argmax, {x}), AxisMapping::Rows);
  k.output(k.apply(Op::sum, {k.apply(Op::mul, {d, d})}), AxisMapping::Rows);
  k.output(d);
  const Executable e(k.done());
  constexpr std::int64_t outer = 3, rows = 12, inner = 44, columns = outer * inner;
  std::mt19937_64 random(9);
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  for (float& v : values) v = static_cast<float>(random() % 4001) / 100 - 20;
  // By axes (0, 1, 2), or (2, 0, 1), which has rows as neighbours.
  const auto at = [&](std::int64_t o, std::int64_t r, std::int64_t i) {
    return static_cast<std::size_t>(row_per_element() ? (i * outer + o) * rows + r : (o * rows + r) * inner + i);
  };
  const Shape strides = row_per_element() ? Shape{rows, 1, outer * rows} : Shape{rows * inner, inner, 1};
  const TensorRef flat = upload(values, {rows * columns}, test_devices()[1]),
                  out = runtime::empty(Shape{rows * columns}, DType::Float32, test_devices()[1]),
                  places = runtime::empty(Shape{rows}, DType::Int64, test_devices()[1]),
                  squares = runtime::empty(Shape{rows}, DType::Float32, test_devices()[1]);
  const Shape domain{outer, rows, inner};
  run_rows(e, {places, squares, runtime::view(*out, domain, strides), runtime::view(*flat, domain, strides)}, domain);
  const auto got_places = download<std::int64_t>(places);
  const auto got_squares = download<float>(squares), got = download<float>(out);
  for (std::int64_t r = 0; r < rows; ++r) {
    double mean = 0, sum = 0;
    std::int64_t best = 0;
    const auto value = [&](std::int64_t c) { return double{values[at(c / inner, r, c % inner)]}; };
    for (std::int64_t c = 0; c < columns; ++c) {
      mean += value(c) / static_cast<double>(columns);
      if (value(c) > value(best)) best = c;
    }
    for (std::int64_t c = 0; c < columns; ++c) {
      sum += std::pow(value(c) - mean, 2);
      ASSERT_NEAR(got[at(c / inner, r, c % inner)], value(c) - mean, 1e-5);
    }
    ASSERT_EQ(got_places[static_cast<std::size_t>(r)], best) << r;
    ASSERT_NEAR(got_squares[static_cast<std::size_t>(r)], sum, 1e-6 * sum) << r;
  }
}

/// What is one for a row is read and written in place, with elements that are made of it.
TEST_P(RowKinds, OneForARowInPlace) {
  const Overridden w(GetParam().chosen);
  RowKernel k("rows_in_place");
  const Operand x = k.leaf(DType::Float32), r = k.leaf(DType::Float32, AxisMapping::Rows);
  const Operand sum = k.apply(Op::sum, {x});
  k.output(k.apply(Op::add, {k.apply(Op::mul, {x, r}), sum}));
  k.output(k.apply(Op::add, {r, sum}), AxisMapping::Rows);
  const Executable e(k.done());
  for (const std::int64_t columns : {5, 132}) {
    const std::int64_t rows = 34;
    std::vector<float> x_values, r_values;
    for (std::int64_t i = 0; i < rows * columns; ++i) x_values.push_back(static_cast<float>(i % 7) - 3);
    for (std::int64_t i = 0; i < rows; ++i) r_values.push_back(static_cast<float>(i));
    const TensorRef in = matrix(x_values, rows, columns, row_per_element(), test_devices()[1]),
                    of_rows = upload(r_values, {rows}, test_devices()[1]);
    run_rows(e, {in, of_rows, in, of_rows}, {rows, columns}, true);
    const std::vector<float> y = by_rows<float>(in), got = download<float>(of_rows);
    for (std::int64_t row = 0; row < rows; ++row) {
      float total = 0;
      for (std::int64_t c = 0; c < columns; ++c) total += x_values[static_cast<std::size_t>(row * columns + c)];
      ASSERT_EQ(got[static_cast<std::size_t>(row)], static_cast<float>(row) + total) << row;
      for (std::int64_t c = 0; c < columns; ++c) {
        const auto i = static_cast<std::size_t>(row * columns + c);
        ASSERT_EQ(y[i], x_values[i] * static_cast<float>(row) + total) << row << ' ' << c;
      }
    }
  }
}

/// Some of the schemes: what they differ in does not depend on what is computed.
std::vector<NamedOverride> some_wishes() {
  std::vector<NamedOverride> some;
  for (const NamedOverride& w : overrides)
    for (const std::string_view name : {"EightLanes", "Block", "BlockCache", "Split", "ColumnsKept", "ColumnsSplit"})
      if (w.name == name) some.push_back(w);
  return some;
}
INSTANTIATE_TEST_SUITE_P(Schemes, RowKinds, ::testing::ValuesIn(some_wishes()),
                         [](const auto& i) { return i.param.name; });

}  // namespace
}  // namespace sinter::testing

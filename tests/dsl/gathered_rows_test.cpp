// Rows that indices select, of any length, in kernels that compute and reduce them: as if they had been gathered first.
#include <gtest/gtest.h>

#include <sinter/sinter.hpp>
#include <string>
#include <vector>

namespace sinter {
namespace {

using Floats = Tensor<float>;

void expect_close(const Floats& fused, const Floats& apart, const std::string& what) {
  ASSERT_EQ(fused.shape(), apart.shape()) << what;
  EXPECT_TRUE(allclose(fused, apart, 1e-5, 1e-6)) << what;
}

TEST(GatheredRows, ComputedAndReduced) {
  manual_seed(7);
  for (const std::int64_t n : {1, 7, 64, 300})
    for (const std::int64_t columns : {1, 2, 3, 4, 7, 16, 48, 64, 100, 127, 128, 200, 300}) {
      const Floats table = randn<float>({50, columns}), y = randn<float>({n, columns}), bias = randn<float>({columns});
      const Floats column = randn<float>({n, 1});
      const Tensor<std::int64_t> ids = randint(-50, 50, {n});
      const Floats rows = table[ids];
      const auto check = [&](const std::string& what, auto f) {
        expect_close(f(table[ids]), f(rows), what + " of " + std::to_string(n) + " x " + std::to_string(columns));
      };
      check("a product with a column's exponential", [&](const auto& e) { return Floats(e * exp(column) + y); });
      check("a sum with a row", [&](const auto& e) { return Floats(e + bias); });
      check("rms_norm", [&](const auto& e) { return Floats(rms_norm(sigmoid(e) * column, {columns})); });
      check("softmax of columns", [&](const auto& e) { return Floats(softmax(e + bias, 0)); });
      check("sum of rows", [&](const auto& e) { return Floats(sum(e * y - column, 1)); });
      check("sum of columns", [&](const auto& e) { return Floats(sum(e * y - column, 0)); });
    }
}

// The table's rows have two dims, of which the result's other operands differ along one.
TEST(GatheredRows, OfTwoDims) {
  manual_seed(8);
  for (const std::int64_t outer : {2, 5, 16})
    for (const std::int64_t inner : {2, 3, 8, 33}) {
      const std::int64_t n = 90;
      const Floats table = randn<float>({20, outer, inner}), scale = randn<float>({inner}),
                   of_outer = randn<float>({outer, 1});
      const Floats column = randn<float>({n, 1, 1});
      const Tensor<std::int64_t> ids = randint(-20, 20, {n});
      const Floats rows = table[ids];
      const std::string what = std::to_string(outer) + " x " + std::to_string(inner);
      expect_close(Floats(table[ids] * scale), Floats(rows * scale), what);
      expect_close(Floats(table[ids] + of_outer), Floats(rows + of_outer), what);
      expect_close(Floats(table[ids] * exp(column) + scale * of_outer), Floats(rows * exp(column) + scale * of_outer),
                   what);
      expect_close(Floats(sum(table[ids] * exp(of_outer), 2)), Floats(sum(rows * exp(of_outer), 2)), what);
    }
}

}  // namespace
}  // namespace sinter

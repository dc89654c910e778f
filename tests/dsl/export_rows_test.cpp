// Exported kernels that reduce, and plans of several kernels.
#include <sinter/dsl/export.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "exported.hpp"

namespace sinter::testing {
namespace {

class ExportRowsTest : public ExportedTest {};

/// Device memory for a workspace.
struct Workspace {
  explicit Workspace(std::size_t n)
      : bytes(n), memory(zeros<std::uint8_t>({static_cast<std::int64_t>(n) + 1}).to(gpu0)) {}
  void* data() const { return bytes ? memory.data() : nullptr; }
  std::size_t bytes;
  Tensor<std::uint8_t> memory;
};

::testing::AssertionResult close(const Tensor<float>& a, const Tensor<float>& b, double bound) {
  const std::vector<float> x = values(a), y = values(b);
  if (x.size() != y.size()) return ::testing::AssertionFailure() << x.size() << " and " << y.size() << " elements";
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double d = std::fabs(double{x[i]} - double{y[i]});
    if (!(d <= bound * std::max(1.0, std::fabs(double{y[i]})) || (x[i] != x[i] && y[i] != y[i]) || x[i] == y[i]))
      return ::testing::AssertionFailure() << "element " << i << ": " << x[i] << " and " << y[i];
  }
  return ::testing::AssertionSuccess();
}

using Rows = int(void*, float*, const float*, std::int64_t, std::int64_t, void*, std::size_t);
using RowsOnCpu = int(float*, const float*, std::int64_t, std::int64_t);
using Bytes = std::size_t(std::int64_t, std::int64_t);

/// Runs an exported kernel of one matrix on both devices, beside the library. `f` makes the expression.
template <class F>
void check_sizes(const char* name, F f, const std::vector<std::array<std::int64_t, 2>>& all_sizes) {
  const Tensor<float> example = zeros<float>({6, 5});
  const ExportedLibrary own(exported(f(example), {.name = name, .sizes = {{"m", "n"}}}));
  auto* const launch = own.get<Rows>(std::string(name) + "_launch");
  auto* const on_cpu = own.get<RowsOnCpu>(std::string(name) + "_cpu");
  auto* const bytes = own.get<Bytes>(std::string(name) + "_workspace_bytes");
  for (const auto& [m, n] : all_sizes) {
    SCOPED_TRACE(fmt::format("{} of {} by {}", name, m, n));
    const Tensor<float> hx = randn<float>({m, n}), x = hx.to(gpu0), expected = f(x), on_host = f(hx);
    const Tensor<float> host = zeros<float>(expected.shape()), out = host.to(gpu0);
    const Workspace workspace(bytes(m, n));
    ASSERT_EQ(launch(nullptr, out.data(), x.data(), m, n, workspace.data(), workspace.bytes), ok);
    EXPECT_TRUE(close(out, expected, 2e-6));
    ASSERT_EQ(on_cpu(host.data(), hx.data(), m, n), ok);
    EXPECT_TRUE(close(host, on_host, 2e-6));
    if (!workspace.data() || !own.library.kernels[0].temporaries.empty()) continue;
    const Tensor<float> without = zeros<float>(expected.shape()).to(gpu0);
    ASSERT_EQ(launch(nullptr, without.data(), x.data(), m, n, nullptr, 0), ok);
    EXPECT_TRUE(close(without, expected, 2e-6));
  }
}

const std::vector<std::array<std::int64_t, 2>> sizes{{1, 1},    {3, 1},    {1, 7},     {5, 64},    {300, 33},
                                                     {4, 1000}, {1100, 8}, {2, 20000}, {1, 70000}, {2, 65536}};

TEST_F(ExportRowsTest, Softmax) {
  check_sizes("soft", [](const Tensor<float>& x) { return softmax(x * 2.0f, -1); }, sizes);
}

TEST_F(ExportRowsTest, SumsAlongRows) {
  check_sizes("total", [](const Tensor<float>& x) { return sum(x * x, -1); }, sizes);
}

TEST_F(ExportRowsTest, LargestAlongColumns) {
  check_sizes("largest", [](const Tensor<float>& x) { return amax(x, 0); },
              {{1, 1}, {7, 3}, {40, 64}, {1000, 20}, {3, 4000}, {20000, 9}});
}

TEST_F(ExportRowsTest, SumsOfAll) {
  check_sizes("all", [](const Tensor<float>& x) { return sum(exp(x)) + 1.0f; }, {{1, 1}, {30, 50}, {300, 700}, {5, 0}});
}

TEST_F(ExportRowsTest, Normalizes) {
  check_sizes("norm",
              [](const Tensor<float>& x) { return (x - mean(x, -1, true)) / sqrt(var(x, -1, 0, true) + 1e-5f); },
              {{1, 8}, {5, 64}, {9, 333}, {2, 20000}});
}

TEST_F(ExportRowsTest, PlansOfSeveralKernels) {
  check_sizes("both", [](const Tensor<float>& x) { return softmax(x, 0) + sum(softmax(x, 1), 0); },
              {{1, 1}, {7, 30}, {90, 41}});
}

}  // namespace
}  // namespace sinter::testing

// Exported kernels that reduce, and plans of several kernels.
#include <sinter/dsl/export.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
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

/// Runs an exported kernel of one matrix on both devices and compares with the library. `f` makes the expression.
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
  check_sizes("total", [](const Tensor<float>& x) { return sum(x * x, -1); }, {{3, 1}, {5, 64}, {300, 33}, {2, 70000}});
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

TEST_F(ExportRowsTest, SharesRowsOfSeveralWalks) {
  check_sizes("spread", [](const Tensor<float>& x) { return sum(abs(x - mean(x, -1, true)), -1); },
              {{1, 70000}, {2, 65540}});
}

/// Kernels of fixed extents take no sizes. Operands are aligned, then one element off.
template <class F>
void check_fixed(F f) {
  constexpr std::array<std::int64_t, 2> shapes[] = {{4, 4},   {1, 1024}, {64, 256},  {3, 1000},
                                                    {300, 7}, {2, 5000}, {1, 70000}, {2048, 512}};
  std::vector<jit::Export> kernels;
  for (const auto& [m, n] : shapes)
    kernels.push_back(
        exported(f(zeros<float>({m, n})), {.name = fmt::format("k_{}_{}", m, n),
                                           .inputs = {"x"},
                                           .sizes = {{m == 1 ? "" : std::to_string(m), std::to_string(n)}}}));
  const ExportedLibrary own(kernels);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const auto& [m, n] = shapes[k];
    const jit::exporting::Model& model = own.library.kernels[k];
    SCOPED_TRACE(model.name);
    EXPECT_TRUE(model.sizes->names().empty());
    for (const std::int64_t offset : {0, 1}) {
      const Tensor<float> hx = randn<float>({m * n + offset}), x = hx.to(gpu0);
      const Tensor<float> in = x.slice(0, offset, m * n + offset).reshape({m, n}), expected = f(in);
      const Tensor<float> out = zeros<float>({expected.numel() + offset}).to(gpu0),
                          host = zeros<float>(expected.shape());
      float *const to = out.data() + offset, *const from = in.data();
      if (model.has_workspace())
        ASSERT_EQ(own.get<int(void*, float*, const float*, void*, std::size_t)>(model.name + "_launch")(
                      nullptr, to, from, nullptr, 0),
                  ok);
      else
        ASSERT_EQ(own.get<int(void*, float*, const float*)>(model.name + "_launch")(nullptr, to, from), ok);
      EXPECT_TRUE(close(out.slice(0, offset, out.numel()).reshape(expected.shape()), expected, 2e-6));
      ASSERT_EQ(own.get<int(float*, const float*)>(model.name + "_cpu")(host.data(), hx.data() + offset), ok);
      EXPECT_TRUE(close(host, expected, 2e-6));
    }
  }
}

TEST_F(ExportRowsTest, FixedExtents) {
  check_fixed([](const Tensor<float>& x) { return softmax(x * 2.0f, -1); });
  check_fixed([](const Tensor<float>& x) { return sum(x * x, 0); });
  check_fixed([](const Tensor<float>& x) { return x - mean(x, -1, true); });
}

TEST_F(ExportRowsTest, OneVariant) {
  const Tensor<float> example = zeros<float>({6, 5});
  ExportOptions options{.name = "one", .inputs = {"x"}, .sizes = {{"m", "n"}}, .strided = {"x"}};
  options.one_variant = true;
  const ExportedLibrary own(exported(softmax(example, -1), options));
  using Strided = int(void*, float*, const float*, const std::int64_t*, std::int64_t, std::int64_t);
  for (const auto& [m, n] : sizes) {
    const Tensor<float> x = randn<float>({n, m}).to(gpu0), out = zeros<float>({m, n}).to(gpu0);
    const std::int64_t strides[] = {1, m};
    ASSERT_EQ(own.get<Strided>("one_launch")(nullptr, out.data(), x.data(), strides, m, n), ok);
    EXPECT_TRUE(close(out, softmax(x.t(), -1), 2e-6)) << m << " by " << n;
  }
}

TEST_F(ExportRowsTest, PlansOfSeveralKernels) {
  check_sizes("both", [](const Tensor<float>& x) { return softmax(x, 0) + sum(softmax(x, 1), 0); },
              {{1, 1}, {7, 30}, {90, 41}});
}

TEST_F(ExportRowsTest, RowsOfSeveralDims) {
  const Tensor<float> a = zeros<float>({3, 4, 5}), b = zeros<float>({4, 1});
  const ExportedLibrary own({exported(sum(a * b, {0, 2}), {.name = "outer"}),
                             exported(softmax(a + b, 1), {.name = "middle"}),
                             exported(softmax(a + amax(a, 0, true), -1), {.name = "last"})});
  using Launch =
      int(void*, float*, const float*, const float*, std::int64_t, std::int64_t, std::int64_t, void*, std::size_t);
  using OnCpu = int(float*, const float*, const float*, std::int64_t, std::int64_t, std::int64_t);
  using Bytes3 = std::size_t(std::int64_t, std::int64_t, std::int64_t);
  for (const auto& [k, m, n] :
       std::vector<std::array<std::int64_t, 3>>{{1, 1, 1}, {3, 5, 7}, {20, 9, 64}, {2, 130, 33}}) {
    const Tensor<float> ha = randn<float>({k, m, n}), hb = randn<float>({m, 1}), ga = ha.to(gpu0), gb = hb.to(gpu0);
    for (const std::string name : {"outer", "middle"}) {
      const double bound = name == "outer" ? 4e-5 : 4e-6;  // a sum of a thousand terms may be near 0
      const Tensor<float> expected =
          name == "outer" ? Tensor<float>(sum(ga * gb, {0, 2})) : Tensor<float>(softmax(ga + gb, 1));
      const Tensor<float> host = zeros<float>(expected.shape()), out = host.to(gpu0);
      const Workspace space(own.get<Bytes3>(name + "_workspace_bytes")(k, m, n));
      ASSERT_EQ(own.get<Launch>(name + "_launch")(nullptr, out.data(), ga.data(), gb.data(), k, m, n, space.data(),
                                                  space.bytes),
                ok);
      EXPECT_TRUE(close(out, expected, bound)) << name << k << " " << m << " " << n;
      ASSERT_EQ(own.get<OnCpu>(name + "_cpu")(host.data(), ha.data(), hb.data(), k, m, n), ok);
      EXPECT_TRUE(close(host, expected, bound)) << name << k << " " << m << " " << n;
    }
    using OfOne = int(void*, float*, const float*, std::int64_t, std::int64_t, std::int64_t, void*, std::size_t);
    const Workspace space(own.get<Bytes3>("last_workspace_bytes")(k, m, n));
    const Tensor<float> out = zeros<float>({k, m, n}).to(gpu0);
    ASSERT_EQ(own.get<OfOne>("last_launch")(nullptr, out.data(), ga.data(), k, m, n, space.data(), space.bytes), ok);
    EXPECT_TRUE(close(out, Tensor<float>(softmax(ga + amax(ga, 0, true), -1)), 4e-6));
  }
}

TEST_F(ExportRowsTest, SharesLongRowsWhereThereIsAWorkspace) {
  const ExportedLibrary own(exported(sum(exp(Tensor<float>(zeros<float>({6, 5}))), -1), {.name = "total"}));
  auto* const launch = own.get<Rows>("total_launch");
  auto* const bytes = own.get<Bytes>("total_workspace_bytes");
  const Tensor<float> x = randn<float>({1, 200000}).to(gpu0), out = zeros<float>({1}).to(gpu0);
  const Workspace workspace(bytes(1, 200000));
  ASSERT_GT(workspace.bytes, 0u);
  EXPECT_EQ(bytes(100000, 4), 0u);
  EXPECT_EQ(bytes(-1, 4), 0u);
  const int before = driver().launches();
  ASSERT_EQ(launch(nullptr, out.data(), x.data(), 1, 200000, workspace.data(), workspace.bytes), ok);
  EXPECT_NE(std::strstr(driver().last_source(), "partials0"), nullptr);
  EXPECT_EQ(driver().launches(), before + 2);
  const std::vector<float> shared = values(out);
  EXPECT_TRUE(close(out, Tensor<float>(sum(exp(x), -1)), 2e-6));
  ASSERT_EQ(launch(nullptr, out.data(), x.data(), 1, 200000, workspace.data(), workspace.bytes - 1), ok);  // too small
  EXPECT_EQ(std::strstr(driver().last_source(), "partials0"), nullptr);
  EXPECT_NEAR(values(out)[0], shared[0], 2e-6 * shared[0]);
  char* const odd = static_cast<char*>(workspace.data()) + 1;
  EXPECT_EQ(launch(nullptr, out.data(), x.data(), 1, 200000, odd, workspace.bytes), bad_workspace);
}

TEST_F(ExportRowsTest, AsksForAWorkspaceBetweenKernels) {
  const Tensor<float> example = zeros<float>({6, 5});
  const ExportedLibrary own(exported(softmax(example, 0) + sum(softmax(example, 1), 0), {.name = "both"}));
  auto* const launch = own.get<Rows>("both_launch");
  ASSERT_FALSE(own.library.kernels[0].temporaries.empty());
  const Workspace workspace(own.get<Bytes>("both_workspace_bytes")(7, 30));
  const Tensor<float> x = randn<float>({7, 30}).to(gpu0), out = zeros<float>({7, 30}).to(gpu0);
  EXPECT_EQ(launch(nullptr, out.data(), x.data(), 7, 30, nullptr, 0), bad_workspace);
  EXPECT_EQ(launch(nullptr, out.data(), x.data(), 7, 30, workspace.data(), 8), bad_workspace);
  EXPECT_EQ(launch(nullptr, out.data(), x.data(), 7, 30, workspace.data(), workspace.bytes), ok);
}

#if defined(__has_feature)
#define SINTER_HAS_FEATURE(name) __has_feature(name)
#else
#define SINTER_HAS_FEATURE(name) 0
#endif

TEST_F(ExportRowsTest, SaysWhereTheHostHasTooLittleMemory) {
#if defined(__SANITIZE_ADDRESS__) || SINTER_HAS_FEATURE(address_sanitizer)
  GTEST_SKIP() << "AddressSanitizer ends where memory does";
#endif
  const Tensor<float> example = zeros<float>({6, 5});
  const ExportedLibrary own(exported(softmax(example, 0) + sum(softmax(example, 1), 0), {.name = "both"}));
  auto* const out = reinterpret_cast<float*>(std::uintptr_t{1} << 55);  // nothing is there, and nothing is touched
  const auto* const x = reinterpret_cast<const float*>(std::uintptr_t{1} << 56);
  EXPECT_EQ(own.get<RowsOnCpu>("both_cpu")(out, x, std::int64_t{1} << 48, 1), out_of_memory);
}

TEST_F(ExportRowsTest, KeepsRowsInSharedMemoryWhereTheGpuHasRoom) {
  const ExportedLibrary own(exported(softmax(Tensor<float>(zeros<float>({6, 5})), -1), {.name = "soft"}));
  auto* const launch = own.get<Rows>("soft_launch");
  const Tensor<float> x = randn<float>({2, 36000}).to(gpu0), out = zeros<float>({2, 36000}).to(gpu0);
  ASSERT_EQ(launch(nullptr, out.data(), x.data(), 2, 36000, nullptr, 0), ok);
  EXPECT_EQ(driver().last_shared(), 36000u * 4);
  EXPECT_TRUE(same_bits(out, Tensor<float>(softmax(x, -1))));
  driver().set_shared_memory(99 << 10);
  const Tensor<float> again = zeros<float>({2, 36000}).to(gpu0);
  const ExportedLibrary other(exported(softmax(Tensor<float>(zeros<float>({6, 5})), -1), {.name = "soft"}));
  ASSERT_EQ(other.get<Rows>("soft_launch")(nullptr, again.data(), x.data(), 2, 36000, nullptr, 0), ok);
  EXPECT_EQ(driver().last_shared(), 0u);
  EXPECT_TRUE(same_bits(out, again));
}

TEST_F(ExportRowsTest, SaysWhereThereIsNoLargest) {
  const ExportedLibrary own(exported(amax(Tensor<float>(zeros<float>({6, 5})), -1), {.name = "most"}));
  float x = 0, out = 7;
  EXPECT_EQ(own.get<RowsOnCpu>("most_cpu")(&out, &x, 1, 0), empty_reduction);
  EXPECT_EQ(own.get<Rows>("most_launch")(nullptr, &out, &x, 1, 0, nullptr, 0), empty_reduction);
  EXPECT_EQ(own.get<RowsOnCpu>("most_cpu")(&out, &x, 0, 0), ok);
  EXPECT_EQ(out, 7);
  const ExportedLibrary logs(exported(logsumexp(Tensor<float>(zeros<float>({6, 5})), -1), {.name = "log"}));
  EXPECT_EQ(logs.get<RowsOnCpu>("log_cpu")(&out, &x, 1, 0), ok);  // has a value
  EXPECT_EQ(out, -std::numeric_limits<float>::infinity());
}

TEST_F(ExportRowsTest, SeveralOutputs) {
  const Tensor<float> x = zeros<float>({6, 5}), y = zeros<float>({5});
  const ExportedLibrary own(
      {exported_together({.name = "two", .outputs = {"p", "q"}}, x * y + 1.0f, x - y),
       exported_together({.name = "both", .outputs = {"total", "most"}}, sum(x, -1), amax(x, -1))});
  using Two = int(float*, float*, const float*, const float*, std::int64_t, std::int64_t);
  using Both = int(float*, float*, const float*, std::int64_t, std::int64_t);
  using BothOnGpu = int(void*, float*, float*, const float*, std::int64_t, std::int64_t, void*, std::size_t);
  const Tensor<float> a = randn<float>({4, 9}), b = randn<float>({9}), p = zeros<float>({4, 9}),
                      q = zeros<float>({4, 9});
  ASSERT_EQ(own.get<Two>("two_cpu")(p.data(), q.data(), a.data(), b.data(), 4, 9), ok);
  EXPECT_TRUE(same_bits(p, Tensor<float>(a * b + 1.0f)));
  EXPECT_TRUE(same_bits(q, Tensor<float>(a - b)));
  EXPECT_EQ(own.get<Two>("two_cpu")(p.data(), p.data() + 35, a.data(), b.data(), 4, 9), overlaps);
  const Tensor<float> total = zeros<float>({4}), most = zeros<float>({4}), on_gpu = total.to(gpu0),
                      most_there = most.to(gpu0);
  ASSERT_EQ(own.get<Both>("both_cpu")(total.data(), most.data(), a.data(), 4, 9), ok);
  EXPECT_TRUE(close(total, Tensor<float>(sum(a, -1)), 1e-6));
  EXPECT_TRUE(same_bits(most, Tensor<float>(amax(a, -1))));
  ASSERT_EQ(
      own.get<BothOnGpu>("both_launch")(nullptr, on_gpu.data(), most_there.data(), a.to(gpu0).data(), 4, 9, nullptr, 0),
      ok);
  EXPECT_TRUE(close(on_gpu, total, 1e-6));
  EXPECT_TRUE(same_bits(most_there, most));
}

TEST_F(ExportRowsTest, DoesNotWriteWhereOtherRowsRead) {
  const Tensor<float> x = zeros<float>({6, 5}), y = zeros<float>({6, 1});
  const ExportedLibrary own(exported(sum(x, -1, true) * y, {.name = "own", .in_place = true}));
  using OnCpu = int(float*, const float*, const float*, std::int64_t, std::int64_t);
  const std::vector<float> a(12, 1.0f);
  std::vector<float> b{1, 2, 3}, out(3);
  EXPECT_EQ(own.get<OnCpu>("own_cpu")(b.data(), a.data(), b.data(), 3, 4), overlaps);
  EXPECT_EQ(own.get<OnCpu>("own_cpu")(out.data(), a.data(), b.data(), 3, 4), ok);
  EXPECT_EQ(out, (std::vector<float>{4, 8, 12}));
}

TEST_F(ExportRowsTest, HalfElementsInPlaceWithBroadcastRows) {
  const Tensor<half> x = zeros<half>({6, 5}), bias = zeros<half>({5});
  const ExportedLibrary own(exported(softmax(x + bias, -1), {.name = "soft", .in_place = true}));
  using Launch = int(void*, void*, const void*, const void*, std::int64_t, std::int64_t, void*, std::size_t);
  using OnCpu = int(void*, const void*, const void*, std::int64_t, std::int64_t);
  for (const std::int64_t n : {8, 100, 2048, 3001}) {
    const Tensor<half> hx = randn<float>({9, n}).to<half>(), hb = randn<float>({n}).to<half>();
    const Tensor<half> gx = hx.to(gpu0), gb = hb.to(gpu0), expected = softmax(gx + gb, -1);
    ASSERT_EQ(own.get<Launch>("soft_launch")(nullptr, gx.data(), gx.data(), gb.data(), 9, n, nullptr, 0), ok);
    EXPECT_TRUE(close(Tensor<float>(gx.to<float>()), Tensor<float>(expected.to<float>()), 1e-3)) << n;
    ASSERT_EQ(own.get<OnCpu>("soft_cpu")(hx.data(), hx.data(), hb.data(), 9, n), ok);
    EXPECT_TRUE(close(Tensor<float>(hx.to<float>()), Tensor<float>(expected.to<float>()), 1e-3)) << n;
  }
}

TEST_F(ExportRowsTest, RowsWithStrides) {
  const ExportedLibrary own(
      exported(argmax(Tensor<float>(zeros<float>({6, 5})), -1), {.name = "best", .inputs = {"x"}, .strided = {"x"}}));
  using Launch =
      int(void*, std::int64_t*, const float*, const std::int64_t*, std::int64_t, std::int64_t, void*, std::size_t);
  using OnCpu = int(std::int64_t*, const float*, const std::int64_t*, std::int64_t, std::int64_t);
  const Tensor<float> memory = randn<float>({200, 200}), gpu_memory = memory.to(gpu0);
  for (const auto& [rows, columns, outer, inner] : std::vector<std::array<std::int64_t, 4>>{
           {20, 200, 200, 1}, {20, 150, 200, 1}, {20, 150, 1, 200}, {3, 50, -7, 2}, {5, 5, 0, 1}}) {
    const std::int64_t first = outer < 0 ? 100 : 0, strides[] = {outer, inner};
    const Tensor<std::int64_t> host = zeros<std::int64_t>({rows}), out = host.to(gpu0);
    ASSERT_EQ(own.get<Launch>("best_launch")(nullptr, out.data(), gpu_memory.data() + first, strides, rows, columns,
                                             nullptr, 0),
              ok);
    ASSERT_EQ(own.get<OnCpu>("best_cpu")(host.data(), memory.data() + first, strides, rows, columns), ok);
    EXPECT_TRUE(same_bits(out, host)) << outer << " " << inner;
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c)
        EXPECT_LE(memory.data()[first + r * outer + c * inner],
                  memory.data()[first + r * outer + host.data()[r] * inner]);
  }
}

TEST_F(ExportRowsTest, TakesNoWorkspaceOfNoBytes) {
  const Tensor<float> x = zeros<float>({6, 5}), w = zeros<float>({5});
  const ExportedLibrary own(
      exported(sum(softmax(x, -1) * w, 0) + w, {.name = "own", .inputs = {"x", "w"}, .sizes = {{"n", "m"}, {"m"}}}));
  const Tensor<float> hw = randn<float>({4}), gw = hw.to(gpu0), out = zeros<float>({4}).to(gpu0);
  ASSERT_EQ(own.get<Bytes>("own_workspace_bytes")(0, 4), 0u);
  using Launch = int(void*, float*, const float*, const float*, std::int64_t, std::int64_t, void*, std::size_t);
  auto* const launch = own.get<Launch>("own_launch");
  ASSERT_EQ(launch(nullptr, out.data(), nullptr, gw.data(), 0, 4, nullptr, 0), ok);
  EXPECT_TRUE(same_bits(out, hw));
  EXPECT_EQ(launch(nullptr, out.data(), gw.data(), gw.data(), 1, 4, nullptr, 0), bad_workspace);
}

TEST_F(ExportRowsTest, RefusesAWorkspaceInItsArrays) {
  const Tensor<float> example = zeros<float>({6, 5});
  const ExportedLibrary own(exported(sum(example, -1), {.name = "own", .sizes = {{"m", "n"}}}));
  auto* const launch = own.get<Rows>("own_launch");
  const Tensor<float> x = ones<float>({1024}).to(gpu0), out = ones<float>({1024}).to(gpu0);
  const auto with = [&](const Tensor<float>& t, std::size_t offset, std::size_t bytes) {
    const std::uintptr_t aligned = (reinterpret_cast<std::uintptr_t>(t.data()) + 255) / 256 * 256;
    return launch(nullptr, out.data(), x.data(), 2, 300, reinterpret_cast<void*>(aligned + offset), bytes);
  };
  EXPECT_EQ(with(x, 0, 256), bad_workspace);
  EXPECT_EQ(with(x, 2048, 512), bad_workspace);
  EXPECT_EQ(with(x, 2560, 512), ok);  // after it
  EXPECT_EQ(with(out, 0, SIZE_MAX), bad_workspace);
  EXPECT_EQ(launch(nullptr, out.data(), x.data(), 2, 300, out.data(), 0), ok);
}

TEST_F(ExportRowsTest, AnIndexThatIsNotThereIsInside) {
  const Tensor<float> w = zeros<float>({5});
  const Tensor<std::int64_t> i = zeros<std::int64_t>({4});
  const ExportedLibrary own(exported(sum(take(w, i)), {.name = "own", .inputs = {"w", "i"}, .sizes = {{"m"}, {"n"}}}));
  auto* const on_cpu = own.get<int(float*, const float*, const std::int64_t*, std::int64_t, std::int64_t)>("own_cpu");
  float out = -1;
  const float one = 1;
  const std::int64_t zero = 0;
  EXPECT_EQ(on_cpu(&out, nullptr, nullptr, 0, 0), ok);  // the sum of nothing
  EXPECT_EQ(out, 0);
  EXPECT_EQ(on_cpu(&out, nullptr, &zero, 0, 1), index_out_of_range);
  EXPECT_EQ(on_cpu(&out, &one, &zero, 1, 1), ok);
  EXPECT_EQ(out, 1);
}

}  // namespace
}  // namespace sinter::testing

// Repeated subexpressions are computed once: products, gathers, reductions, and parts whose scalars are equal.
#include "devices.hpp"

#include <gmock/gmock.h>

#include "setup.hpp"

namespace sinter {
namespace {

namespace sn = sinter;
using sinter_tests::devices;
using ::testing::HasSubstr;

const sinter::test::Setup evaluation_compiles(sinter::test::keep_kernels_in_memory);

sn::Tensor<float> waves(const sn::Shape& shape, const sn::Device& d) {
  return sn::Tensor<float>(sn::Tensor((sn::arange<float>(shape.numel()) * 0.37f).sin().reshape(shape))).to(d);
}

/// How often the word occurs.
std::size_t occurrences(const std::string& text, std::string_view word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++found;
  return found;
}
template <class E>
std::size_t products_in(const E& e) {
  const std::string text = sn::explain(e);
  return occurrences(text, " by         OpenBLAS") + occurrences(text, " by         cuBLASLt");
}

TEST(ComputedOnce, AProductThatIsReadFourTimes) {
  for (const sn::Device& d : devices()) {
    const auto x = waves({8, 6}, d), v = waves({6, 5}, d);
    const auto p = sigmoid(matmul(x, v));
    const auto loss = mean(p * log(p) + (1 - p) * log(1 - p));
    EXPECT_EQ(products_in(loss), 1u) << sn::explain(loss);
    const sn::Tensor q = p;
    const sn::Tensor wanted = mean(q * log(q) + (1 - q) * log(1 - q)), got = loss;
    EXPECT_NEAR(got.item(), wanted.item(), 1e-6) << to_string(d);
  }
}

TEST(ComputedOnce, ExplainSaysWhatIsNot) {
  const auto x = waves({100, 6}, sn::Device()), v = waves({6, 6}, sn::Device());
  const auto q = gelu(relu(matmul(x, v)));
  EXPECT_THAT(
      sn::explain(matmul(exp(q), v) + q),
      HasSubstr("recomputed: gelu in 2 kernels, with 1 operation before it\n"
                "        a Tensor of it would be computed once, for at most 2.4 KB to write and to read 2 times\n"));
  EXPECT_EQ(occurrences(sn::explain(matmul(q, v) + q), "recomputed"), 0u);  // stored for the product
  EXPECT_EQ(occurrences(sn::explain(exp(x) * 2), "recomputed"), 0u);
}

TEST(ComputedOnce, ProductsOfProducts) {
  for (const sn::Device& d : devices()) {
    const auto x = waves({4, 6}, d), w = waves({6, 6}, d), v = waves({6, 3}, d);
    const auto y = matmul(relu(matmul(x, w) + 0.25f), v);
    EXPECT_EQ(products_in(y * y + exp(y)), 2u) << sn::explain(y * y + exp(y));
    const sn::Tensor z = y;
    EXPECT_TRUE(allclose(sn::Tensor(y * y + exp(y)), sn::Tensor(z * z + exp(z)))) << to_string(d);
  }
}

TEST(ComputedOnce, EqualScalarsAreOne) {
  for (const sn::Device& d : devices()) {
    const auto x = waves({100}, d);
    const auto twice = exp(x * 2 + 1) * exp(x * 2 + 1), apart = exp(x * 2 + 1) * exp(x * 3 + 1);
    const std::string text = sn::explain(twice);
    EXPECT_THAT(text, HasSubstr("computes   fma, exp, mul\n"));
    EXPECT_THAT(text, HasSubstr("3 common subexpressions, computed once\n"));
    EXPECT_THAT(sn::explain(apart), HasSubstr("fma, exp, fma, exp, mul\n"));
    const sn::Tensor part = exp(x * 2 + 1), other = exp(x * 3 + 1);
    EXPECT_TRUE(allclose(sn::Tensor(twice), sn::Tensor(part * part), 1e-6)) << to_string(d);
    EXPECT_TRUE(allclose(sn::Tensor(apart), sn::Tensor(part * other), 1e-6)) << to_string(d);
  }
}

// Numbers of different kinds are not equal, and 0 is not -0.
TEST(ComputedOnce, OnlyWhatIsTheSameNumber) {
  const auto x = waves({100}, sn::Device());
  for (const std::string& text : {sn::explain(exp(x * 2) * exp(x * 2.f)), sn::explain(exp(x * 0.f) * exp(x * -0.f))})
    EXPECT_EQ(occurrences(text, "exp, "), 2u) << text;
}

// Saving an addition is not worth separate kernels.
TEST(ComputedOnce, CheapPartsStay) {
  const auto x = waves({100}, sn::Device());
  EXPECT_THAT(sn::explain((x + 1) * (x + 1)), HasSubstr("add x 2, mul"));
}

TEST(ComputedOnce, LazyAndTextToo) {
  const auto x = waves({100}, sn::Device());
  const auto part = [&] { return exp(sn::Lazy<float>(x) * 2 + 1); };
  EXPECT_THAT(sn::explain(part() * part()), HasSubstr("computes   fma, exp, mul\n"));
  const auto y = waves({6, 3}, sn::Device()), z = waves({3, 4}, sn::Device());
  EXPECT_EQ(products_in(sn::parse("(y @ z) * exp(y @ z)", {{"y", y}, {"z", z}})), 1u);
}

TEST(ComputedOnce, Gathers) {
  for (const sn::Device& d : devices()) {
    const auto table = waves({10, 4}, d);
    const auto ids = sn::tensor({3, 1, 4, 1, 5}).to(d);
    const auto rows = table.index_select(0, ids);
    EXPECT_EQ(occurrences(sn::explain(exp(rows) * rows), "load"), occurrences(sn::explain(exp(rows)), "load"));
    const sn::Tensor picked = rows;
    EXPECT_TRUE(allclose(sn::Tensor(exp(rows) * rows), sn::Tensor(exp(picked) * picked))) << to_string(d);
  }
}

TEST(ComputedOnce, TwoDrawsAreTwo) {
  for (const sn::Device& d : devices()) {
    const sn::Tensor difference = sn::rand({1000}, d) - sn::rand({1000}, d);
    EXPECT_GT(abs(difference).mean().item(), 0.2f) << to_string(d);
  }
}

/// What a loop in which two numbers become equal computes and compiles.
struct MeetingScalars {
  explicit MeetingScalars(const sn::Tensor<float>& x) : x(x) {}
  std::uint64_t compiled_by_run() {
    std::uint64_t compiled = 0;
    for (int i = 0; i < 4; ++i) {
      const auto before = sn::jit_stats().compiles;
      const sn::Tensor got = erf(x * i + 1) * erf(x * 2 + 1);
      compiled += sn::jit_stats().compiles - before;
      const sn::Tensor a = erf(x * i + 1), b = erf(x * 2 + 1);
      EXPECT_TRUE(allclose(got, sn::Tensor(a * b), 1e-6)) << i;
    }
    return compiled;
  }
  sn::Tensor<float> x;
};

TEST(ComputedOnce, ScalarsThatMeetByChanceCompileNothing) {
  if (devices().size() < 2) GTEST_SKIP() << "there is no GPU that compiles";
  MeetingScalars loop(waves({100}, devices()[1]));
  EXPECT_EQ(loop.compiled_by_run(), 1u);
  EXPECT_EQ(loop.compiled_by_run(), 1u);  // they are equal again
  EXPECT_EQ(loop.compiled_by_run(), 0u);
}

// The loop's base has equal scalars as well: the graph compiled for them also serves other equal pairs.
TEST(ComputedOnce, OthersMeetWhereSomeAreMeantToBeEqual) {
  if (devices().size() < 2) GTEST_SKIP() << "there is no GPU that compiles";
  const auto x = waves({100}, devices()[1]);
  std::uint64_t compiled = 0;
  for (int i = 0; i < 9; ++i) {
    const auto before = sn::jit_stats().compiles;
    const sn::Tensor got = erfc(x * 2) * erfc(x * 2) * erfc(x * i) * erfc(x * 7);
    compiled += sn::jit_stats().compiles - before;
    const sn::Tensor a = erfc(x * 2), b = erfc(x * i), c = erfc(x * 7);
    EXPECT_TRUE(allclose(got, sn::Tensor(a * a * b * c), 1e-5)) << i;
  }
  EXPECT_EQ(compiled, 1u);
}

TEST(ComputedOnce, WhatIsPreparedIsWhatRuns) {
  if (devices().size() < 2) GTEST_SKIP() << "there is no GPU that compiles";
  const auto x = waves({100}, devices()[1]);
  const auto e = [&](int i) { return sinh(x * i + 0.5f) * sinh(x * 7 + 0.5f); };
  sn::Tensor(e(6)), sn::Tensor(e(7));
  for (int time = 0; time < 3; ++time) {
    sn::prepare(e(7));
    const auto before = sn::jit_stats().compiles;
    sn::Tensor(e(7));
    EXPECT_EQ(sn::jit_stats().compiles, before) << time;
  }
}

// Only equal costly parts are merged: the others still round as before, with an fma each.
TEST(ComputedOnce, WhatElseIsEqualRoundsAsBefore) {
  const auto x = waves({100}, sn::Device());
  const auto e = [&](float a, float c) { return exp(x * a + 1.5f) * exp(x * 3.f + 2.5f) * exp(x * c) * exp(x * 5.f); };
  EXPECT_EQ(occurrences(sn::explain(e(3, 5)), "contracted"), 1u);
  EXPECT_THAT(sn::explain(e(3, 5)), HasSubstr("2 products contracted to fma"));
}

TEST(ComputedOnce, ComplexPartsBesideProducts) {
  for (const sn::Device& d : devices()) {
    const auto x = waves({3, 4}, d), w = waves({4, 2}, d);
    const auto z = sn::Tensor(complex(waves({4}, d), waves({4}, d) * 2.f));
    const sn::Tensor part = imag(x + z);
    EXPECT_EQ(part.shape(), sn::Shape(3, 4));
    EXPECT_TRUE(allclose(sn::Tensor(matmul(imag(x + z), w)), sn::Tensor(matmul(part, w)), 1e-5)) << to_string(d);
  }
}

TEST(ComputedOnce, ExplainChangesNothing) {
  const auto x = waves({100}, sn::Device());
  const auto e = [&](int i) { return log(x * i + 1.5f) * log(x * 7 + 1.5f); };
  EXPECT_EQ(occurrences(sn::explain(e(6)), "log, "), 2u);
  sn::Tensor(e(6));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(occurrences(sn::explain(e(7)), "log, "), 2u);  // they were never equal
  sn::Tensor(e(7)), sn::Tensor(e(7));
  EXPECT_EQ(occurrences(sn::explain(e(7)), "log, "), 1u);
}

TEST(ComputedOnce, ManyPatternsOfScalars) {
  const auto x = waves({50}, sn::Device());
  for (int round = 0; round < 3; ++round)
    for (int pattern = 0; pattern < 243; ++pattern) {
      int n[5];
      for (int k = 0, rest = pattern; k < 5; ++k, rest /= 3) n[k] = rest % 3;
      const sn::Tensor got = exp(x * n[0]) + exp(x * n[1]) + exp(x * n[2]) + exp(x * n[3]) + exp(x * n[4]);
      sn::Tensor<float> wanted = sn::zeros({50});
      for (const int factor : n) wanted += exp(x * factor);
      ASSERT_TRUE(allclose(got, wanted, 1e-5)) << pattern;
    }
}

// The name and the key come from the text: with a float tensor, an int and a float are the same parameter.
TEST(ComputedOnce, OneKernelForOneText) {
  for (const sn::Device& d : devices()) {
    const auto z = waves({100}, d), y = waves({100}, d);
    EXPECT_EQ(sn::cuda_source((z + 2) * y), sn::cuda_source((z + 2.5f) * y));
    EXPECT_EQ(sn::cuda_source((z + true) * y), sn::cuda_source((z + 2.5f) * y));
    if (d.is_cpu()) continue;
    sn::Tensor((z + 2) * y);
    const auto before = sn::jit_stats().compiles;
    sn::Tensor((z + 2.5f) * y);
    EXPECT_EQ(sn::jit_stats().compiles, before);
  }
}

/// Gradients through a view of a result are evaluated, and with them what shares their operations.
TEST(ComputedOnce, WhatGradientsThroughViewsShare) {
  const sn::Tensor a = waves({3, 4}, sn::cpu), w = waves({4, 6}, sn::cpu), v = waves({3, 5}, sn::cpu);
  const sn::Lazy<float> h = sn::matmul(a, w);
  const sn::Lazy<float> loss = sn::tanh(sn::matmul(h.slice(1, 0, 3) * h.slice(1, 3, 6), v)).square().sum();
  const auto [gw, gv] = sn::grad(loss, w, v);
  const auto before = sn::jit_stats().launches;
  const sn::Tensor<float> gradient = gv, value = loss;
  EXPECT_EQ(sn::jit_stats().launches, before + 2);  // copies
  EXPECT_EQ(gradient.shape(), sn::Shape(3, 5));
}

/// Although the gradients' part of the graph has composite operations expanded, and scalars of its own.
TEST(ComputedOnce, WhatAValueAndItsGradientsThroughViewsShare) {
  const sn::Tensor a = waves({3, 4}, sn::cpu), w = waves({4, 6}, sn::cpu), v = waves({3, 5}, sn::cpu);
  const auto loss_of = [&] {
    const sn::Lazy<float> h = sn::matmul(a, w);
    const sn::Lazy<float> norm = sn::layer_norm(h.slice(1, 0, 3) * h.slice(1, 3, 6), {3});
    return sn::Lazy<float>(sn::matmul(norm, v).square().sum());
  };
  const sn::Lazy<float> loss = loss_of();
  const auto before = sn::jit_stats().launches;
  const auto [gw, gv] = sn::grad(loss, w, v);
  // The norm, the product, the sum with its gradient, two products, the norm's gradient, which is placed in three.
  EXPECT_EQ(sn::jit_stats().launches, before + 9);
  EXPECT_FLOAT_EQ(sn::Tensor<float>(loss).item(), sn::Tensor<float>(loss_of()).item());
  EXPECT_EQ(sn::jit_stats().launches, before + 9 + 1 + 4);  // the value is copied; without a gradient, it is computed
}

}  // namespace
}  // namespace sinter

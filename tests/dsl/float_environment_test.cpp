// The host program may round, flush denormals or trap as it likes: results are the same, and its settings are
// restored.
#include "devices.hpp"

#include <bit>
#include <cfenv>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#if defined(__x86_64__)
#include <pmmintrin.h>
#endif

#include <gtest/gtest.h>

namespace sinter {
namespace {

/// Every kind of step: rounding, denormals, functions, scalars that are converted, a division by zero, and enough
/// elements for several threads.
template <class D>
std::vector<float> results(const Tensor<float, D>& x, const Tensor<float, D>& small) {
  std::vector<float> all;
  const auto append = [&](const Tensor<float>& t) {
    for (const float v : t.cpu().to_vector()) all.push_back(v);
  };
  append(x / 3.0f + x * 0.1f);
  append(x.exp() * x.sin() + x.tanh().log1p());
  append(small * 0.5f + small);
  append(x * 0.1 - 1.0 / 3);  // doubles become floats
  append(where(x > 2.0f, x / (x - x), x.sqrt()));
  append(arange(300000, x.device()).template to<float>() / 7.0f);
  return all;
}

class FloatEnvironment : public testing::TestWithParam<bool> {
 protected:
  /// Evaluates under `change`, and compares bit for bit with what the default environment gives.
  void check(const std::function<void()>& change) {
    std::fenv_t before;
    std::fegetenv(&before);
    const std::vector<float> expected = evaluate_all();
    change();
    const auto changed = settings();
    const std::vector<float> got = evaluate_all();
    const auto after = settings();
    std::fesetenv(&before);
    EXPECT_EQ(after, changed);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(std::bit_cast<std::uint32_t>(got[i]), std::bit_cast<std::uint32_t>(expected[i])) << i;
  }

 private:
  static std::vector<float> evaluate_all() {
    const Tensor x = tensor({1.0f, 2.5f, 3.7f, -1.1f, 0.3f});
    constexpr float seven_steps = std::numeric_limits<float>::denorm_min() * 7;
    const Tensor small = tensor({seven_steps, 1e-40f, 3e-39f});
    return GetParam() ? results(x.cuda(), small.cuda()) : results(x, small);
  }
  static unsigned settings() {
#if defined(__x86_64__)
    return _mm_getcsr() & ~static_cast<unsigned>(_MM_EXCEPT_MASK);
#else
    return static_cast<unsigned>(std::fegetround());
#endif
  }
};

TEST_P(FloatEnvironment, Rounding) {
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) check([=] { std::fesetround(mode); });
}

#if defined(__x86_64__)
TEST_P(FloatEnvironment, DenormalsFlushed) {
  check([] {
    _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
    _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
  });
}
#endif

TEST_P(FloatEnvironment, Traps) {
  check([] { feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW); });
}

/// What is made and printed on the host: `f` returns text.
void expect_same_text(const std::function<std::string()>& f) {
  const std::string expected = f();
  std::fenv_t before;
  std::fegetenv(&before);
  std::fesetround(FE_UPWARD);
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
  const std::string got = f();
  std::fesetenv(&before);
  EXPECT_EQ(got, expected);
}

TEST(HostFloats, RangesAndPrinting) {
  volatile double tenth = 0.1;
  expect_same_text([&] {
    const double step = tenth;
    return sinter_tests::printed(arange<double>(0., 0.7000000000000001, step)) +
           sinter_tests::printed(linspace<double>(step, 0.7, 11));
  });
  expect_same_text([] { return sinter_tests::printed(tensor<double>({1e300, 1e-300, 3.0})); });
  expect_same_text([] { return sinter_tests::printed(full({2}, 1e30)); });
}

/// The same text in every rounding mode, and with all exceptions trapping. `f` runs first in a changed environment:
/// what is made once and kept must not depend on it.
void expect_same_text_always(const std::function<std::string()>& f) {
  std::fenv_t before;
  std::fegetenv(&before);
  const auto within = [&](const std::function<void()>& change) {
    change();
    std::string text = f();
    std::fesetenv(&before);
    return text;
  };
  // CUDA's driver raises FE_INEXACT.
  const std::string trapped =
      within([] { feenableexcept(FE_ALL_EXCEPT & ~(sinter_tests::virtual_gpus ? 0 : FE_INEXACT)); });
  const std::string up = within([] { std::fesetround(FE_UPWARD); });
  const std::string expected = f();
  EXPECT_EQ(up, expected);
  EXPECT_EQ(trapped, expected);
  for (const int mode : {FE_DOWNWARD, FE_TOWARDZERO}) EXPECT_EQ(within([=] { std::fesetround(mode); }), expected);
}

/// Literals in texts, and the bits that they become.
std::string bits_of_literals() {
  const AnyTensor z(ones<double>({1}));
  std::string bits;
  for (int i = 0; i < 500; ++i) {
    const std::string literal = std::to_string(i % 97) + "." + std::to_string(7452609 + 7919 * i);
    const AnyTensor t = parse("z*" + literal + (i % 2 ? "" : "/3 + 2**0.5"), {{"z", z}});
    bits += std::to_string(std::bit_cast<std::uint64_t>(static_cast<const Tensor<double>&>(Tensor<double>(t)).item())) +
            "\n";
  }
  return bits;
}

TEST(HostFloats, Texts) {
  expect_same_text_always(bits_of_literals);
  expect_same_text_always([] { return sinter::to_string(parse_signature("z: f32[9007199254740993]")[0]); });
}

TEST(HostFloats, ExportedKernels) {
  expect_same_text_always([] {
    const AnyTensor z(ones({2, 3}));
    const Exported library =
        export_kernels({exported(parse("i0(z) * 0.1 + softmax(z / 3, -1)", {{"z", z}}), {.name = "own"})},
                       {.name = "own", .architectures = {}});
    std::string all;
    for (const auto& [name, text] : library.files) all += name + "\n" + text;
    return all;
  });
}

class HostFloatsOn : public testing::TestWithParam<bool> {
 protected:
  static AnyTensor on_device(const AnyTensor& t) { return GetParam() ? t.cuda(0) : t; }
  static AnyTensor numbers() { return on_device(AnyTensor(tensor({3.0f, 1.0f, 2.5f, 0.1f, 7.0f, -4.0f}))); }
};

TEST_P(HostFloatsOn, WhatIsInspected) {
  const std::string text = "softmax(z * (2.7 / 3) + i0(z), -1)";
  const auto expression = [&] { return parse(text, {{"z", numbers()}}); };
  expect_same_text_always([&] { return explain(expression()); });
  expect_same_text_always([&] { return to_dot(expression()); });
  expect_same_text_always([&] { return cuda_source(expression()); });
}

TEST_P(HostFloatsOn, WhatIsOrderedAndScanned) {
  expect_same_text_always([&] { return sinter_tests::printed(sort(numbers()).values); });
  expect_same_text_always([&] { return sinter_tests::printed(topk(numbers(), 2).values); });
  expect_same_text_always([&] { return sinter_tests::printed(numbers().median()); });
  expect_same_text_always([&] { return sinter_tests::printed(numbers().cumsum(0)); });
  expect_same_text_always([&] { return sinter_tests::printed(numbers()[numbers() > 1.0f]); });
}

TEST_P(HostFloatsOn, WhatIsMultiplied) {
  expect_same_text_always([&] {
    const AnyTensor m = on_device(AnyTensor(tensor({{1.1f, 2.5f}, {0.3f, 4.7f}})));
    return sinter_tests::printed(einsum("ij,jk->ik", m, m)) + sinter_tests::printed(AnyTensor(matmul(m, m)));
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, HostFloatsOn, testing::Bool(),
                         [](const auto& of) { return of.param ? "VirtualGpu" : "Cpu"; });
INSTANTIATE_TEST_SUITE_P(Devices, FloatEnvironment, testing::Bool(),
                         [](const auto& of) { return of.param ? "VirtualGpu" : "Cpu"; });

}  // namespace
}  // namespace sinter

// The host program may round, flush denormals or trap as it likes: results are the same, and it finds its settings
// again.
#include "devices.hpp"

#include <bit>
#include <cfenv>
#include <cmath>
#include <functional>
#include <limits>
#if defined(__x86_64__)
#include <pmmintrin.h>
#endif

#include <gtest/gtest.h>

namespace sinter {
namespace {

/// Of every kind of step: rounding, denormals, functions, scalars that are converted, a division by zero, and enough
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

/// What is made and printed on the host: `f` gives text.
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

INSTANTIATE_TEST_SUITE_P(Devices, FloatEnvironment, testing::Bool(),
                         [](const auto& of) { return of.param ? "VirtualGpu" : "Cpu"; });

}  // namespace
}  // namespace sinter

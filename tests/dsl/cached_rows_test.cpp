// Rows cached in shared memory give the same bits on a GPU with room for them, on one without, and on the CPU.
#include "devices.hpp"

#include <gmock/gmock.h>

#include <jit/shared_gpu.hpp>

namespace sn = sinter;

namespace {

constexpr std::int64_t large = 227 << 10, small = 48 << 10;

struct CachedRows : testing::Test {
  void SetUp() override {
    if (sinter_tests::devices().size() < 2) GTEST_SKIP() << "no GPU";
    sn::manual_seed(5);
  }

  /// Checks f(inputs), which is cached if there is room, according to `row_caches`.
  template <class F, class... T>
  static void expect_same(bool row_caches, F f, const T&... inputs) {
    const auto on = [&](std::int64_t shared) {
      sn::testing::SharedGpu gpu(shared);
      const sn::Tensor y = f(inputs...);
      EXPECT_EQ(gpu.asked_for > 0, row_caches && shared == large) << gpu.asked_for;
      return y;
    };
    const auto with = on(large), without = on(small);
    EXPECT_TRUE(bits(with) == bits(without));
    using Y = typename decltype(with.to_vector())::value_type;
    const double close = sizeof(Y) == 8 ? 1e-12 : sizeof(Y) == 4 ? 3e-5 : 2e-2;
    const sn::Tensor of_cpu = f(inputs.cpu()...);
    EXPECT_TRUE(sn::allclose(with.cpu().template to<double>(), of_cpu.template to<double>(), close, close / 10));
  }

  template <class Y>
  static std::vector<char> bits(const Y& y) {
    const auto values = y.to_vector();
    std::vector<char> found(values.size() * sizeof values[0]);
    std::memcpy(found.data(), values.data(), found.size());
    return found;
  }

  /// Two rows or more of it, and numbers that make a softmax of them uneven.
  static sn::Tensor<float> rows(std::int64_t columns, std::int64_t count = 2) {
    return sn::randn({count, columns}, sn::Device(0)) * 3 + 1;
  }
};

constexpr auto softmax = [](const auto& a) { return sn::softmax(a, -1); };

TEST_F(CachedRows, AroundTheBoundaries) {
  for (const std::int64_t columns : {32768, 32769, 32772, 40000, 57000, 57608, 58112, 100000}) {
    SCOPED_TRACE(columns);
    expect_same(columns > 32768 && columns < 58000, softmax, rows(columns));
  }
}

TEST_F(CachedRows, ManyRowsForABlock) { expect_same(true, softmax, rows(33001, 11)); }

TEST_F(CachedRows, NormsAndLosses) {
  constexpr std::int64_t n = 40000;
  const sn::Tensor<float> x = rows(n, 3), w = sn::randn({n}, sn::Device(0)), b = sn::randn({n}, sn::Device(0));
  expect_same(true, [](const auto& a) { return sn::log_softmax(a, -1); }, x);
  expect_same(
      true, [](const auto& a, const auto& weight, const auto& bias) { return sn::layer_norm(a, {n}, weight, bias); }, x,
      w, b);
  expect_same(true, [](const auto& a, const auto& weight) { return sn::rms_norm(a, {n}, weight); }, x, w);
  // One pass is enough.
  expect_same(false, [](const auto& a) { return sn::var(a, -1); }, x);
  const sn::Tensor<std::int64_t> target = sn::arange(3, sn::Device(0)) * 13000;
  expect_same(
      false, [](const auto& a, const auto& classes) { return sn::cross_entropy(a, classes, sn::reduction::none); }, x,
      target);
  // Two inputs and three passes.
  const sn::Tensor<float> y = rows(25000, 3), z = rows(25000, 3);
  expect_same(
      true,
      [](const auto& a, const auto& c) {
        const auto d = a - sn::amax(c, -1, sn::keepdim) * sn::mean(a * c, -1, sn::keepdim);
        return sn::Tensor(d * c / sn::sum(sn::abs(d), -1, sn::keepdim));
      },
      y, z);
}

TEST_F(CachedRows, OtherDtypes) {
  expect_same(true, softmax, rows(40000).to<sn::bfloat16>());
  expect_same(true, softmax, rows(65001).to<sn::half>());
  expect_same(true, [](const auto& a) { return sn::layer_norm(a, {40000}); }, rows(40000).to<sn::bfloat16>());
  for (const std::int64_t columns : {20000, 28001}) expect_same(true, softmax, rows(columns).to<double>());
  expect_same(false, softmax, rows(30000).to<double>());
  expect_same(
      true,
      [](const auto& a) {
        return sn::Tensor<float>(sn::cast<float>(a) / sn::cast<float>(sn::amax(a, -1, sn::keepdim)));
      },
      sn::Tensor<std::int16_t>((rows(60001) * 100).to<std::int16_t>()));
}

TEST_F(CachedRows, LayoutsOfAnyKind) {
  constexpr std::int64_t n = 36000;
  const sn::Tensor<float> x = rows(2 * n + 8);
  const auto part = [&](std::int64_t first, std::int64_t step) { return x.slice(1, first, first + n * step, step); };
  expect_same(true, softmax, part(1, 1));
  expect_same(true, softmax, part(4, 1));
  expect_same(true, softmax, part(0, 2));
  expect_same(true, softmax, x.slice(1, 0, 40000, 1).flip(1));
  // Over two axes that do not merge.
  const sn::Tensor<float> cube = sn::randn({2, 180, 250}, sn::Device(0));
  expect_same(true, [](const auto& c) { return sn::layer_norm(c.slice(2, 0, 200, 1), {180, 200}); }, cube);
}

TEST_F(CachedRows, InputsThatAreBroadcast) {
  constexpr std::int64_t n = 35000;
  const sn::Tensor<float> x = rows(n, 3), row = rows(n, 1), column = sn::randn({3, 1}, sn::Device(0));
  expect_same(
      false, [](const auto& a, const auto& r, const auto& s) { return sn::softmax(a * r + s, -1); }, x, row, column);
  constexpr std::int64_t m = 28000;
  expect_same(
      true, [](const auto& a, const auto& r, const auto& s) { return sn::softmax(a * r + s, -1); }, rows(m, 3),
      rows(m, 1), column);
}

TEST_F(CachedRows, InPlace) {
  const sn::Tensor<float> x = rows(33333, 3);
  expect_same(
      true,
      [](const sn::Tensor<float>& a) {
        sn::Tensor<float> y = a.clone();
        y = sn::softmax(y * 2, -1);
        y.copy_(sn::softmax(y, -1));
        return y;
      },
      x);
}

}  // namespace

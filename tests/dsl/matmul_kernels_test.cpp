// What is computed around matrix products: how many kernels, and what memory they take.
#include "devices.hpp"
#include "random_views.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>
#include <vector>

#include <sinter/jit/stats.hpp>

namespace sn = sinter;
using namespace sinter_tests;
using sn::Shape;
using testing::HasSubstr;

namespace {

std::uint64_t launches_of(auto work) {
  const std::uint64_t before = sn::jit_stats().launches;
  work();
  return sn::jit_stats().launches - before;
}

TEST(MatMulKernels, WhatIsAroundIsFused) {
  for (const sn::Device device : devices()) {
    const sn::Tensor<float, sn::AnyDevice> x = sn::rand({8, 5}, device), w = sn::rand({5, 6}, device),
                                           b = sn::rand({6}, device);
    EXPECT_EQ(launches_of([&] { sn::Tensor(sn::matmul(x, w)); }), 1u);
    EXPECT_EQ(launches_of([&] { sn::Tensor(sn::gelu(sn::matmul(x, w) + b) * 2); }), 2u);
    EXPECT_EQ(launches_of([&] { sn::Tensor(sn::gelu(sn::matmul(x * 2 + 1, w) + b)); }), 3u);
    EXPECT_EQ(launches_of([&] { sn::Tensor(sn::softmax(sn::matmul(x, w) + b, -1)); }), 2u);
    // Attention: three products, with only the softmax between them.
    EXPECT_EQ(launches_of([&] { sn::Tensor(sn::matmul(sn::softmax(sn::matmul(x, x.t()) / 2, -1), x)); }), 3u);
    // One product for both: what two expressions share is stored once.
    const auto y = sn::matmul(x, w) + b;
    EXPECT_EQ(launches_of([&] { (void)sn::evaluate(y.exp(), y.relu()); }), 2u);
  }
}

TEST(MatMulKernels, WhatABlasMultipliesAndAdds) {
  std::mt19937 random(7);
  for (const sn::Device device : devices())
    for (const Shape& batch : {Shape{}, Shape{3}, Shape{2, 3}}) {
      SCOPED_TRACE(to_string(batch) + " on " + to_string(device));
      Shape of_a = batch, of_c = batch;
      of_a.push_back(4), of_a.push_back(5), of_c.push_back(4), of_c.push_back(6);
      for (int i = 0; i < 6; ++i) {
        const sn::Tensor<float, sn::AnyDevice> a = random_view<float>(of_a, device, random),
                                               b = random_view<float>({5, 6}, device, random),
                                               c = random_view<float>(of_c, device, random);
        const sn::Tensor<float, sn::AnyDevice> product = sn::matmul(a, b);
        const auto expect = [](const auto& e, const sn::Tensor<float, sn::AnyDevice>& right) {
          const sn::Tensor<float, sn::AnyDevice> result = e;
          EXPECT_TRUE(sn::allclose(result, right, 1e-5, 1e-5)) << result.cpu() << right.cpu();
        };
        expect(sn::matmul(a, b) * 0.5, sn::Tensor(product * 0.5));
        expect(3 * sn::matmul(a, b), sn::Tensor(product * 3));
        expect(sn::matmul(a, b) + c, sn::Tensor(product + c));
        expect(2.5f * c + sn::matmul(a, b) * -1, sn::Tensor(2.5f * c - product));
        const auto x = a.contiguous(), y = b.contiguous(), z = c.contiguous();  // nothing is copied first
        EXPECT_EQ(launches_of([&] { sn::Tensor(sn::matmul(x, y) * 0.5); }), 1u);
        EXPECT_EQ(launches_of([&] { sn::Tensor(2.5f * z + sn::matmul(x, y) * -1); }), 1u);
      }
    }
}

TEST(MatMulKernels, OutputsThatOperandsShare) {
  for (const sn::Device device : devices()) {
    sn::Tensor<float, sn::AnyDevice> a = sn::tensor({{1.f, 2.f}, {3.f, 4.f}}).to(device);
    const sn::Tensor<float, sn::AnyDevice> before = a.clone();
    a.assign(sn::matmul(a, a));
    EXPECT_EQ(printed(a.cpu()), "tensor([[ 7., 10.],\n        [15., 22.]])");
    a.copy_(before);
    a.t().assign(sn::matmul(a, a));  // written transposed
    EXPECT_EQ(printed(a.cpu()), "tensor([[ 7., 15.],\n        [10., 22.]])");
    a.copy_(before);
    a.assign(sn::matmul(a, a) + a);
    EXPECT_EQ(printed(a.cpu()), "tensor([[ 8., 12.],\n        [18., 26.]])");
    sn::Tensor<float, sn::AnyDevice> sums = before.clone();
    sums += sn::matmul(a.copy_(before), before);
    EXPECT_EQ(printed(sums.cpu()), "tensor([[ 8., 12.],\n        [18., 26.]])");
    sums.t().assign(sums + sn::matmul(before, before));
    EXPECT_EQ(printed(sums.cpu()), "tensor([[15., 33.],\n        [22., 48.]])");
    a.copy_(before);
    a += sn::matmul(a.t(), a);
    EXPECT_EQ(printed(a.cpu()), "tensor([[11., 16.],\n        [17., 24.]])");
    sn::Tensor<double, sn::AnyDevice> wide = sn::zeros<double>({2, 2}, device);
    wide.assign(sn::cast<double>(sn::matmul(before, before)));
    EXPECT_EQ(wide.cpu().to_vector(), (std::vector<double>{7, 10, 15, 22}));
    sn::Tensor<float, sn::AnyDevice> larger = sn::zeros({2, 2, 2}, device);
    larger.assign(sn::matmul(before, before));
    EXPECT_EQ(larger.cpu().to_vector(), (std::vector<float>{7, 10, 15, 22, 7, 10, 15, 22}));
  }
}

TEST(MatMulKernels, WritesAndAddsWithoutATemporary) {
  std::mt19937 random(11);
  for (const sn::Device device : devices())
    for (const Shape& batch : {Shape{}, Shape{3}, Shape{2, 3}}) {
      SCOPED_TRACE(to_string(batch) + " on " + to_string(device));
      Shape of_a = batch, of_b = batch, of_y = batch;
      of_a.push_back(4), of_a.push_back(5), of_b.push_back(5), of_b.push_back(6), of_y.push_back(4), of_y.push_back(9);
      using Matrices = sn::Tensor<float, sn::AnyDevice>;
      const Matrices a = random_tensor<float>(of_a, device, random), b = random_tensor<float>(of_b, device, random),
                     whole = random_tensor<float>(of_y, device, random), product = sn::matmul(a, b);
      const auto expect = [&](Matrices y, auto write, const Matrices& right, bool direct) {
        const std::uint64_t before = sn::memory_stats(device).requests;
        EXPECT_EQ(launches_of([&] { write(y); }) == 1, direct);
        EXPECT_EQ(sn::memory_stats(device).requests == before, direct);
        EXPECT_TRUE(sn::allclose(y, right, 1e-5, 1e-5)) << y.cpu() << right.cpu();
      };
      const auto expect_all = [&](auto some, bool direct) {
        const Matrices x = some(whole).contiguous();
        expect(some(whole.clone()), [&](Matrices& y) { y.assign(sn::matmul(a, b)); }, product, direct);
        expect(some(whole.clone()), [&](Matrices& y) { y += sn::matmul(a, b); }, sn::Tensor(x + product), direct);
        expect(
            some(whole.clone()), [&](Matrices& y) { y.assign(0.5f * y + sn::matmul(a, b) * 3); },
            sn::Tensor(0.5f * x + product * 3), direct);
      };
      expect_all([](const Matrices& y) { return y.narrow(-1, 0, 6).contiguous(); }, true);
      expect_all([](const Matrices& y) { return y.narrow(-1, 2, 6); }, true);
      expect_all([](const Matrices& y) { return y.narrow(-1, 2, 6).flip(-2); }, false);
      Matrices gaps = whole.clone();
      gaps.narrow(-1, 2, 6) += sn::matmul(a, b);
      EXPECT_TRUE(sn::equal(gaps.narrow(-1, 0, 2), whole.narrow(-1, 0, 2)));
      EXPECT_TRUE(sn::equal(gaps.narrow(-1, 8, 1), whole.narrow(-1, 8, 1)));
    }
}

TEST(MatMulKernels, AddsToWhatItReadsInPart) {
  for (const sn::Device device : devices()) {
    const sn::Tensor<float, sn::AnyDevice> all = sn::tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}).to(device),
                                           w = sn::tensor({{1.f, 2.f}, {0.f, 1.f}}).to(device);
    auto first = all.narrow(0, 0, 2);
    first += sn::matmul(all.narrow(0, 1, 2), w);
    EXPECT_EQ(all.cpu().to_vector(), (std::vector<float>{4, 12, 8, 20, 5, 6}));
    auto last = all.narrow(0, 1, 2);
    last += sn::matmul(w, all.narrow(0, 0, 2));
    EXPECT_EQ(all.cpu().to_vector(), (std::vector<float>{4, 12, 28, 72, 13, 26}));
    sn::Tensor<float, sn::AnyDevice> right = w.clone();
    const std::uint64_t before = sn::memory_stats(device).requests;
    right += sn::matmul(w, right);
    EXPECT_GT(sn::memory_stats(device).requests, before);
    EXPECT_EQ(right.cpu().to_vector(), (std::vector<float>{2, 6, 0, 2}));
  }
}

TEST(MatMulKernels, ViewsAndLazyExpressionsOfProducts) {
  const auto a = sn::tensor({{1.f, 2.f}, {3.f, 4.f}});
  EXPECT_EQ(printed(sn::Tensor(sn::matmul(a, a).t() + 0)), "tensor([[ 7., 15.],\n        [10., 22.]])");
  EXPECT_EQ(printed(sn::Tensor(sn::matmul(a, a)[1])), "tensor([15., 22.])");
  EXPECT_EQ(sn::Tensor(sn::cat(0, sn::matmul(a, a), a)).shape(), (Shape{4, 2}));
  sn::Lazy power = a;
  for (int i = 0; i < 3; ++i) power = sn::matmul(power, power) / 10;
  EXPECT_EQ(sn::shape_of(power), (Shape{2, 2}));
  const std::vector<float> values = sn::Tensor(power).to_vector();
  sn::Tensor<float, sn::Cpu> by_hand = a;
  for (int i = 0; i < 3; ++i) by_hand = sn::Tensor(sn::matmul(by_hand, by_hand) / 10);
  EXPECT_EQ(values, by_hand.to_vector());
  sn::Lazy deep = a;
  for (int i = 0; i < 500; ++i) deep = (sn::matmul(deep, a) * 0.1f).clamp(-1, 1);
  for (const float v : sn::Tensor(deep).to_vector()) EXPECT_LE(std::abs(v), 1);
}

/// A network holds two activations, however many layers it has; explain says so.
TEST(MatMulKernels, TheMostMemoryOfANetwork) {
  constexpr std::int64_t n = 128;
  for (const sn::Device device : devices()) {
    std::vector<sn::Tensor<float>> weights;
    for (int i = 0; i < 20; ++i) weights.push_back(sn::randn<float>({n, n}).to(device));
    const sn::Tensor<float> x = sn::randn<float>({n, n}).to(device);
    sn::Lazy<float> y = x;
    for (const sn::Tensor<float>& w : weights) y = sn::relu(sn::matmul(y, w) + 1);
    EXPECT_THAT(sn::explain(y), HasSubstr("at most 131 KB are allocated at the same time, with the results"));
    const std::size_t before = sn::memory_stats(device).in_use;
    sn::reset_peak_memory(device);
    const sn::Tensor<float> result = y;
    EXPECT_EQ(sn::memory_stats(device).peak_in_use - before, 2 * n * n * sizeof(float)) << device;
  }
}

/// What follows a product is written in its place, if no kernel reads it once more.
TEST(MatMulKernels, ResultsTakeThePlaceOfTheProduct) {
  constexpr std::int64_t n = 128;
  constexpr std::size_t matrix = n * n * sizeof(float);
  for (const sn::Device device : devices()) {
    const sn::Tensor<float> a = (sn::randn<float>({n, n}) * 0.1f).to(device), b = sn::randn<float>({n, n}).to(device);
    const sn::Tensor<float> product = sn::matmul(a, b);
    const auto check = [&](const auto& made, const sn::Tensor<float>& expected) {
      const sn::Lazy<float> e = made;
      EXPECT_THAT(sn::explain(e), HasSubstr("at most 65.5 KB are allocated at the same time"));
      const std::size_t before = sn::memory_stats(device).in_use;
      sn::reset_peak_memory(device);
      const sn::Tensor<float> result = e;
      EXPECT_EQ(sn::memory_stats(device).peak_in_use - before, matrix) << device;
      EXPECT_EQ(result.to_vector(), expected.to_vector());
    };
    check(sn::relu(sn::matmul(a, b) + 1), sn::relu(product + 1));
    check(sn::exp(sn::matmul(a, b)) * a.t(), sn::exp(product) * a.t());
  }
}

/// The kernel after a product is the same whether its output is given or takes the product's place.
TEST(MatMulKernels, OneVariantServesAllOutputs) {
  for (const sn::Device device : devices()) {
    if (device.is_cpu()) continue;
    const sn::Tensor<float> a = sn::ones({8, 8}, device), b = sn::ones({8, 8}, device);
    sn::Tensor<float> out = sn::empty({8, 8}, device);
    const sn::Lazy<float> e = sn::Lazy<float>(sn::cosh(sn::matmul(a, b)) * 3.5f);
    sn::prepare(e);
    const auto compiled = [] { return sn::jit_stats().compiles + sn::jit_stats().disk_hits; };
    const std::uint64_t before = compiled();
    out.assign(e);
    EXPECT_EQ(compiled(), before) << device;
    const sn::Tensor<float> made = sn::Lazy<float>(sn::cosh(sn::matmul(a, b)) * 3.5f);
    EXPECT_EQ(compiled(), before) << device;
    EXPECT_EQ(out.to_vector(), made.to_vector());
  }
}

}  // namespace

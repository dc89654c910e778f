// Random programs of matrices: a reference in double, fused, eager, and on every device.
#include "devices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>

namespace sn = sinter;
using namespace sinter_tests;

namespace {

/// A matrix, or a column of one number for each row.
struct Square {
  std::int64_t columns;
  std::vector<double> of;
};
constexpr std::int64_t n = 5;
double& at(Square& v, std::int64_t row, std::int64_t column) {
  return v.of[static_cast<std::size_t>(row * v.columns + (v.columns == 1 ? 0 : column))];
}
template <class F>
Square each(F f) {
  Square made{n, std::vector<double>(n * n)};
  for (std::int64_t r = 0; r < n; ++r)
    for (std::int64_t c = 0; c < n; ++c) at(made, r, c) = f(r, c);
  return made;
}

using Lazy = sn::Lazy<double, sn::AnyDevice>;
struct Step {
  Lazy expression;
  Square values;
  std::string text;
};

Step random_step(std::vector<Step>& steps, std::mt19937& random) {
  const auto some = [&]() -> Step& { return steps[random() % steps.size()]; };
  const auto matrix = [&]() -> Step& {
    for (;;)
      if (Step& s = some(); s.values.columns == n) return s;
  };
  Step &a = some(), &b = some(), &x = matrix(), &y = matrix();
  const auto number = [&](const Step& s) { return std::string("v").append(std::to_string(&s - steps.data())); };
  switch (random() % 8) {
    case 0:
    case 1:
    case 2:
      return {sn::matmul(x.expression, y.expression) * 0.25, each([&](auto r, auto c) {
                double sum = 0;
                for (std::int64_t k = 0; k < n; ++k) sum += at(x.values, r, k) * at(y.values, k, c);
                return sum * 0.25;
              }),
              number(x) + " @ " + number(y) + " / 4"};
    case 3:
      return {sn::maximum(x.expression, b.expression) - a.expression, each([&](auto r, auto c) {
                return std::max(at(x.values, r, c), at(b.values, r, c)) - at(a.values, r, c);
              }),
              "max(" + number(x) + ", " + number(b) + ") - " + number(a)};
    case 4:
      return {sn::tanh(x.expression) + a.expression,
              each([&](auto r, auto c) { return std::tanh(at(x.values, r, c)) + at(a.values, r, c); }),
              "tanh(" + number(x) + ") + " + number(a)};
    case 5: {
      Square sums{1, std::vector<double>(n)};
      for (std::int64_t r = 0; r < n; ++r)
        for (std::int64_t c = 0; c < n; ++c) at(sums, r, 0) += at(x.values, r, c);
      return {sn::sum(x.expression, -1, sn::keepdim), sums, "sum(" + number(x) + ")"};
    }
    case 6:
      return {sn::softmax(x.expression, -1), each([&](auto r, auto c) {
                double most = -INFINITY, sum = 0;
                for (std::int64_t k = 0; k < n; ++k) most = std::max(most, at(x.values, r, k));
                for (std::int64_t k = 0; k < n; ++k) sum += std::exp(at(x.values, r, k) - most);
                return std::exp(at(x.values, r, c) - most) / sum;
              }),
              "softmax(" + number(x) + ")"};
    default:
      return {x.expression * 0 + a.expression, each([&](auto r, auto c) { return at(a.values, r, c); }),
              "0 " + number(x) + " + " + number(a)};
  }
}

TEST(MatMul, RandomPrograms) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 40; ++round) {
    const sn::Device device = devices()[static_cast<std::size_t>(round) % devices().size()];
    std::vector<Step> steps;
    for (int i = 0; i < 3; ++i) {
      Square values = each([&](auto, auto) { return static_cast<double>(static_cast<int>(random() % 17) - 8) / 8; });
      const sn::Tensor<double, sn::AnyDevice> leaf = sn::tensor(values.of, {n, n}).to(device);
      steps.push_back({Lazy(leaf), values, "leaf"});
    }
    for (std::uint32_t i = 3 + random() % 10; i > 0; --i) {
      Step made = random_step(steps, random);
      steps.push_back(std::move(made));
    }
    std::string program;
    for (std::size_t i = 0; i < steps.size(); ++i) program += "\nv" + std::to_string(i) + " = " + steps[i].text;
    SCOPED_TRACE(program + "\non " + to_string(device));
    const Step &last = steps.back(), &other = steps[3 + random() % (steps.size() - 3)];
    const auto expect = [&](const std::vector<double>& got, const Step& right, const char* how) {
      ASSERT_EQ(got.size(), right.values.of.size()) << how;
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], right.values.of[i], 1e-9 * (1 + std::abs(right.values.of[i]))) << how << ", element " << i;
    };
    expect(sn::Tensor(sn::eager(last.expression)).cpu().to_vector(), last, "eager");
    const auto [one, two] = sn::evaluate(last.expression, other.expression);
    expect(one.cpu().to_vector(), last, "together");
    expect(two.cpu().to_vector(), other, "together, the other");
    expect(sn::Tensor(last.expression).cpu().to_vector(), last, "alone");
  }
}

}  // namespace

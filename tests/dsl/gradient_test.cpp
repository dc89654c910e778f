// Gradients of expressions against central differences: views, broadcasts, products, gathers, random programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include <sinter/sinter.hpp>

namespace gradient_test {
namespace {

namespace sn = sinter;
using namespace sn::literals;
using Doubles = sn::Tensor<double>;
using Value = sn::Lazy<double>;
using Loss = std::function<Value()>;
using testing::HasSubstr;

Doubles random(const sn::Shape& shape, unsigned seed, double low = -1, double high = 1) {
  std::minstd_rand generator(seed);
  std::vector<double> values(static_cast<std::size_t>(shape.numel()));
  for (double& v : values) v = std::uniform_real_distribution(low, high)(generator);
  return Doubles(sn::from_blob(values.data(), shape).clone());
}

/// The gradient of a loss by central differences, whose error is about 1e-9 here.
std::vector<double> differences(const Loss& loss, Doubles x) {
  std::vector<double> found;
  Doubles flat = x.view({-1});
  for (std::int64_t i = 0; i < flat.size(0); ++i) {
    const double step = 1e-5, old = flat[i].item();
    const auto at = [&](double value) {
      flat[i] = value;
      return Doubles(loss()).item();
    };
    found.push_back((at(old + step) - at(old - step)) / (2 * step));
    flat[i] = old;
  }
  return found;
}

void check(const Loss& loss, const std::vector<Doubles>& by, double tolerance = 1e-7) {
  std::vector<Doubles> gradients, eager;
  for (const Value& g : sn::grad(loss(), by, sn::unused::zeros)) {
    eager.push_back(sn::eager(g));
    gradients.push_back(g);
  }
  for (std::size_t i = 0; i < by.size(); ++i) {
    ASSERT_EQ(gradients[i].shape(), by[i].shape());
    const std::vector<double> expected = differences(loss, by[i]);
    for (std::int64_t k = 0; k < by[i].numel(); ++k) {
      const double value = gradients[i].reshape({-1})[k].item(), eager_value = eager[i].reshape({-1})[k].item();
      EXPECT_NEAR(value, expected[static_cast<std::size_t>(k)], tolerance * (1 + std::abs(value)))
          << "operand " << i << ", element " << k;
      EXPECT_NEAR(value, eager_value, 1e-12 * (1 + std::abs(value)));
    }
  }
}

class Gradient : public testing::Test {
 protected:
  Doubles x = random({2, 3}, 1), y = random(sn::Shape(3), 2), column = random({2, 1}, 3), w = random({3, 4}, 4);
};

TEST_F(Gradient, SumsOverBroadcastAxes) {
  check([&] { return Value((x * y + column).exp().sum()); }, {x, y, column});
  check([&] { return Value((x * 2 + 1).mean()); }, {x});
  check([&] { return Value((y * y.unsqueeze(1) * random({3, 3}, 9)).sum()); }, {y});
}

TEST_F(Gradient, OfReductions) {
  check([&] { return Value((x.sum(1) * random(sn::Shape(2), 5)).sum()); }, {x});
  check([&] { return Value((x.sum(0) * y).tanh().sum()); }, {x, y});
  check([&] { return Value((x.var(1) * x.mean(1).exp()).sum()); }, {x});
  check([&] { return Value((x.amax(0) * y).sum()); }, {x, y});
  check([&] { return Value((x.prod(1) + x.logsumexp(1)).square().sum()); }, {x});
  check([&] { return Value((x.softmax(1) * x.log_softmax(0)).sum()); }, {x});
  check([&] { return Value((x / x.square().sum(1, sn::keepdim).sqrt()).sum(0).square().sum()); }, {x});
  // The gradient of a reduction that is not the last one depends on other values of the same shape.
  check([&] { return Value((x.sum(1) * x.sum(1).exp()).sum()); }, {x});
}

TEST_F(Gradient, OfProducts) {
  const Doubles batch = random({2, 3, 2}, 6), other = random({2, 2, 3}, 7), v = random(sn::Shape(2), 8);
  check([&] { return Value(sn::matmul(x, w).tanh().sum()); }, {x, w});
  check([&] { return Value(sn::matmul(sn::matmul(x, w).relu(), w.t()).square().mean()); }, {x, w});
  check([&] { return Value(sn::matmul(x, y).exp().sum()); }, {x, y});
  check([&] { return Value(sn::matmul(v, x).exp().sum()); }, {x, v});
  check([&] { return Value(sn::matmul(y, y).exp()); }, {y});
  check([&] { return Value(sn::matmul(batch, other).sin().sum()); }, {batch, other});
  check([&] { return Value(sn::matmul(batch, x).sin().sum()); }, {batch, x});  // x is one matrix for the batch
  check([&] { return Value(sn::matmul(batch, v).sin().sum()); }, {batch, v});
  check([&] { return Value(sn::matmul(v, other).sin().sum()); }, {v, other});
  check([&] { return Value((sn::matmul(x, w) * 3 + sn::matmul(x, w).sum()).exp().mean()); }, {x, w});
}

TEST_F(Gradient, ThroughViews) {
  check([&] { return Value((x.t() * random({3, 2}, 5)).exp().sum()); }, {x});
  check([&] { return Value(x[0].exp().sum() + (x[1] * x[0]).sum()); }, {x});
  check([&] { return Value((x.slice(1, 0, 3, 2) * column).exp().sum()); }, {x, column});
  check([&] { return Value((x.view({3, 2}) * random({3, 2}, 5)).sin().sum()); }, {x});
  check([&] { return Value((x.flip(0) * x).exp().sum()); }, {x});
  check([&] { return Value((y.expand({4, 3}) * random({4, 3}, 5)).exp().sum()); }, {y});
  check([&] { return Value((y.unfold(0, 2, 1) * random({2, 2}, 5)).exp().sum()); }, {y});
  check([&] { return Value((w.diagonal() * y).exp().sum()); }, {w, y});
}

TEST_F(Gradient, OfOneTensorTwice) {
  const auto [g, h] = sn::grad((x[0] * x[1]).sum(), x, x);
  EXPECT_TRUE(sn::equal(g, x.flip(0)) && sn::equal(h, x.flip(0)));
}

TEST_F(Gradient, ThroughViewsOfResults) {
  check([&] { return Value((sn::matmul(x, w).t()[1] * x.t()[0]).exp().sum()); }, {x, w});
  check([&] { return Value((x.softmax(1).view({3, 2}) * random({3, 2}, 5)).sin().sum()); }, {x});
  // Two views of one result, a view of a view, and the result itself.
  check(
      [&] {
        const Value product = sn::matmul(x, w);
        const std::vector<Value> halves = product.chunk(2, 1);
        return Value((halves[0] * halves[1].exp()).sum() + product.view({4, 2})[0].sin().sum() + product.sum());
      },
      {x, w});
  // Attention: heads are views of products, and their product is viewed again.
  check(
      [&] {
        const auto heads = [](const Value& v) { return v.view({2, 2, 2}).transpose(0, 1); };
        const Value q = heads(sn::matmul(x, w)), k = heads(sn::matmul(x, w * 2));
        const Value scores = sn::matmul(q, k.transpose(-2, -1)).softmax(-1);
        return Value(sn::matmul(sn::matmul(scores, q).transpose(0, 1).reshape({2, 4}), w.t()).square().sum());
      },
      {x, w});
}

TEST_F(Gradient, OfAWeightOfABatchIsOneProduct) {
  const Doubles batch = random({5, 2, 3}, 6);
  const Value loss = sn::matmul(batch, w).sum();
  const auto before = sn::jit_stats().launches;
  (void)Doubles(sn::grad(loss, w));
  EXPECT_EQ(sn::jit_stats().launches - before, 2u);  // ones, and the product
}

TEST_F(Gradient, GoesBackThroughManyViewsOfResults) {
  const Doubles a = random({2, 2}, 5);
  const auto power = [&](int n) {
    Value v = a;
    for (int i = 0; i < n; ++i) v = sn::matmul(a, v).t();
    return Value(v.sum());
  };
  check([&] { return power(40); }, {a});
  try {
    (void)sn::grad(power(600), a);
    FAIL() << "the history is complete";
  } catch (const sn::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("history is not complete: past 16384 operations, 512 nested views"));
  }
}

TEST_F(Gradient, OfIndexedTensors) {
  const auto rows = sn::tensor({2, 0, 2, 1});
  check([&] { return Value((sn::embedding(w, rows) * random({4, 4}, 5)).exp().sum()); }, {w});
  check([&] { return Value((w.index_select(1, sn::tensor({3, 3, 0})) * random({3, 3}, 5)).exp().sum()); }, {w});
  check([&] { return Value(w.gather(1, sn::tensor({{0, 1}, {3, 3}, {2, 0}})).exp().sum()); }, {w});
  check([&] { return Value(sn::cross_entropy(w, sn::tensor({1, 0, 3}))); }, {w});
  check([&] { return Value(sn::take(w, sn::tensor(5)).square()); }, {w});
}

TEST_F(Gradient, OfWhereAndCasts) {
  check([&] { return Value(sn::where(x > 0, x * y, x.exp()).sum()); }, {x, y});
  check([&] { return Value((x * sn::cast<double>(x > 0)).square().sum()); }, {x});
  check([&] { return Value(sn::cast<double>(sn::cast<float>(x)).square().sum()); }, {x}, 1e-1);
}

TEST_F(Gradient, OfSeveralTensorsAndTheValue) {
  const auto [loss, gx, gw] = sn::value_and_grad(sn::matmul(x, w).square().sum(), x, w);
  const auto [value, dx, dw] = sn::evaluate(loss, gx, gw);
  EXPECT_DOUBLE_EQ(value.item(), Doubles(sn::matmul(x, w).square().sum()).item());
  EXPECT_TRUE(sn::allclose(dx, 2 * sn::matmul(sn::matmul(x, w), w.t())));
  EXPECT_TRUE(sn::allclose(dw, 2 * sn::matmul(x.t(), sn::matmul(x, w))));
}

TEST_F(Gradient, OfAGradient) {
  const auto first = [&] { return sn::grad((x.exp() * x.sin()).sum() + sn::matmul(x, w).tanh().sum(), x); };
  check([&] { return Value((first() * first()).sum()); }, {x, w});
  check([&] { return Value(sn::grad(x.softmax(1).square().sum(), x).square().sum()); }, {x});
}

TEST_F(Gradient, OfAGradientThroughWhatIsEvaluated) {
  const auto rows = sn::tensor({2, 0, 2, 1});
  const auto of = [](const Value& loss, const Doubles& by) { return sn::grad(loss, by).square().sum(); };
  check([&] { return Value(of((x[0] * x[1]).exp().sum(), x)); }, {x});
  check([&] { return Value(of((x.slice(1, 0, 3, 2) * column).exp().sum(), x)); }, {x, column});
  check([&] { return Value(of((y.unfold(0, 2, 1) * random({2, 2}, 5)).exp().sum(), y)); }, {y});
  check([&] { return Value(of(sn::embedding(w, rows).exp().sum() + w.sum(), w)); }, {w});
  check([&] { return Value(of(w.gather(1, sn::tensor({{0, 1}, {3, 3}, {2, 0}})).square().exp().sum(), w)); }, {w});
  check([&] { return Value(of(sn::matmul(x, w).view({4, 2})[1].exp().sum(), w)); }, {x, w});
  check([&] { return Value(of(sn::embedding(w.exp(), rows).square().sum(), w)); }, {w});
}

TEST_F(Gradient, ThroughFunctionsThatEvaluate) {
  const Doubles c = random({4, 3}, 5), d = random({2, 2, 3}, 6), e = random({2, 5}, 7);
  const auto twice = [](const Loss& loss, const std::vector<Doubles>& by) {
    check(loss, by);
    check([&] { return Value(sn::grad(loss(), by[0]).square().sum()); }, by, 1e-6);
  };
  twice([&] { return Value((sn::cat(0, x.exp(), x * y) * c).square().sum()); }, {x, y});
  twice([&] { return Value((sn::cat(1, x.exp(), Value(column)) * random({2, 4}, 8)).square().sum()); }, {x, column});
  twice([&] { return Value((sn::stack(1, x.exp(), x + column) * d).square().sum()); }, {x, column});
  twice([&] { return Value((x.exp().cumsum(1) * x).square().sum()); }, {x});
  twice([&] { return Value((x.exp().cumprod(0) * x).square().sum()); }, {x});
  twice([&] { return Value((x * 2).logcumsumexp(1).square().sum()); }, {x});
  twice([&] { return Value((x.exp().sort(1).values * random({2, 3}, 9)).square().sum()); }, {x});
  twice([&] { return Value(sn::topk(x.exp(), 2).values.square().sum() + x.sum()); }, {x});
  twice([&] { return Value(x.exp().median(1).values.square().sum() + x.exp().median().square()); }, {x});
  twice([&] { return Value((x.exp().cummax(1).values * random({2, 3}, 9)).square().sum()); }, {x});
  twice([&] { return Value(sn::max(x.exp(), 1).values.square().sum()); }, {x});
  twice([&] { return Value(sn::embedding(x.exp(), sn::tensor({1, 1, 0})).square().sum()); }, {x});
  twice([&] { return Value(x.exp().take(sn::tensor({5, 5, 0})).square().sum()); }, {x});
  twice([&] { return Value(sn::roll(x.exp(), 1, 1).square().sum() + (sn::roll(x * 2, 1, 1) * x).sum()); }, {x});
  twice([&] { return Value((sn::einsum("ij,jk->ki", x, w) * random({4, 2}, 9)).square().sum()); }, {x, w});
  twice([&] { return Value(sn::einsum("bij,bjk,ik->b", d.exp(), d.transpose(1, 2), random({2, 2}, 9)).exp().sum()); },
        {d});
  twice([&] { return Value(sn::einsum("ij->j", x.square()).exp().sum() + sn::einsum("ii", w.slice(1, 0, 3).exp())); },
        {x, w});
}

TEST_F(Gradient, CopiesNoResultThatNothingElseReads) {
  const auto before = sn::jit_stats().launches;
  Doubles joined = sn::cat(0, x.exp(), y.expand({2, 3}));
  EXPECT_EQ(sn::jit_stats().launches - before, 1u);
  const auto kept = sn::cat(0, x.exp(), y.expand({2, 3}));
  Doubles copy = kept;
  copy += 1;  // the Lazy keeps its value
  joined += 1;
  EXPECT_TRUE(sn::equal(Doubles(kept + 1), copy));
  EXPECT_TRUE(sn::equal(joined, copy));
}

TEST_F(Gradient, OfProductsWithZeros) {
  for (const auto& values : std::vector<std::vector<double>>{{2, 0, 3, 4}, {0, 2, 0, 4}, {0, 0, 1, 2}, {1, 2, 3, 0}}) {
    const Doubles z = sn::Tensor<double>(sn::tensor(std::span(values)));
    check([&] { return Value(((z * 1).cumprod(0) * random(sn::Shape(4), 5)).sum()); }, {z});
  }
}

TEST_F(Gradient, OfScansOfComplexNumbersAndOfNothing) {
  const sn::Tensor<std::complex<double>> z = sn::complex(random({2, 2}, 5), random({2, 2}, 6));
  const auto first = z[0] * z[0];
  const auto second = first * z[1] * z[1];
  EXPECT_TRUE(sn::allclose(sn::grad(sn::abs((z * z).cumprod(0)).sum(), z),
                           sn::grad(sn::abs(first).sum() + sn::abs(second).sum(), z)));
  EXPECT_TRUE(sn::allclose(sn::grad(sn::abs((z * z).cumsum(0)).sum(), z),
                           sn::grad(sn::abs(first).sum() + sn::abs(first + z[1] * z[1]).sum(), z)));
  const auto point = sn::tensor(2.).to<double>();
  EXPECT_EQ(sn::grad((point * 3).cumsum(0) + (point * 2).cumprod(0) + (point * 4).logcumsumexp(0), point).item(), 9);
  const auto nothing = sn::zeros<double>({0, 3});
  EXPECT_EQ(sn::grad(sn::cat(0, nothing * 2, x * 1).sum() + (nothing * 1).cumsum(0).sum(), nothing).shape(),
            sn::Shape(0, 3));
}

TEST_F(Gradient, MovesBetweenDevices) {
  const auto gpu = sn::cuda<0>;
  const Doubles a = random({2, 2}, 5);
  const sn::Tensor<double, sn::Cuda<0>> b = random({2, 2}, 6).to(gpu);
  const auto loss = sn::Lazy((a.exp().to(gpu) * b).cpu().square().sum());
  EXPECT_TRUE(sn::allclose(sn::grad(loss, a), 2 * (a.exp() * b.cpu()).square()));
}

TEST_F(Gradient, OfACheckpoint) {
  const auto block = [&](const auto& v) { return sn::checkpoint(sn::matmul(v, v.t()).tanh()); };
  check([&] { return Value(sn::matmul(block(x), block(Value(x.exp()))).square().sum()); }, {x});
}

TEST_F(Gradient, OfACustomFunction) {
  const auto clipped = [](const auto& v) {  // whose gradient is that of the identity
    return sn::custom_vjp(sn::clamp(v, -0.5, 0.5), [](const auto& g) { return g; }, v);
  };
  EXPECT_TRUE(sn::allclose(sn::grad((clipped(x * 2) * y).sum(), x), 2 * y.expand({2, 3})));
  const auto reversed = sn::custom_vjp(x, [](const auto& g) { return -g; }, x);  // the result is the input itself
  EXPECT_TRUE(sn::allclose(sn::grad((reversed * y + 3 * x).sum(), x), 3 - y.expand({2, 3})));
  EXPECT_THROW(
      (void)sn::grad(sn::custom_vjp(x, [](const auto& g) { return std::tuple{g, g}; }, x).sum(), x), sn::Error);
  const auto product = sn::custom_vjp(x * y, [&](const auto& g) { return std::tuple{g * y, (g * x).sum(0)}; }, x, y);
  const auto [gx, gy] = sn::grad(product.exp().sum(), x, y);
  const auto [ex, ey] = sn::grad((x * y).exp().sum(), x, y);
  EXPECT_TRUE(sn::allclose(gx, ex));
  EXPECT_TRUE(sn::allclose(gy, ey));
  EXPECT_TRUE(sn::allclose(sn::grad(gx.square().sum(), x), sn::grad(ex.square().sum(), x)));
}

TEST_F(Gradient, IsAJacobianVectorProduct) {
  const Doubles t = random({2, 3}, 5);
  EXPECT_TRUE(sn::allclose(sn::jvp(x.exp(), x, t), x.exp() * t));
  EXPECT_TRUE(sn::allclose(sn::jvp(sn::matmul(x.sin(), w), x, t), sn::matmul(x.cos() * t, w)));
  EXPECT_TRUE(sn::allclose(sn::jvp(x[0] * x[1], x, t), t[0] * x[1] + x[0] * t[1]));
  EXPECT_TRUE(sn::allclose(sn::jvp(x.exp().cumsum(1), x, t), (x.exp() * t).cumsum(1)));
  EXPECT_TRUE(sn::equal(sn::jvp(x.floor(), x, t), sn::zeros_like(x)));
  EXPECT_TRUE(sn::allclose(sn::jvp(x.square().sum(), x, 1), 2 * x.sum()));
}

TEST_F(Gradient, OfEveryElementIsAJacobian) {
  const Doubles diagonal = sn::jacobian(y.exp(), y);
  EXPECT_TRUE(sn::allclose(diagonal, sn::eye<double>(3) * y.exp()));
  const Doubles j = sn::jacobian(sn::matmul(x, w), x);
  ASSERT_EQ(j.shape(), (sn::Shape{2, 4, 2, 3}));
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 2; ++k)
      EXPECT_TRUE(
          sn::allclose(j[i].transpose(0, 1)[k], i == k ? Doubles(w.t().clone()) : Doubles(sn::zeros_like(w.t()))));
  const Doubles hessian = sn::jacobian(sn::grad((y * y * y).sum(), y), y);
  EXPECT_TRUE(sn::allclose(hessian, sn::eye<double>(3) * 6 * y));
}

TEST_F(Gradient, IsAVectorJacobianProduct) {
  const Doubles seed = random({2, 3}, 5);
  EXPECT_TRUE(sn::allclose(sn::vjp(x.exp(), seed, x), seed * x.exp()));
  EXPECT_TRUE(sn::allclose(sn::vjp(x * 3, 2, x), sn::full_like(x, 6)));
}

TEST_F(Gradient, StopsWhereAsked) {
  EXPECT_TRUE(sn::equal(sn::grad((x * sn::stop_gradient(x)).sum(), x), x));
  EXPECT_TRUE(sn::equal(sn::grad((x * sn::detach(x)).sum(), x), x));
  EXPECT_TRUE(sn::equal(sn::grad(x.floor().sum(), x), sn::zeros_like(x)));
}

TEST_F(Gradient, OfHalvesAndComplexNumbers) {
  const auto half = x.to<sn::half>();
  const auto g = sn::grad((half * half).sum(), half);
  static_assert(std::is_same_v<sn::value_type_of<decltype(g)>, sn::half>);
  EXPECT_TRUE(sn::allclose(sn::cast<float>(g), sn::cast<float>(half) * 2, 1e-3));
  const auto z = sn::complex(x, x.flip(0).clone());
  const auto kept = sn::Tensor(z);
  EXPECT_TRUE(sn::allclose(sn::grad(kept.abs().square().sum(), kept), kept * 2));
}

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const sn::Error& e) {
    return e.what();
  }
  return "no error";
}

TEST_F(Gradient, RefusesWhatItCannotGive) {
  EXPECT_THAT(message_of([&] { (void)sn::grad(x * 2, x); }),
              HasSubstr("grad of float64 (2, 3): the value must be one float"));
  EXPECT_THAT(message_of([&] { (void)sn::grad(x.sum(), y); }), HasSubstr("does not depend on it"));
  EXPECT_THAT(message_of([&] { (void)sn::grad(x.i0().sum(), x); }), HasSubstr("i0 has no derivative"));
  const Doubles evaluated = x * 2;
  EXPECT_THAT(message_of([&] { (void)sn::grad(evaluated.sum(), x); }), HasSubstr("What was evaluated is a constant"));
  EXPECT_TRUE(sn::equal(sn::grad(x.sum(), y, sn::unused::zeros), sn::zeros_like(y)));
  const Value g = sn::grad((x * x).sum(), x);
  x += 1;
  EXPECT_THAT(message_of([&] { (void)Doubles(g); }), HasSubstr("was written to after the expression was built"));
}

/// Parameters and inputs of a small network, wherever they are.
struct Network {
  sn::Tensor<double> x, w, b, v;
  sn::Tensor<std::int64_t> ids;

  Value loss() const {
    const Value hidden = sn::matmul(x, w) + b;
    const Value out = sn::layer_norm(hidden.tanh(), {4}) + sn::embedding(v, ids);
    return sn::matmul(out, v.t()).softmax(1).square().mean() + sn::where(hidden > 0, hidden, 0.1 * hidden).sum();
  }
  std::vector<Doubles> gradients(bool gathers = true) const {
    const Value value = gathers ? loss() : Value(sn::matmul((sn::matmul(x, w) + b).tanh(), v.t()).logsumexp(1).mean());
    std::vector<Doubles> found;
    for (const Value& g : sn::grad(value, std::vector<Doubles>{w, b, v})) found.push_back(g);
    return found;
  }
  template <class F>
  Network moved(F move) const {
    return {move(x), move(w), move(b), move(v), move(ids)};
  }
};
Network network() {
  return {random({6, 3}, 1), random({3, 4}, 2), random(sn::Shape(4), 3), random({5, 4}, 4),
          sn::tensor({0, 4, 1, 4, 4, 2}).to<std::int64_t>()};
}
void expect_close(const std::vector<Doubles>& found, const std::vector<Doubles>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(sn::allclose(found[i].cpu(), expected[i], 1e-9, 1e-11)) << i << "\n" << found[i] << expected[i];
}

TEST_F(Gradient, IsTheSameOnAGpu) {
  const Network on_gpu = network().moved([](const auto& t) { return t.to(sn::Device(0)); });
  expect_close(on_gpu.gradients(), network().gradients());
}

TEST_F(Gradient, IsTheSameOnAMesh) {
  const sn::Mesh mesh(std::vector<sn::Device>(3));
  Network on_mesh = network().moved([&](const auto& t) { return sn::replicate(t, mesh); });
  on_mesh.x = sn::shard(network().x, mesh);
  std::vector<Doubles> gathered;
  for (const Doubles& g : on_mesh.gradients(false)) gathered.push_back(sn::gather(g, sn::cpu));
  expect_close(gathered, network().gradients(false));
}

/// A random expression of the leaves' dtype; its shape is one to which (2, 3) broadcasts.
class Program {
 public:
  Program(unsigned seed, std::vector<Doubles> leaves) : random_(seed), leaves_(std::move(leaves)) {}

  Value make(int depth) {
    if (depth == 0) return leaf();
    const Value a = make(depth - 1);
    switch (below(16)) {
      case 0: return a + make(depth - 1);
      case 1: return a * make(depth - 1);
      case 2: return a - make(depth - 1) * 0.5;
      case 3: return a / (make(depth - 1).square() + 1);
      case 4: return a.tanh();
      case 5: return a.sin() * 1.5;
      case 6: return a.sigmoid();
      case 7: return (a * 0.3).exp();
      case 8: return a.softmax(-1);
      case 9: return a - a.mean(-1, sn::keepdim);
      case 10: return a.sum(0, sn::keepdim) * 0.3 + a;
      case 11: return sn::where(a > 0.1, a, make(depth - 1));
      case 12: return sn::matmul(a, leaves_[2]).tanh();
      case 13: return sn::norm(a, 2_c, -1, sn::keepdim) + a;
      case 14: return looked_at(a) * 0.8;
      default: return (a * a).sum(-1, sn::keepdim).sqrt() + a;
    }
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  static Value looked_at(const Value& v) {
    (void)Doubles(v).data();  // might write to it
    return v;
  }
  Value leaf() {
    switch (below(5)) {
      case 0: return leaves_[0];
      case 1: return leaves_[0] * leaves_[1];
      case 2: return leaves_[2].t()[0] + leaves_[0];
      case 3: return sn::index_select(leaves_[0].flip(-1), -1, sn::tensor({2, 0, 2}).to<std::int64_t>());
      default: return leaves_[0].flip(1) * 0.7;
    }
  }

  std::minstd_rand random_;
  std::vector<Doubles> leaves_;
};

TEST_F(Gradient, OfRandomPrograms) {
  const Doubles square = random({3, 3}, 10), batch = random({2, 2, 3}, 11);
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const Doubles& first = seed % 3 == 0 ? batch : x;
    std::vector<Doubles> by{first, y, square};
    if (seed % 5 == 0) by.push_back(by[seed % by.size()]);  // again
    check([&] { return Program(seed, {first, y, square}).make(4).sum(); }, by, 1e-5);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace gradient_test

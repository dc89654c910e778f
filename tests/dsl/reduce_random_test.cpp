// Random expressions with reductions, fused and eager, against doubles. The bound is that of a running error analysis:
// each value carries a bound on the error of float, by the standard model of a rounding of 2^-24 in each operation,
// 8 of them in a function, and n of them in a sum of n.
#include "devices.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <random>

namespace sn = sinter;

namespace {

constexpr double u = 0x1p-24, function_error = 8 * u, margin = 2;

/// A matrix whose extents are those of the domain, or 1.
struct Matrix {
  int rows, columns;
  std::vector<double> value, error;

  Matrix(int r, int c)
      : rows(r), columns(c), value(static_cast<std::size_t>(r * c)), error(static_cast<std::size_t>(r * c)) {}
  std::size_t at(int r, int c) const {
    return static_cast<std::size_t>((rows == 1 ? 0 : r) * columns + (columns == 1 ? 0 : c));
  }
};
struct Value {
  double v, e;
};
using Lazy = sn::Lazy<float>;
struct Pair {
  Lazy lazy;
  Matrix exact;
};

Matrix map(const Matrix& a, const Matrix& b, const std::function<Value(Value, Value)>& f) {
  Matrix out(std::max(a.rows, b.rows), std::max(a.columns, b.columns));
  for (int r = 0; r < out.rows; ++r)
    for (int c = 0; c < out.columns; ++c) {
      const Value of = f({a.value[a.at(r, c)], a.error[a.at(r, c)]}, {b.value[b.at(r, c)], b.error[b.at(r, c)]});
      out.value[out.at(r, c)] = of.v;
      out.error[out.at(r, c)] = of.e;
    }
  return out;
}

/// The elements that are reduced.
Matrix reduce(const Matrix& a, bool rows, bool columns, const std::function<Value(const std::vector<Value>&)>& f) {
  Matrix out(rows ? 1 : a.rows, columns ? 1 : a.columns);
  for (int r = 0; r < out.rows; ++r)
    for (int c = 0; c < out.columns; ++c) {
      std::vector<Value> combined;
      for (int i = rows ? 0 : r; i < (rows ? a.rows : r + 1); ++i)
        for (int j = columns ? 0 : c; j < (columns ? a.columns : c + 1); ++j)
          combined.push_back({a.value[a.at(i, j)], a.error[a.at(i, j)]});
      const Value of = f(combined);
      out.value[out.at(r, c)] = of.v;
      out.error[out.at(r, c)] = of.e;
    }
  return out;
}

Value sum_of(const std::vector<Value>& x) {
  Value sum{0, 0};
  double magnitude = 0;
  for (const Value& a : x) sum.v += a.v, sum.e += a.e, magnitude += std::abs(a.v);
  return {sum.v, sum.e + static_cast<double>(x.size()) * u * magnitude};
}
Value mean_of(const std::vector<Value>& x) {
  const auto n = static_cast<double>(x.size());
  const Value sum = sum_of(x);
  return {sum.v / n, sum.e / n + u * std::abs(sum.v / n)};
}
Value variance_of(const std::vector<Value>& x) {
  const Value mean = mean_of(x);
  std::vector<Value> squares;
  for (const Value& a : x) {
    const double d = a.v - mean.v, e = a.e + mean.e + u * std::abs(d);
    squares.push_back({d * d, 2 * std::abs(d) * e + e * e + u * d * d});
  }
  return mean_of(squares);
}
Value largest_of(const std::vector<Value>& x) {
  Value largest = x[0];
  for (const Value& a : x) largest = {std::max(largest.v, a.v), std::max(largest.e, a.e)};
  return largest;
}
Value logsumexp_of(const std::vector<Value>& x) {
  const Value largest = largest_of(x);
  double sum = 0, range = 0;
  for (const Value& a : x) sum += std::exp(a.v - largest.v), range = std::max(range, largest.v - a.v);
  const double v = largest.v + std::log(sum);
  return {v, 2 * largest.e + (static_cast<double>(x.size()) + 24 + range) * u + 2 * u * std::abs(v)};
}
/// exp(a - logsumexp).
Value softmax_of(Value a, Value logsumexp) {
  const double v = std::exp(a.v - logsumexp.v);
  return {v, v * std::expm1(a.e + logsumexp.e + 2 * u * std::abs(a.v - logsumexp.v)) + function_error * v};
}

class Expressions {
 public:
  Expressions(unsigned seed, sn::Device device)
      : rng_(seed), device_(device), rows_(pick({1, 3, 8})), columns_(pick({1, 5, 33, 300})) {
    for (int i = 0; i < 3; ++i) leaf();
    for (int i = 0; i < 9; ++i) grow();
  }
  const Pair& result() const { return pool_.back(); }

 private:
  int pick(std::initializer_list<int> from) { return from.begin()[rng_() % from.size()]; }
  const Pair& operand() { return pool_[pool_.size() - 1 - rng_() % std::min<std::size_t>(pool_.size(), 4)]; }

  void leaf() {
    Matrix exact(pick({1, rows_, rows_}), pick({1, columns_, columns_}));
    std::vector<float> values;
    for (double& v : exact.value)
      values.push_back(std::uniform_real_distribution<float>(-2, 2)(rng_)), v = values.back();
    const sn::Tensor<float> tensor = sn::tensor(values, sn::Shape(exact.rows, exact.columns)).to(device_);
    pool_.push_back({tensor, exact});
  }
  void grow() {
    const Pair a = operand(), b = operand();
    const auto function = [&](Lazy lazy, double (*f)(double), double slope) {
      pool_.push_back({std::move(lazy), map(a.exact, a.exact, [=](Value x, Value) {
                         return Value{f(x.v), slope * x.e + function_error * std::max(1.0, std::abs(f(x.v)))};
                       })});
    };
    const auto both = [&](Lazy lazy, std::function<Value(Value, Value)> f) {
      pool_.push_back({std::move(lazy), map(a.exact, b.exact, f)});
    };
    switch (rng_() % 13) {
      case 0: return function(sn::tanh(a.lazy), [](double x) { return std::tanh(x); }, 1);
      case 1: return function(sn::sin(a.lazy), [](double x) { return std::sin(x); }, 1);
      case 2: return function(sn::sigmoid(a.lazy), [](double x) { return 1 / (1 + std::exp(-x)); }, 0.25);
      case 3:
      case 4:
        return both(a.lazy + b.lazy,
                    [](Value x, Value y) { return Value{x.v + y.v, x.e + y.e + u * std::abs(x.v + y.v)}; });
      case 5:
        return both(a.lazy - b.lazy,
                    [](Value x, Value y) { return Value{x.v - y.v, x.e + y.e + u * std::abs(x.v - y.v)}; });
      case 6:
        return both(sn::tanh(a.lazy) * b.lazy, [](Value x, Value y) {
          const double t = std::tanh(x.v), e = x.e + function_error;
          return Value{t * y.v, std::abs(t) * y.e + std::abs(y.v) * e + e * y.e + u * std::abs(t * y.v)};
        });
      case 7: {  // the largest element in the shape of a, which is simplified away but still determines it
        const Lazy largest = sn::amax(b.lazy, {0, 1}, sn::keepdim);
        pool_.push_back({sn::where(a.lazy > largest, largest, largest),
                         map(a.exact, reduce(b.exact, true, true, largest_of), [](Value, Value y) { return y; })});
        return;
      }
      default: return reduce_one(a);
    }
  }
  void reduce_one(const Pair& a) {
    const int which = pick({1, 2, 3});
    const bool rows = which & 1, columns = which & 2;
    const std::vector<std::int64_t> axes =
        which == 3 ? std::vector<std::int64_t>{0, 1} : std::vector<std::int64_t>{which - 1};
    const auto reduced = [&](Lazy lazy, Value (*f)(const std::vector<Value>&)) {
      pool_.push_back({std::move(lazy), reduce(a.exact, rows, columns, f)});
    };
    switch (rng_() % 6) {
      case 0:
        return reduced(sn::tanh(sn::sum(a.lazy, axes, sn::keepdim)), [](const std::vector<Value>& x) {
          const Value s = sum_of(x);
          return Value{std::tanh(s.v), s.e + function_error};
        });
      case 1: return reduced(sn::mean(a.lazy, axes, sn::keepdim), mean_of);
      case 2: return reduced(sn::amax(a.lazy, axes, sn::keepdim), largest_of);
      case 3: return reduced(sn::var(a.lazy, axes, 0, sn::keepdim), variance_of);
      case 4: return reduced(sn::logsumexp(a.lazy, axes, sn::keepdim), logsumexp_of);
      default:
        pool_.push_back(
            {sn::softmax(a.lazy, axes), map(a.exact, reduce(a.exact, rows, columns, logsumexp_of), softmax_of)});
    }
  }

  std::mt19937 rng_;
  sn::Device device_;
  int rows_, columns_;
  std::vector<Pair> pool_;
};

void check(const std::string& where, const sn::Tensor<float>& got, const Matrix& exact) {
  const std::vector<float> values = got.to_vector();
  ASSERT_EQ(values.size(), exact.value.size()) << where;
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_LE(std::abs(static_cast<double>(values[i]) - exact.value[i]), margin * exact.error[i] + 1e-30)
        << where << ", element " << i << ": " << values[i] << " instead of " << exact.value[i];
}

TEST(RandomReductions, FusedAndEagerAreNearDoubles) {
  const unsigned first = std::random_device{}() % 1000000;
  for (const sn::Device device : sinter_tests::devices()) {
    const unsigned count = device.is_cuda() ? 6 : 300;  // a kernel of a GPU is compiled for each
    for (unsigned seed = first; seed < first + count; ++seed) {
      const Expressions random(seed, device);
      const std::string where = fmt::format("seed {} on {}", seed, to_string(device));
      check(where + ", fused", sn::evaluate(random.result().lazy), random.result().exact);
      check(where + ", eager", sn::eager(random.result().lazy), random.result().exact);
    }
  }
}

}  // namespace

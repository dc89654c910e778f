// Every operation on complex numbers against std::complex in wider arithmetic, over dense samples and special values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "devices.hpp"

namespace sinter_tests {
namespace {

using Wide = std::complex<long double>;

/// A result's distance from the exact one, in units of the last place of its magnitude.
template <class C>
long double distance(C got, Wide exact) {
  using Part = typename C::value_type;
  const long double size = std::max<long double>(std::abs(exact), std::numeric_limits<Part>::min());
  return std::abs(Wide(got) - exact) / (size * std::numeric_limits<Part>::epsilon());
}

template <class Part>
std::vector<std::complex<Part>> samples(Part least, Part most) {
  std::mt19937 random(5);
  std::uniform_real_distribution<long double> exponent(std::log(static_cast<long double>(least)),
                                                       std::log(static_cast<long double>(most)));
  const auto part = [&] {
    const auto size = static_cast<Part>(std::exp(exponent(random)));
    return random() % 2 ? size : -size;
  };
  std::vector<std::complex<Part>> all;
  for (int i = 0; i < 4000; ++i) {
    const Part re = part(), im = part();
    all.emplace_back(re, im);
  }
  for (int i = 0; i < 200; ++i) {  // near 1, near the unit circle, and on the axes
    all.emplace_back(Part(1) + part() / most / 8, part() / most / 8);
    all.push_back(std::polar(Part(1), part()));
    all.emplace_back(part(), Part(0));
    all.emplace_back(Part(0), part());
  }
  return all;
}

struct Unary {
  const char* name;
  std::function<Wide(Wide)> exact;
  double bound;       // ulps of the magnitude
  double most = 1e3;  // of a part of the samples
  double least = 1e-6;
};

constexpr auto all_unary = [](auto call) {
  call("neg", [](const auto& z) { return -z; });
  call("square", [](const auto& z) { return z.square(); });
  call("reciprocal", [](const auto& z) { return z.reciprocal(); });
  call("conj", [](const auto& z) { return z.conj(); });
  call("sgn", [](const auto& z) { return z.sgn(); });
  call("sqrt", [](const auto& z) { return z.sqrt(); });
  call("rsqrt", [](const auto& z) { return z.rsqrt(); });
  call("exp", [](const auto& z) { return z.exp(); });
  call("expm1", [](const auto& z) { return z.expm1(); });
  call("log", [](const auto& z) { return z.log(); });
  call("log2", [](const auto& z) { return z.log2(); });
  call("log10", [](const auto& z) { return z.log10(); });
  call("log1p", [](const auto& z) { return z.log1p(); });
  call("sin", [](const auto& z) { return z.sin(); });
  call("cos", [](const auto& z) { return z.cos(); });
  call("tan", [](const auto& z) { return z.tan(); });
  call("sinh", [](const auto& z) { return z.sinh(); });
  call("cosh", [](const auto& z) { return z.cosh(); });
  call("tanh", [](const auto& z) { return z.tanh(); });
  call("asin", [](const auto& z) { return z.asin(); });
  call("acos", [](const auto& z) { return z.acos(); });
  call("atan", [](const auto& z) { return z.atan(); });
  call("asinh", [](const auto& z) { return z.asinh(); });
  call("acosh", [](const auto& z) { return z.acosh(); });
  call("atanh", [](const auto& z) { return z.atanh(); });
  call("sigmoid", [](const auto& z) { return z.sigmoid(); });
  call("silu", [](const auto& z) { return z.silu(); });
  call("softsign", [](const auto& z) { return z.softsign(); });
  call("exp2", [](const auto& z) { return z.exp2(); });
};

/// expm1 and log1p in wide arithmetic, without the cancellation of subtracting 1.
Wide expm1_of(Wide z) {
  const long double half = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half, std::exp(z.real()) * std::sin(z.imag())};
}
Wide log1p_of(Wide z) {
  const long double x = z.real(), y = z.imag();
  return {0.5l * std::log1p(x * (2 + x) + y * y), std::atan2(y, 1 + x)};
}

const std::vector<Unary>& references() {
  static const std::vector<Unary> all = {
      {"neg", [](Wide z) { return -z; }, 0},
      {"square", [](Wide z) { return z * z; }, 2},
      {"reciprocal", [](Wide z) { return 1.0l / z; }, 2},
      {"conj", [](Wide z) { return std::conj(z); }, 0},
      {"sgn", [](Wide z) { return z / std::abs(z); }, 2},
      {"sqrt", [](Wide z) { return std::sqrt(z); }, 2, 1e30, 1e-30},
      {"rsqrt", [](Wide z) { return 1.0l / std::sqrt(z); }, 3, 1e30, 1e-30},
      {"exp", [](Wide z) { return std::exp(z); }, 3, 85},
      {"exp2", [](Wide z) { return std::exp(z * std::log(2.0l)); }, 20, 20},
      {"expm1", expm1_of, 3, 85},
      {"log", [](Wide z) { return std::log(z); }, 2, 1e30, 1e-30},
      {"log2", [](Wide z) { return std::log(z) / std::log(2.0l); }, 3, 1e30, 1e-30},
      {"log10", [](Wide z) { return std::log(z) / std::log(10.0l); }, 3, 1e30, 1e-30},
      {"log1p", log1p_of, 3, 1e10, 1e-10},
      {"sin", [](Wide z) { return std::sin(z); }, 3, 80},
      {"cos", [](Wide z) { return std::cos(z); }, 3, 80},
      {"tan", [](Wide z) { return std::tan(z); }, 4, 80},
      {"sinh", [](Wide z) { return std::sinh(z); }, 3, 80},
      {"cosh", [](Wide z) { return std::cosh(z); }, 3, 80},
      {"tanh", [](Wide z) { return std::tanh(z); }, 4, 80},
      {"asin", [](Wide z) { return std::asin(z); }, 3, 1e30},
      {"acos", [](Wide z) { return std::acos(z); }, 3, 1e30},
      {"atan", [](Wide z) { return std::atan(z); }, 3, 1e30},
      {"asinh", [](Wide z) { return std::asinh(z); }, 3, 1e30},
      {"acosh", [](Wide z) { return std::acosh(z); }, 3, 1e30},
      {"atanh", [](Wide z) { return std::atanh(z); }, 3, 1e30},
      {"sigmoid", [](Wide z) { return 1.0l / (1.0l + std::exp(-z)); }, 150, 30},  // near its poles it loses digits
      {"silu", [](Wide z) { return z / (1.0l + std::exp(-z)); }, 150, 30},
      {"softsign", [](Wide z) { return z / (1.0l + std::abs(z)); }, 3},
  };
  return all;
}

template <class C>
void check_unary(const sinter::Device& device) {
  using Part = typename C::value_type;
  all_unary([&](const std::string& name, auto operation) {
    for (const Unary& u : references()) {
      if (u.name != name) continue;
      const std::vector<C> z = samples<Part>(static_cast<Part>(u.least), static_cast<Part>(u.most));
      const auto x = sinter::tensor(z, device);
      const std::vector<C> fused = sinter::Tensor<C>(operation(x)).to_vector();
      const std::vector<C> eager = sinter::Tensor<C>(sinter::eager(operation(x))).to_vector();
      long double worst = 0;
      std::size_t at = 0;
      for (std::size_t i = 0; i < z.size(); ++i) {
        const Wide exact = u.exact(Wide(z[i]));
        const long double d = std::max(distance(fused[i], exact), distance(eager[i], exact));
        if (!(d <= worst)) worst = d, at = i;
      }
      EXPECT_LE(worst, u.bound) << name << " of " << z[at] << ": " << fused[at] << ", eager " << eager[at] << ", exact "
                                << u.exact(Wide(z[at]));
    }
  });
}

TEST(ComplexFunctions, AreCloseToExact) {
  for (const sinter::Device& device : devices()) {
    SCOPED_TRACE(to_string(device));
    check_unary<std::complex<float>>(device);
    check_unary<std::complex<double>>(device);
    if (device.is_cuda()) break;
  }
}

/// Operations of two or more operands whose exact result is simple.
template <class C>
void check_arithmetic(const sinter::Device& device) {
  using Part = typename C::value_type;
  const std::vector<C> a = samples<Part>(Part(1e-3), Part(1e3));
  std::vector<C> b = a, c = a;
  std::ranges::reverse(b);
  std::ranges::rotate(c, c.begin() + 1000);
  const auto x = sinter::tensor(a, device), y = sinter::tensor(b, device), z = sinter::tensor(c, device);
  const auto check = [&](std::string_view name, const std::vector<C>& got, double bound, auto exact, auto size) {
    for (std::size_t i = 0; i < got.size(); ++i) {
      const Wide l = a[i], m = b[i], r = c[i];
      const long double epsilon = std::numeric_limits<Part>::epsilon();
      ASSERT_LE(std::abs(Wide(got[i]) - exact(l, m, r)), bound * epsilon * size(l, m, r))
          << name << " of " << a[i] << ", " << b[i] << ", " << c[i] << ": " << got[i];
    }
  };
  using sinter::Tensor;
  const auto product = [](Wide l, Wide m, Wide) { return std::abs(l * m); };
  check("mul", Tensor<C>(x * y).to_vector(), 2, [](Wide l, Wide m, Wide) { return l * m; }, product);
  check(
      "div", Tensor<C>(x / y).to_vector(), 3, [](Wide l, Wide m, Wide) { return l / m; },
      [](Wide l, Wide m, Wide) { return std::abs(l / m); });
  check(
      "fma", Tensor<C>(sinter::fma(x, y, z)).to_vector(), 3, [](Wide l, Wide m, Wide r) { return l * m + r; },
      [](Wide l, Wide m, Wide r) { return std::abs(l * m) + std::abs(r); });
  check(
      "addcmul", Tensor<C>(x.addcmul(y, z, 2)).to_vector(), 4, [](Wide l, Wide m, Wide r) { return l + 2.0l * m * r; },
      [](Wide l, Wide m, Wide r) { return std::abs(l) + std::abs(m * r) * 2; });
  check(
      "addcdiv", Tensor<C>(x.addcdiv(y, z)).to_vector(), 4, [](Wide l, Wide m, Wide r) { return l + m / r; },
      [](Wide l, Wide m, Wide r) { return std::abs(l) + std::abs(m / r); });
  check(
      "lerp", Tensor<C>(x.lerp(y, z)).to_vector(), 6, [](Wide l, Wide m, Wide r) { return l + r * (m - l); },
      [](Wide l, Wide m, Wide r) { return (std::abs(l) + std::abs(m)) * (1 + std::abs(r)); });
  check(
      "pow", Tensor<C>(sinter::pow(x, 0.5)).to_vector(), 20, [](Wide l, Wide, Wide) { return std::sqrt(l); },
      [](Wide l, Wide, Wide) { return std::abs(std::sqrt(l)); });
  const auto exponent = sinter::tensor(c, device) * (1 / 1e3);
  check(
      "pow", Tensor<C>(sinter::pow(x, exponent)).to_vector(), 40,
      [](Wide l, Wide, Wide r) { return std::exp(Wide(C(r)) * Wide(C(Part(1 / 1e3))) * std::log(l)); },
      [](Wide l, Wide, Wide r) {
        const Wide power = r * 1e-3l * std::log(l);
        return std::abs(std::exp(power)) * (1 + std::abs(power));
      });
  const std::vector<Part> size = Tensor<Part>(sinter::abs(x)).to_vector(),
                          turn = Tensor<Part>(sinter::angle(x)).to_vector();
  const std::vector<C> again = Tensor<C>(sinter::polar(sinter::abs(x), sinter::angle(x))).to_vector();
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_NEAR(size[i], static_cast<Part>(std::abs(Wide(a[i]))), 2 * std::numeric_limits<Part>::epsilon() * size[i]);
    ASSERT_NEAR(turn[i], static_cast<Part>(std::arg(Wide(a[i]))), 8 * std::numeric_limits<Part>::epsilon());
    ASSERT_LE(distance(again[i], Wide(a[i])), 5);
  }
}

TEST(ComplexFunctions, OfSeveralOperandsAreCloseToExact) {
  for (const sinter::Device& device : devices()) {
    SCOPED_TRACE(to_string(device));
    check_arithmetic<std::complex<float>>(device);
    check_arithmetic<std::complex<double>>(device);
    if (device.is_cuda()) break;
  }
}

using Double = std::complex<double>;

bool same_part(double got, double exact, bool sign_counts) {
  if (std::isnan(exact)) return std::isnan(got);
  if (std::isinf(exact)) return sign_counts ? got == exact : std::isinf(got);
  if (exact == 0) return got == 0 && (!sign_counts || std::signbit(got) == std::signbit(exact));
  return true;
}

/// Zeros, infinities and NaN as C99's Annex G has them, which std::complex follows; for NaN operands it leaves
/// signs unspecified. Finite numbers up to the largest and down to the smallest.
TEST(ComplexFunctions, HaveTheSpecialValuesOfC) {
  constexpr double inf = INFINITY, big = std::numeric_limits<double>::max();
  std::vector<Double> z;
  const double parts[] = {0.0,   -0.0,   1.0,    -1.0,   0.5, 3.0, 720.0, -720.0,
                          1e200, -1e200, 1e-200, 1e-310, big, inf, -inf,  NAN};
  for (const double re : parts)
    for (const double im : parts) z.emplace_back(re, im);
  const struct {
    std::string_view name;
    Double (*exact)(const Double&);
  } functions[] = {{"sqrt", std::sqrt},   {"exp", std::exp},     {"log", std::log},    {"sin", std::sin},
                   {"cos", std::cos},     {"tan", std::tan},     {"sinh", std::sinh},  {"cosh", std::cosh},
                   {"tanh", std::tanh},   {"asin", std::asin},   {"acos", std::acos},  {"atan", std::atan},
                   {"asinh", std::asinh}, {"acosh", std::acosh}, {"atanh", std::atanh}};
  for (const sinter::Device& device : devices()) {
    if (device.is_cuda() && device.index() > 0) break;
    const auto x = sinter::tensor(z, device);
    all_unary([&](std::string_view name, auto operation) {
      const auto* function = std::ranges::find(functions, name, [](const auto& f) { return f.name; });
      if (function == std::end(functions)) return;
      const std::vector<Double> got = sinter::Tensor<Double>(operation(x)).to_vector();
      for (std::size_t i = 0; i < z.size(); ++i) {
        const Double exact = function->exact(z[i]);
        // C leaves the signs of zeros and infinities open where another part is NaN.
        const bool any_nan =
            std::isnan(exact.real()) || std::isnan(exact.imag()) || std::isnan(z[i].real()) || std::isnan(z[i].imag());
        const bool finite = std::isfinite(exact.real()) && std::isfinite(exact.imag());
        EXPECT_TRUE(same_part(got[i].real(), exact.real(), !any_nan) &&
                    same_part(got[i].imag(), exact.imag(), !any_nan) && (!finite || distance(got[i], exact) < 8))
            << name << z[i] << " on " << to_string(device) << ": " << got[i] << " instead of " << exact;
      }
    });
  }
}

/// Bit for bit as in PyTorch: products, roots and quotients.
TEST(ComplexFunctions, NumbersAsExponents) {
  for (const sinter::Device& device : devices()) {
    SCOPED_TRACE(to_string(device));
    const std::vector<Double> values{{1, 2}, {-3, 0.7}, {0.1, -1e-3}, {-4, 0}, {1e10, 3}};
    const auto z = sinter::tensor(values, device);
    const auto same = [](const auto& power, const auto& expected, const char* exponent) {
      EXPECT_EQ(sinter::Tensor(power).to_vector(), sinter::Tensor(expected).to_vector()) << exponent;
    };
    same(sinter::pow(z, 1), z, "1");
    same(sinter::pow(z, 2), z.square(), "2");
    same(sinter::pow(z, 2.0), z.square(), "2.0");
    same(sinter::pow(z, 3), z * z * z, "3");
    same(sinter::pow(z, 0.5), z.sqrt(), "0.5");
    same(sinter::pow(z, -1), z.reciprocal(), "-1");
    same(sinter::pow(z, -2), z.square().reciprocal(), "-2");
    same(sinter::pow(z, -0.5), z.rsqrt(), "-0.5");
    EXPECT_LT(std::abs(sinter::Tensor(sinter::pow(z, 1.5)).to_vector()[0] - std::pow(Double(1, 2), 1.5)), 1e-14);
    if (device.is_cuda()) break;
  }
}

TEST(ComplexFunctions, PowersAndQuotientsOfZero) {
  using sinter::tensor;
  const auto zero = tensor<Double>({0, 0, 0, 2}),
             exponent = tensor<Double>({Double(0, 0), Double(2, 1), Double(1, 0), Double(0, 0)});
  EXPECT_EQ(sinter::Tensor(sinter::pow(zero, exponent)).to_vector(), (std::vector<Double>{1, 0, 0, 1}));
  const Double inverse = sinter::Tensor(tensor<Double>({1}) / tensor<Double>({0})).to_vector()[0];
  EXPECT_TRUE(std::isinf(inverse.real()) || std::isinf(inverse.imag()));
  EXPECT_EQ(sinter::Tensor(tensor<Double>({1e300}) / tensor<Double>({Double(1e300, 1e300)})).to_vector()[0],
            Double(0.5, -0.5));
  EXPECT_EQ(sinter::Tensor(sinter::sgn(zero)).to_vector(), (std::vector<Double>{0, 0, 0, 1}));
  EXPECT_EQ(sinter::Tensor(sinter::sinc(zero)).to_vector()[0], Double(1));
}

}  // namespace
}  // namespace sinter_tests

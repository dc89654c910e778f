// Complex tensors from literal to print: factories, views, scalars, layouts, random numbers, errors.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include <sinter/dsl/npy.hpp>
#include "devices.hpp"
#include "each_isa.hpp"

namespace sinter_tests {
namespace {

using namespace sinter;  // not `using namespace std` as well: both have complex
using namespace std::complex_literals;
using c64 = std::complex<float>;
using c128 = std::complex<double>;

class Complex : public ::testing::TestWithParam<sinter::Device> {
 protected:
  /// Random numbers in this shape, on the device.
  template <class C>
  auto numbers(const sinter::Shape& shape, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<typename C::value_type> part(-3, 3);
    std::vector<C> all;
    for (std::int64_t i = 0; i < shape.numel(); ++i) {
      const auto re = part(random), im = part(random);
      all.emplace_back(re, im);
    }
    return sinter::tensor(all, shape, GetParam());
  }
};

template <class C>
void expect_near(const std::vector<C>& got, const std::vector<C>& exact, double ulps) {
  ASSERT_EQ(got.size(), exact.size());
  const double epsilon = std::numeric_limits<typename C::value_type>::epsilon();
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_LE(static_cast<double>(std::abs(got[i] - exact[i])), ulps * epsilon * (1e-3 + std::abs(exact[i])))
        << i << ": " << got[i] << " instead of " << exact[i];
}

TEST(ComplexTypes, FollowPyTorch) {
  const auto z = sinter::tensor({1. + 2.i, 3. - 1.i});
  static_assert(std::is_same_v<decltype(z)::value_type, c64>);
  static_assert(std::is_same_v<decltype(sinter::tensor(std::vector<c128>{1.i}))::value_type, c128>);
  const auto x = sinter::tensor({1.f, 2.f});
  const auto d = sinter::tensor<double>({1., 2.});
  const auto i = sinter::tensor({1, 2});
  const auto h = x.to<sinter::half>();
  static_assert(std::is_same_v<decltype(z * x)::value_type, c64>);
  static_assert(std::is_same_v<decltype(z * d)::value_type, c128>);
  static_assert(std::is_same_v<decltype(z * h)::value_type, c64>);
  static_assert(std::is_same_v<decltype(i * 1.i)::value_type, c64>);
  static_assert(std::is_same_v<decltype(x * 1.i)::value_type, c64>);
  static_assert(std::is_same_v<decltype(d * 1.if)::value_type, c128>);
  static_assert(std::is_same_v<decltype(z * 2.0)::value_type, c64>);
  static_assert(std::is_same_v<decltype(sinter::abs(z))::value_type, float>);
  static_assert(std::is_same_v<decltype(angle(z * d))::value_type, double>);
  static_assert(std::is_same_v<decltype(z == z)::value_type, bool>);
  static_assert(std::is_same_v<decltype(float_power(z, 2))::value_type, c128>);
  static_assert(std::is_same_v<decltype(complex(x, d))::value_type, c128>);
  static_assert(std::is_same_v<decltype(polar(x, x))::value_type, c64>);
  static_assert(std::is_same_v<decltype(conj(i))::value_type, std::int64_t>);
}

TEST_P(Complex, LiteralsAndFactories) {
  const auto z = sinter::tensor({{1. + 2.i, 3. - 1.i}}, GetParam());
  EXPECT_EQ(z.shape(), (sinter::Shape{1, 2}));
  EXPECT_EQ(z.to_vector(), (std::vector<c64>{{1, 2}, {3, -1}}));
  EXPECT_EQ(sinter::tensor(2.5i, GetParam()).item(), c64(0, 2.5f));
  EXPECT_EQ(sinter::tensor<c128>({1, 2}, GetParam()).to_vector(), (std::vector<c128>{1, 2}));
  EXPECT_EQ(sinter::full({3}, 1. - 2.i, GetParam()).to_vector(), (std::vector<c64>(3, c64(1, -2))));
  EXPECT_EQ(sinter::full<c128>({2}, 0.1i, GetParam()).to_vector(), (std::vector<c128>(2, 0.1i)));
  EXPECT_EQ(sinter::full<c128>({2}, 0.1, GetParam()).to_vector(), (std::vector<c128>(2, 0.1)));
  EXPECT_EQ(sinter::ones<c128>({2}, GetParam()).to_vector(), (std::vector<c128>(2, 1)));
  EXPECT_EQ(sinter::zeros<c64>({2}, GetParam()).to_vector(), (std::vector<c64>(2)));
  EXPECT_EQ(sinter::eye<c64>(2, GetParam()).to_vector(), (std::vector<c64>{1, 0, 0, 1}));
  EXPECT_EQ(sinter::arange<c64>(3, GetParam()).to_vector(), (std::vector<c64>{0, 1, 2}));
  EXPECT_EQ(full_like(z, 1.i).to_vector(), (std::vector<c64>(2, 1.if)));
  EXPECT_EQ(message_of<sinter::Error>([] { sinter::full<float>({2}, 1. + 2.i); }),
            "the number 1+2i does not fit float32; choose a dtype that holds it");
}

TEST_P(Complex, ArithmeticIsThatOfStd) {
  for (const sinter::Shape& shape : {sinter::Shape{}, {0}, {1}, {3}, {7}, {8}, {9}, {33}, {257}, {4099}, {5, 37}}) {
    SCOPED_TRACE(to_string(shape));
    const auto z = numbers<c64>(shape, 1), w = numbers<c64>(shape, 2);
    const auto a = z.to_vector(), b = w.to_vector();
    std::vector<c64> sum, difference, product, quotient;
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum.push_back(a[i] + b[i]);
      difference.push_back(a[i] - b[i]);
      product.push_back(a[i] * b[i]);
      quotient.push_back(a[i] / b[i]);
    }
    EXPECT_EQ(Tensor(z + w).to_vector(), sum);
    EXPECT_EQ(Tensor(z - w).to_vector(), difference);
    expect_near(Tensor(z * w).to_vector(), product, 4);
    expect_near(Tensor(z / w).to_vector(), quotient, 8);
    expect_near(Tensor(sinter::eager(z / w)).to_vector(), quotient, 8);
    EXPECT_EQ(Tensor(complex(real(z), imag(z))).to_vector(), a);
    EXPECT_EQ(Tensor(conj(conj(z))).to_vector(), a);
    EXPECT_EQ(z.clone().to_vector(), a);
  }
}

TEST_P(Complex, LayoutsOfEveryKind) {
  const auto z = numbers<c128>({6, 8, 70}, 3);
  const auto w = numbers<c128>({8, 1}, 4);
  const auto host = z.cpu(), other = w.cpu();
  const auto check = [&](const auto& view, const auto& host_view) {
    const Tensor expression = view * w(sinter::range(0, view.size(0))) + conj(view);
    const Tensor reference = host_view * other(sinter::range(0, view.size(0))) + conj(host_view);
    ASSERT_EQ(expression.shape(), reference.shape());
    expect_near(expression.to_vector(), Tensor<c128>(reference.contiguous()).to_vector(), 4);
    EXPECT_EQ(view.contiguous().to_vector(), host_view.contiguous().to_vector());
  };
  for (int axis = 0; axis < 3; ++axis) {
    check(z[0], host[0]);
    check(z[1].slice(1, 0, 70, 2), host[1].slice(1, 0, 70, 2));
    check(z[2].slice(1, 0, 70, 3), host[2].slice(1, 0, 70, 3));
    check(z[3].flip(1), host[3].flip(1));
    check(z.transpose(0, 1)[axis].slice(0, 0, 6), host.transpose(0, 1)[axis].slice(0, 0, 6));
    check(z.select(2, 5).t(), host.select(2, 5).t());
  }
  auto out = sinter::zeros<c128>({70, 8}, GetParam());
  out.t() = z[0] * 2.0;
  EXPECT_EQ(out.to_vector(), Tensor(z[0] * 2.0).t().contiguous().to_vector());
  out.slice(0, 0, 70, 2) = 1.i;
  EXPECT_EQ(out[0][0].item(), 1.i);
  EXPECT_EQ(out[1][0].item(), 2.0 * host[0][0][1].item());
}

TEST_P(Complex, ScalarsOfCpp) {
  const auto z = numbers<c128>({10}, 5);
  const auto x = sinter::tensor<double>({0.1, 0.2}, GetParam());
  EXPECT_EQ(Tensor(x * 0.1i).to_vector(), (std::vector<c128>{0.1 * 0.1i, 0.2 * 0.1i}));
  EXPECT_EQ(Tensor(x + (0.3 + 0.1i)).to_vector(), (std::vector<c128>{{0.1 + 0.3, 0.1}, {0.2 + 0.3, 0.1}}));
  EXPECT_EQ(Tensor(x.to<float>() + 0.1i).to_vector(), (std::vector<c64>{{0.1f, 0.1f}, {0.2f, 0.1f}}));
  EXPECT_EQ(Tensor(where(x > 0.15, x, 1.i)).to_vector(), (std::vector<c128>{1.i, 0.2}));
  EXPECT_EQ(Tensor(x == 0.1 + 0.i).to_vector(), (std::vector<bool>{true, false}));
  const auto first = Tensor(z * (1. + 1.i)).to_vector(), second = Tensor(z * (2. - 1.i)).to_vector();
  expect_near(first, Tensor(complex(real(z) - imag(z), real(z) + imag(z))).to_vector(), 2);
  EXPECT_NE(first, second);  // one kernel, other numbers
  const auto infinite = sinter::tensor({c64(INFINITY, 1)}, GetParam());
  EXPECT_EQ(Tensor(infinite * 2).item(), c64(INFINITY, 2));  // as std::complex<float> * float
}

TEST_P(Complex, PartsAreViews) {
  auto z = sinter::tensor({{1. + 2.i, 3. + 4.i}, {5. + 6.i, 7. + 8.i}}, GetParam());
  EXPECT_EQ(z.real().contiguous().to_vector(), (std::vector<float>{1, 3, 5, 7}));
  EXPECT_EQ(z.t().imag().contiguous().to_vector(), (std::vector<float>{2, 6, 4, 8}));
  EXPECT_TRUE(z.real().same_storage(z));
  z.imag() = 0.5f;
  z[1].real() = z[1].imag() * 4;
  EXPECT_EQ(z.to_vector(), (std::vector<c64>{{1, 0.5}, {3, 0.5}, {2, 0.5}, {2, 0.5}}));
  z.real() += z.imag();
  EXPECT_EQ(z[0][0].item(), c64(1.5, 0.5));
  z.real() = imag(z);  // both in the same memory
  z.imag() = real(z) + 1;
  EXPECT_EQ(z.to_vector(), std::vector<c64>(4, c64(0.5, 1.5)));
  const auto pairs = view_as_real(z);
  EXPECT_EQ(pairs.shape(), (sinter::Shape{2, 2, 2}));
  EXPECT_TRUE(pairs.is_contiguous());
  EXPECT_EQ(view_as_complex(pairs).to_vector(), z.to_vector());
  EXPECT_EQ(view_as_real(z * 2).to_vector(), (pairs * 2).to_vector());  // for an expression: of its value
  EXPECT_EQ(view_as_complex(pairs * 2).to_vector(), (z * 2).to_vector());
  EXPECT_EQ(view_as_real(sinter::Lazy(z)).shape(), pairs.shape());
  EXPECT_TRUE(view_as_complex(pairs).is_contiguous());
  const auto x = sinter::tensor({1.f, 2.f}, GetParam());
  EXPECT_TRUE(x.real().same_storage(x));
  EXPECT_THROW(view_as_complex(x.slice(0, 0, 1)), sinter::ShapeError);
  EXPECT_THROW(view_as_complex(sinter::ones({6}, GetParam()).slice(0, 1, 5).view({2, 2})), sinter::ShapeError);
  EXPECT_THROW(AnyTensor(x).imag(), sinter::DTypeError);
  EXPECT_EQ(sinter::zeros<c64>({0, 3}, GetParam()).imag().numel(), 0);
}

// std::complex<int> is not an element type, but a valid number.
TEST_P(Complex, NumbersOfAnyParts) {
  const auto z = numbers<c64>({3}, 8);
  EXPECT_EQ((z + std::complex<int>(1, 2)).to_vector(), (z + c64(1, 2)).to_vector());
  EXPECT_EQ((std::complex<long double>(1, 2) * z).to_vector(), (c64(1, 2) * z).to_vector());
  static_assert(std::is_same_v<decltype(z + std::complex<long double>())::value_type, c64>);
  auto w = sinter::zeros<c64>({1}, GetParam());
  EXPECT_EQ(w.assign(std::complex<int>(1, -2)).item(), c64(1, -2));
}

TEST_P(Complex, InPlace) {
  auto z = numbers<c64>({100}, 6);
  const auto before = z.to_vector();
  z *= 2;
  z += 1.i;
  z /= z;
  for (const c64 v : z.to_vector()) EXPECT_NEAR(std::abs(v - c64(1)), 0, 1e-6f);
  z = sinter::tensor(before, GetParam());
  z.slice(0, 1, 100).assign(z.slice(0, 0, 99) * 1);  // overlaps itself
  auto shifted = before;
  shifted.insert(shifted.begin(), before[0]);
  shifted.pop_back();
  EXPECT_EQ(z.to_vector(), shifted);
  auto x = sinter::ones({2}, GetParam());
  AnyTensor any = x;
  EXPECT_NE(message_of<sinter::DTypeError>([&] { any *= 1.i; }).find("can't be cast"), std::string::npos);
  EXPECT_THROW(any.assign(1.i), sinter::DTypeError);
  auto w = sinter::zeros<c64>({2}, GetParam());
  w.copy_(x);
  EXPECT_EQ(w.to_vector(), (std::vector<c64>{1, 1}));
}

TEST_P(Complex, LogicComparisonsAndConversions) {
  const auto z = sinter::tensor({0.i, 1.i, -1. + 0.i, c128(NAN, 0), c128(0, INFINITY)}, GetParam());
  EXPECT_EQ(z.to<bool>().to_vector(), (std::vector<bool>{false, true, true, true, true}));
  EXPECT_EQ(Tensor(!z).to_vector(), (std::vector<bool>{true, false, false, false, false}));
  EXPECT_EQ(Tensor(logical_xor(z, true)).to_vector(), (std::vector<bool>{true, false, false, false, false}));
  EXPECT_EQ(Tensor(isnan(z)).to_vector(), (std::vector<bool>{false, false, false, true, false}));
  EXPECT_EQ(Tensor(isinf(z)).to_vector(), (std::vector<bool>{false, false, false, false, true}));
  EXPECT_EQ(Tensor(isfinite(z)).to_vector(), (std::vector<bool>{true, true, true, false, false}));
  EXPECT_EQ(Tensor(z == z).to_vector(), (std::vector<bool>{true, true, true, false, true}));
  EXPECT_EQ(Tensor(z != 1.i).to_vector(), (std::vector<bool>{true, false, true, true, true}));
  EXPECT_EQ(sinter::tensor({1.5, 2.5}, GetParam()).to<sinter::half>().to<c64>().to_vector(),
            (std::vector<c64>{1.5, 2.5}));
  EXPECT_EQ(z.to<c128>().to<c64>().to_vector()[1], c64(0, 1));
  EXPECT_EQ(Tensor(cast<c128>(sinter::tensor({3, 4}, GetParam())) * 1.i).to_vector(), (std::vector<c128>{3.i, 4.i}));
}

// Of x - z, x real, the imaginary part depends on z only, but has the shape of x - z.
TEST_P(Complex, PartsHaveTheShapeOfTheWhole) {
  const auto x = sinter::ones({2, 3}, GetParam());
  const Tensor z = sinter::complex(sinter::ones({3}, GetParam()), sinter::ones({3}, GetParam()));
  EXPECT_EQ(Tensor((x - z).sum()).item(), c64(0, -6));
  EXPECT_EQ(Tensor((-(x - z).sum()).mean()).item(), c64(0, 6));
  EXPECT_EQ(Tensor((x - z).sum(0)).to_vector(), (std::vector<c64>{c64(0, -2), c64(0, -2), c64(0, -2)}));
  EXPECT_EQ(Tensor(sinter::imag(z - x).sum()).item(), 6);
  EXPECT_EQ(Tensor(sinter::imag(x - z) + x.sum()).to_vector(), (std::vector<float>(6, 5)));
  EXPECT_EQ(Tensor(sinter::imag(cast<c64>(x)).sum(0)).to_vector(), (std::vector<float>(3, 0)));
  const c64 none = Tensor(cast<c64>(sinter::ones({0}, GetParam())).mean()).item();
  EXPECT_TRUE(std::isnan(none.real()) && std::isnan(none.imag())) << none;
  const auto column = sinter::ones({2, 1}, GetParam()), row = sinter::ones({3}, GetParam());
  EXPECT_EQ(Tensor(sinter::real(sinter::complex(row, column)).sum()).item(), 6);
  EXPECT_EQ(Tensor(sinter::complex(row, column).mean(0)).to_vector(), (std::vector<c64>(3, c64(1, 1))));
  EXPECT_EQ(Tensor(sinter::complex(row, column).count_nonzero(0)).to_vector(), (std::vector<std::int64_t>{2, 2, 2}));
}

TEST_P(Complex, ConvertedNumbersLieOnTheSameSideOfBranchCuts) {
  const auto x = sinter::tensor({2., -2.}, GetParam());
  const Tensor z = cast<c128>(x);
  expect_near(Tensor(sinter::acos(cast<c128>(x))).to_vector(), {std::acos(c128(2)), std::acos(c128(-2))}, 8);
  expect_near(Tensor(sinter::asin(cast<c128>(x))).to_vector(), {std::asin(c128(2)), std::asin(c128(-2))}, 8);
  expect_near(Tensor(sinter::acosh(cast<c128>(x))).to_vector(), {std::acosh(c128(2)), std::acosh(c128(-2))}, 8);
  for (const auto& [fused, alone] : {std::pair(Tensor(sinter::atanh(cast<c128>(x))), Tensor(sinter::atanh(z))),
                                     std::pair(Tensor(sinter::asinh(cast<c128>(x))), Tensor(sinter::asinh(z))),
                                     std::pair(Tensor(sinter::log(cast<c128>(x))), Tensor(sinter::log(z))),
                                     std::pair(Tensor(sinter::sqrt(cast<c128>(x))), Tensor(sinter::sqrt(z)))})
    expect_near(fused.to_vector(), alone.to_vector(), 8);
}

TEST_P(Complex, EqualAndClose) {
  const auto z = numbers<c64>({50}, 7);
  EXPECT_TRUE(equal(z, z.clone()));
  EXPECT_FALSE(equal(z, z + 1e-3i));
  EXPECT_TRUE(allclose(z, z * (1 + 1e-6)));
  EXPECT_FALSE(allclose(z, z + 1e-3i));
  const auto odd = sinter::tensor({c64(NAN, 1), c64(INFINITY, 0)}, GetParam());
  EXPECT_FALSE(allclose(odd, odd));
  EXPECT_TRUE(allclose(odd, odd, 1e-5, 1e-8, true));
  EXPECT_EQ(Tensor(isclose(odd, odd)).to_vector(), (std::vector<bool>{false, true}));
  EXPECT_EQ(Tensor(isclose(z, z + 1e-7i)).to_vector(), std::vector<bool>(50, true));
  EXPECT_EQ(Tensor(isclose(z, z + 1e-2i)).to_vector(), std::vector<bool>(50, false));
  EXPECT_TRUE(allclose(z, z + 1e-2i, 0, 2e-2));
  EXPECT_FALSE(allclose(z, z + 1e-2i, 0, 5e-3, true));
}

TEST_P(Complex, LazyAndAnyTensors) {
  const auto z = numbers<c128>({20}, 8);
  sinter::Lazy lazy = z * 0.1i;
  for (int i = 0; i < 3; ++i) lazy = lazy * (1. + 0.1i) + z;
  auto expected = Tensor(z * 0.1i);
  for (int i = 0; i < 3; ++i) expected = expected * (1. + 0.1i) + z;
  expect_near(Tensor(lazy).to_vector(), expected.to_vector(), 8);
  EXPECT_EQ(Tensor(real(lazy)).dtype(), sinter::DType::Float64);
  const sinter::Lazy narrow = Tensor(z.to<c64>());
  EXPECT_EQ(Tensor(narrow * 1.i).dtype(), sinter::DType::Complex64);

  const AnyTensor any = z, x = sinter::ones<double>({20}, GetParam());
  expect_near(AnyTensor(any * x * 1.i).as<c128>().to_vector(), Tensor(z * 1.i).to_vector(), 2);
  EXPECT_EQ(AnyTensor(sinter::abs(any)).dtype(), sinter::DType::Float64);
  EXPECT_EQ(any.real().dtype(), sinter::DType::Float64);
  EXPECT_NE(message_of<sinter::DTypeError>([&] { Tensor r = any < x; }).find("lt takes real numbers"),
            std::string::npos);
  EXPECT_NE(message_of<sinter::DTypeError>([&] { any.to<float>(); }).find("take real(z)"), std::string::npos);
  EXPECT_NE(message_of<sinter::DTypeError>([&] { Tensor r = sinter::cast<int>(any); }).find("take real(z)"),
            std::string::npos);
  auto target = sinter::ones({20}, GetParam());
  EXPECT_THROW(target.copy_(any), sinter::DTypeError);
}

TEST_P(Complex, RandomNumbers) {
  sinter::manual_seed(3);
  const auto z = sinter::randn<c64>({100000}, GetParam());
  const auto u = sinter::rand<c128>({1000}, GetParam());
  double re = 0, im = 0, both = 0;
  for (const c64 v : z.to_vector()) re += v.real() * v.real(), im += v.imag() * v.imag(), both += v.real() * v.imag();
  EXPECT_NEAR(re / 1e5, 0.5, 0.01);
  EXPECT_NEAR(im / 1e5, 0.5, 0.01);
  EXPECT_NEAR(both / 1e5, 0, 0.01);
  for (const c128 v : u.to_vector())
    EXPECT_TRUE(v.real() >= 0 && v.real() < 1 && v.imag() >= 0 && v.imag() < 1 && v.real() != v.imag());
  sinter::manual_seed(3);
  EXPECT_EQ(sinter::randn<c64>({100000}, sinter::Device()).to_vector().size(), 100000u);
  sinter::manual_seed(4);
  const auto like = Tensor(rand_like(u * 1.0)).to_vector();
  sinter::manual_seed(4);
  EXPECT_EQ(rand_like(u).to_vector(), like);
}

TEST_P(Complex, SeveralOutputsAndLet) {
  const auto z = numbers<c64>({300}, 9);
  const auto [product, size, parts] = sinter::evaluate(z * z, sinter::abs(z), real(z) + imag(z));
  expect_near(product.to_vector(), Tensor(square(z)).to_vector(), 3);
  const Tensor same = let(z * z, [](auto w) { return w + conj(w); });
  for (std::size_t i = 0; const c64 v : same.to_vector())
    EXPECT_NEAR(v.real(), 2 * product.to_vector()[i++].real(), 1e-4);
  auto w = z.clone();
  sinter::evaluate(into(w, conj(w) * 1.i), into(w.clone(), w));
  expect_near(w.to_vector(), Tensor(complex(imag(z), real(z))).to_vector(), 1);
}

TEST_P(Complex, PlacesAndJoins) {
  const auto z = numbers<c64>({6, 5}, 10);
  const auto d = z.template to<c128>();
  const auto positions = sinter::tensor({3, -1, 0, 7}, GetParam());
  const auto all = z.cpu().to_vector();
  const std::vector<c64> taken{all[3], all[29], all[0], all[7]};
  EXPECT_EQ(Tensor(take(z, positions)).to_vector(), taken);
  EXPECT_EQ(Tensor(imag(take(d, positions))).to_vector()[1], static_cast<double>(all[29].imag()));
  EXPECT_EQ(Tensor(conj(take(d, positions)) * 2).to_vector()[3], 2. * std::conj(c128(all[7])));
  EXPECT_EQ(Tensor(index_select(d, 0, sinter::tensor({5, 5}, GetParam()))).to_vector()[1], c128(all[26]));
  EXPECT_EQ(Tensor(masked_fill(z, sinter::abs(z) < 100, 1.i)).to_vector(), std::vector<c64>(30, c64(0, 1)));
  const Tensor both = sinter::cat(0, z, z + 1.i);
  EXPECT_EQ(both.shape(), (sinter::Shape{12, 5}));
  EXPECT_EQ(both.to_vector()[30], all[0] + c64(0, 1));
  EXPECT_EQ(Tensor((z * 1.i)[2]).to_vector()[0], all[10] * c64(0, 1));
  EXPECT_EQ(Tensor(conj(z).t()).to_vector()[1], std::conj(all[5]));
}

TEST(ComplexLoops, OfEveryInstructionSet) {
  const auto z = sinter::tensor(std::vector<c64>(77, c64(1, -2))),
             w = sinter::tensor(std::vector<c64>(77, c64(3, 0.5)));
  const auto d = z.to<c128>();
  sinter::test::EachIsa().run([&](sinter::jit::cpu::Isa) {
    for (std::int64_t n = 0; n <= 77; ++n) {
      const auto part = z.slice(0, 0, n);
      EXPECT_EQ(Tensor(part + w.slice(0, 0, n)).to_vector(),
                std::vector<c64>(static_cast<std::size_t>(n), c64(4, -1.5)));
      EXPECT_EQ(Tensor(imag(d.slice(0, 0, n)) * 2).to_vector(), std::vector<double>(static_cast<std::size_t>(n), -4));
      EXPECT_EQ(Tensor(complex(real(part), 1.0)).to_vector(), std::vector<c64>(static_cast<std::size_t>(n), c64(1, 1)));
      EXPECT_EQ(Tensor(conj(d.slice(0, 0, n))).to_vector(), std::vector<c128>(static_cast<std::size_t>(n), c128(1, 2)));
      EXPECT_EQ(sinter::full<c128>({n}, 2.i).to_vector(), std::vector<c128>(static_cast<std::size_t>(n), 2.i));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, Complex, ::testing::ValuesIn(devices()), [](const auto& i) {
  return i.param.is_cpu() ? std::string("Cpu") : "Gpu" + std::to_string(i.param.index());
});

}  // namespace
}  // namespace sinter_tests

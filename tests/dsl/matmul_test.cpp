// Matrix products on all devices, against loops.
#include "devices.hpp"
#include "random_views.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <complex>
#include <random>
#include <sstream>

namespace sn = sinter;
using namespace sinter_tests;
using sn::AnyTensor;
using sn::DType;
using sn::Shape;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

using Wide = std::complex<long double>;

/// Row-major values of a shape.
struct Array {
  Shape shape;
  std::vector<Wide> values;

  /// The element at these positions (the last ones); an extent of 1 is broadcast.
  Wide at(std::vector<std::int64_t> place) const {
    place.erase(place.begin(), place.end() - shape.ndim());
    std::int64_t offset = 0;
    for (int i = 0; i < shape.ndim(); ++i)
      offset = offset * shape[i] + (shape[i] == 1 ? 0 : place[static_cast<std::size_t>(i)]);
    return values[static_cast<std::size_t>(offset)];
  }
};

template <class T>
Array array_of(const sn::Tensor<T, sn::AnyDevice>& x) {
  Array a{x.shape(), {}};
  for (const auto& v : sn::Tensor<T, sn::Cpu>(x.cpu()).contiguous().to_vector()) {
    if constexpr (sn::complex_element<T>)
      a.values.emplace_back(v.real(), v.imag());
    else
      a.values.emplace_back(static_cast<long double>(static_cast<double>(v)));
  }
  return a;
}

/// The sum of |a b| bounds the rounding error.
struct Product {
  Array result;
  std::vector<long double> magnitudes;
};

/// By torch.matmul's rules, written out.
Product multiply(const Array& a, const Array& b) {
  Array left = a, right = b;
  if (a.shape.ndim() == 1) left.shape = {1, a.shape[0]};
  if (b.shape.ndim() == 1) right.shape = {b.shape[0], 1};
  const std::int64_t m = left.shape[-2], k = left.shape[-1], n = right.shape[-1];
  Shape batch, other;
  for (int i = 0; i < left.shape.ndim() - 2; ++i) batch.push_back(left.shape[i]);
  for (int i = 0; i < right.shape.ndim() - 2; ++i) other.push_back(right.shape[i]);
  EXPECT_TRUE(broadcast(batch, other));
  Product p;
  for (std::int64_t number = 0; number < batch.numel(); ++number) {
    std::vector<std::int64_t> place(static_cast<std::size_t>(batch.ndim()));
    for (int i = batch.ndim() - 1, rest = static_cast<int>(number); i >= 0; --i)
      place[static_cast<std::size_t>(i)] = rest % batch[i], rest /= static_cast<int>(batch[i]);
    const auto with = [&](std::int64_t row, std::int64_t column) {
      std::vector<std::int64_t> whole = place;
      whole.push_back(row), whole.push_back(column);
      return whole;
    };
    for (std::int64_t r = 0; r < m; ++r)
      for (std::int64_t c = 0; c < n; ++c) {
        Wide sum = 0;
        long double magnitude = 0;
        for (std::int64_t i = 0; i < k; ++i) {
          const Wide term = left.at(with(r, i)) * right.at(with(i, c));
          sum += term, magnitude += std::abs(term);
        }
        p.result.values.push_back(sum);
        p.magnitudes.push_back(magnitude);
      }
  }
  p.result.shape = batch;
  if (a.shape.ndim() > 1) p.result.shape.push_back(m);
  if (b.shape.ndim() > 1) p.result.shape.push_back(n);
  return p;
}

template <class T>
long double rounding = 0x1p-53L;
template <>
constexpr long double rounding<float> = 0x1p-24L;
template <>
constexpr long double rounding<std::complex<float>> = 0x1p-23L;
template <>
constexpr long double rounding<sn::half> = 0x1p-11L;
template <>
constexpr long double rounding<sn::bfloat16> = 0x1p-8L;
template <>
constexpr long double rounding<std::complex<double>> = 0x1p-52L;

template <class T>
void expect_product(const sn::Tensor<T, sn::AnyDevice>& a, const sn::Tensor<T, sn::AnyDevice>& b) {
  const sn::Tensor<T, sn::AnyDevice> result = sn::matmul(a, b);
  const Product right = multiply(array_of(a), array_of(b));
  const Array got = array_of(result);
  ASSERT_EQ(got.shape, right.result.shape);
  EXPECT_EQ(result.device(), a.device());
  const long double inner = static_cast<long double>(a.shape()[-1]);
  const long double sums = sizeof(T) == 2 ? 0x1p-24L : rounding<T>;  // 16-bit floats accumulate in float
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    const long double bound = right.magnitudes[i] * (rounding<T> + (inner + 2) * sums) + 0x1p-24L * (sizeof(T) == 2);
    ASSERT_LE(std::abs(got.values[i] - right.result.values[i]), bound) << "element " << i;
  }
}

template <class T>
struct OfDtype : testing::Test {};
using Dtypes = testing::Types<float, double, sn::half, sn::bfloat16, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(OfDtype, Dtypes);

TYPED_TEST(OfDtype, ShapesOfAllNdims) {
  std::mt19937 random(1);
  const std::pair<Shape, Shape> shapes[] = {{{1}, {1}},
                                            {{7}, {7}},
                                            {{5}, {5, 3}},
                                            {{4, 5}, {5}},
                                            {{1, 1}, {1, 1}},
                                            {{2, 3}, {3, 4}},
                                            {{17, 13}, {13, 5}},
                                            {{64, 33}, {33, 65}},
                                            {{2, 3, 4}, {4, 5}},
                                            {{3, 4}, {2, 4, 5}},
                                            {{2, 1, 3, 4}, {5, 4, 2}},
                                            {{3, 1, 4}, {4, 2}},
                                            {{2, 3, 4}, {4}},
                                            {{4}, {2, 4, 3}},
                                            {{2, 2, 1, 3}, {2, 2, 3, 1}},
                                            {{1, 2, 3}, {4, 3, 2}},
                                            {{4, 2, 3}, {1, 3, 2}}};
  for (const sn::Device device : devices())
    for (const auto& [a, b] : shapes) {
      SCOPED_TRACE(to_string(a) + " " + to_string(b) + " on " + to_string(device));
      expect_product(random_tensor<TypeParam>(a, device, random), random_tensor<TypeParam>(b, device, random));
    }
}

TYPED_TEST(OfDtype, RandomViews) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 60; ++round) {
    const sn::Device device = devices()[random() % devices().size()];
    const auto extent = [&] { return static_cast<std::int64_t>(1 + random() % (random() % 4 ? 6 : 40)); };
    const std::int64_t m = extent(), k = extent(), n = extent();
    Shape a, b;
    for (std::uint32_t i = random() % 3; i > 0; --i) {
      const std::int64_t both = static_cast<std::int64_t>(1 + random() % 3);
      a.push_back(random() % 4 ? both : 1), b.push_back(random() % 4 ? both : 1);
    }
    if (random() % 3 == 0) b = {};
    a.push_back(m), a.push_back(k), b.push_back(k), b.push_back(n);
    SCOPED_TRACE(to_string(a) + " " + to_string(b) + " on " + to_string(device));
    expect_product(random_view<TypeParam>(a, device, random), random_view<TypeParam>(b, device, random));
  }
}

TYPED_TEST(OfDtype, SumsOverTheBatch) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  using Tensor = sn::Tensor<TypeParam, sn::AnyDevice>;
  for (int round = 0; round < 12; ++round) {
    const sn::Device device = devices()[random() % devices().size()];
    const auto extent = [&] { return static_cast<std::int64_t>(1 + random() % (random() % 4 ? 6 : 20)); };
    Shape batch;
    for (std::uint32_t i = 1 + random() % 2; i > 0; --i) batch.push_back(static_cast<std::int64_t>(1 + random() % 4));
    const auto of_batch = [&](std::int64_t rows, std::int64_t columns) {
      Shape shape = batch;
      shape.push_back(rows), shape.push_back(columns);
      return shape;
    };
    const std::int64_t k = extent(), m = extent(), n = extent();
    const Tensor a = random_view<TypeParam>(of_batch(k, m), device, random);
    const Tensor b = random_view<TypeParam>(of_batch(k, n), device, random);
    SCOPED_TRACE(to_string(a.shape()) + " " + to_string(b.shape()) + " on " + to_string(device));
    const auto product = sn::matmul(a.transpose(-2, -1), b);
    const auto axes = [&] { return batch.ndim() == 1 ? Shape(0) : Shape{0, 1}; }();
    const auto stacked = [&](const Tensor& t) { return array_of(Tensor(t.contiguous().reshape({-1, t.size(-1)}))); };
    const Product right = multiply(array_of(Tensor(Tensor(a.contiguous().reshape({-1, m})).t())), stacked(b));
    const auto expect = [&](const Tensor& sum, const Shape& shape, long double factor) {
      ASSERT_EQ(sum.shape(), shape);
      const Array got = array_of(sum);
      const long double terms = static_cast<long double>(k * batch.numel());
      const long double sums = sizeof(TypeParam) == 2 ? 0x1p-24L : rounding<TypeParam>;
      for (std::size_t i = 0; i < got.values.size(); ++i) {
        const long double bound = factor * right.magnitudes[i] * (2 * rounding<TypeParam> + (terms + 2) * sums) +
                                  0x1p-24L * (sizeof(TypeParam) == 2);
        ASSERT_LE(std::abs(got.values[i] - factor * right.result.values[i]), bound) << "element " << i;
      }
    };
    expect(Tensor(product.sum(axes)), {m, n}, 1);
    expect(Tensor(product.sum(axes, sn::keepdim)), batch.ndim() == 1 ? Shape{1, m, n} : Shape{1, 1, m, n}, 1);
    expect(Tensor(product.sum(axes) * 2), {m, n}, 2);
    expect(Tensor(product.sum(axes) + Tensor(product.sum(axes))), {m, n}, 2);
    expect(Tensor(product.sum(axes) * 0), {m, n}, 0);
  }
}

TEST(MatMul, NoElements) {
  for (const sn::Device device : devices()) {
    EXPECT_EQ(sn::Tensor(sn::matmul(sn::ones({0, 3}, device), sn::ones({3, 4}, device))).shape(), (Shape{0, 4}));
    EXPECT_EQ(sn::Tensor(sn::matmul(sn::ones({2, 0, 3}, device), sn::ones({3, 4}, device))).shape(), (Shape{2, 0, 4}));
    const sn::Tensor zeros = sn::matmul(sn::ones({2, 0}, device), sn::ones({0, 3}, device));
    EXPECT_EQ(printed(sn::Tensor(zeros.cpu())), "tensor([[0., 0., 0.],\n        [0., 0., 0.]])");
    const sn::Tensor sum = sn::dot(sn::ones({0}, device), sn::ones({0}, device));
    EXPECT_EQ(sum.cpu().item(), 0);
  }
}

TEST(MatMul, SpecialValuesPass) {
  const float inf = INFINITY, nan = NAN;
  for (const sn::Device device : devices()) {
    const auto a = sn::tensor({{1.f, inf}, {0.f, 1.f}, {nan, 0.f}}).to(device);
    const auto b = sn::tensor({{1.f, 0.f}, {2.f, 0.f}}).to(device);
    const std::vector<float> c = sn::Tensor(sn::matmul(a, b).cpu()).to_vector();
    EXPECT_EQ(c[0], inf);
    EXPECT_TRUE(std::isnan(c[1]));  // infinity times 0
    EXPECT_EQ(c[2], 2);
    EXPECT_TRUE(std::isnan(c[4]));
  }
}

/// Simplification drops the mask, whose shape the result keeps, in dtypes with a different compute dtype.
TEST(MatMul, ShapesThatAreKeptOfAnyDtype) {
  for (const sn::Device device : devices()) {
    const auto f = sn::tensor({{1.f, -2.f}, {3.f, 4.f}}).to(device);
    const auto h = f.to<sn::half>();
    const auto z = sn::Tensor(sn::complex(f, f));
    const auto expect_same = [](const auto& e, const auto& right) {
      EXPECT_TRUE(sn::equal(sn::Tensor(e), right)) << sn::Tensor(e) << right;
    };
    expect_same(sn::where(sn::matmul(h, h) > h, h, h), h);
    expect_same(sn::where(sn::real(sn::matmul(z, z)) > 0, f, f), f);
    expect_same(sn::where(sn::matmul(f, f) > 0, z, z), z);
    const auto row = sn::tensor({1.f, 2.f}).to(device);
    const auto beside = [&](const auto& mask, const auto& x) {
      const auto [sum, got] = sn::evaluate(sn::sum(f), sn::where(mask, x, x));
      expect_same(got, sn::Tensor(x.expand({2, 2})));
    };
    const auto everywhere = [&](const auto& x) { beside(f > 0, x), beside(h > 0, x), beside(sn::real(z) > 0, x); };
    everywhere(row), everywhere(row.to<sn::half>()), everywhere(row.to<std::int8_t>()), everywhere(row.to<double>());
    everywhere(sn::Tensor(sn::complex(row, row)));
  }
}

TEST(MatMul, NothingIsLostByAZero) {
  for (const sn::Device device : devices()) {
    const auto nan = sn::full({2, 2}, NAN, device), one = sn::ones({2, 2}, device);
    const auto expect_nan = [](const auto& e) {
      for (const float v : sn::Tensor(sn::Tensor(e).cpu()).to_vector()) EXPECT_TRUE(std::isnan(v));
    };
    expect_nan(sn::matmul(nan, one) * 0.);
    expect_nan(sn::addmm(nan, one, one, 0, 1));
    expect_nan(sn::addmm(one, nan, one, 2, 0));
    EXPECT_EQ(sn::Tensor(sn::Tensor(sn::addmm(one, one, one, 3, 0)).cpu()).to_vector(),
              (std::vector<float>{3, 3, 3, 3}));
  }
}

TEST(MatMul, KinOfMatmul) {
  const auto a = sn::tensor({{1.f, 2.f}, {3.f, 4.f}}), x = sn::tensor({{1.f, 1.f}, {1.f, 1.f}});
  const auto v = sn::tensor({1.f, 2.f}), w = sn::tensor({3.f, 4.f});
  EXPECT_EQ(printed(sn::Tensor(sn::mm(a, a))), "tensor([[ 7., 10.],\n        [15., 22.]])");
  EXPECT_EQ(printed(sn::Tensor(sn::mv(a, v))), "tensor([ 5., 11.])");
  EXPECT_EQ(sn::Tensor(sn::dot(v, w)).item(), 11);
  EXPECT_EQ(printed(sn::Tensor(sn::outer(v, w))), "tensor([[3., 4.],\n        [6., 8.]])");
  EXPECT_EQ(printed(sn::Tensor(sn::addmm(x, a, a))), "tensor([[ 8., 11.],\n        [16., 23.]])");
  EXPECT_EQ(printed(sn::Tensor(sn::addmm(v, a, a, 2, 10))), "tensor([[ 72., 104.],\n        [152., 224.]])");
  const auto batch = sn::ones({2, 2, 3}), other = sn::ones({2, 3, 1});
  EXPECT_EQ(sn::Tensor(sn::bmm(batch, other)).shape(), (Shape{2, 2, 1}));
  EXPECT_EQ(printed(sn::Tensor(sn::baddbmm(sn::ones({1}), batch, other, 1, 2).flatten())), "tensor([7., 7., 7., 7.])");
  EXPECT_EQ(printed(sn::Tensor(a.matmul(v))), "tensor([ 5., 11.])");
}

TEST(MatMul, WhatDoesNotGoTogether) {
  const auto of = [](const Shape& a, const Shape& b) {
    return message_of<sn::ShapeError>([&] { sn::Tensor(sn::matmul(sn::ones(a), sn::ones(b)) + 1); });
  };
  EXPECT_EQ(of({2, 3}, {4, 5}),
            "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)\n"
            "  in matmul(a, b), where\n"
            "    a: float32 (2, 3) on cpu\n"
            "    b: float32 (4, 5) on cpu\n"
            "  The last dimension of a and the one before the last of b must be equal (x.transpose(-2, -1) swaps two)");
  EXPECT_THAT(of({2, 3}, {4}), AllOf(HasSubstr("size mismatch, got input (2), mat (2x3), vec (4)"),
                                     HasSubstr("\n  The last dimension of a and that of b must be equal")));
  EXPECT_THAT(of({3}, {4, 5}), AllOf(HasSubstr("size mismatch, got input (5), mat (4x5), vec (3)"),
                                     HasSubstr("\n  The only dimension of a and the one before the last of b")));
  EXPECT_THAT(of({3}, {4}), HasSubstr("expected tensor [3] and src [4] to have the same number of elements"));
  EXPECT_THAT(of({}, {4, 5}), AllOf(HasSubstr("need to be at least 1D, but they are 0D and 2D"),
                                    HasSubstr("\n  Multiply by a number with *")));
  EXPECT_THAT(of({2, 3, 4}, {3, 4, 5}), AllOf(HasSubstr("the batches (2,) and (3,) of the matrices do not broadcast"),
                                              HasSubstr("\n  The dimensions before the last two broadcast"),
                                              Not(HasSubstr("must be equal (x.transpose"))));
  EXPECT_THAT(message_of<sn::ShapeError>([] { sn::Tensor(sn::bmm(sn::ones({2, 3, 4}), sn::ones({3, 4, 5}))); }),
              Not(HasSubstr("transpose")));
  EXPECT_THAT(
      message_of<sn::ShapeError>([] { (void)sn::mm(sn::ones({2, 3}), sn::ones({3})); }),
      AllOf(HasSubstr("mm: 2D and 2D tensors expected, but got 2D and 1D"), HasSubstr("b: float32 (3,) on cpu")));
  EXPECT_THAT(message_of<sn::ShapeError>([] { (void)sn::outer(sn::ones({2, 3}), sn::ones({3})); }),
              HasSubstr("outer: 1D and 1D tensors expected, but got 2D and 1D"));
  EXPECT_THAT(message_of<sn::ShapeError>([] { sn::shape_of(sn::matmul(sn::ones({2, 3}), sn::ones({2, 3}))); }),
              HasSubstr("cannot be multiplied (2x3 and 2x3)"));
  const AnyTensor f = sn::ones({2, 2}), d = sn::ones<double>({2, 2}), i = sn::ones<int>({2, 2});
  EXPECT_EQ(
      message_of<sn::DTypeError>([&] { AnyTensor(sn::matmul(f, d)); }),
      "matmul(float32, float64): matmul takes two operands of one dtype, of floats or complex numbers: convert one "
      "with cast<T>(x)");
  EXPECT_THAT(message_of<sn::DTypeError>([&] { AnyTensor(sn::matmul(i, i)); }), HasSubstr("matmul(int32, int32)"));
  if (devices().size() > 1) {
    const sn::Tensor<float, sn::AnyDevice> on_cpu = sn::ones({2, 3}), on_gpu = sn::ones({4, 5}, devices()[1]);
    EXPECT_THAT(message_of<sn::DeviceError>([&] { sn::Tensor(sn::matmul(on_cpu, on_gpu)); }),
                AllOf(HasSubstr("cpu"), HasSubstr("cuda:0"), HasSubstr("in matmul(a, b)")));
  }
}

}  // namespace

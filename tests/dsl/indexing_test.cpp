// Gathers against loops over plain vectors.
#include "devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <random>

#include "each_isa.hpp"

namespace sinter_tests {
namespace {

namespace sn = sinter;
using sn::AnyTensor;
using sn::Shape;
using testing::AllOf;
using testing::HasSubstr;
using Floats = sn::Tensor<float>;
using Ints = sn::Tensor<std::int64_t>;
using Random = std::mt19937_64;

constexpr sn::DType all_dtypes[] = {sn::DType::Bool,   sn::DType::UInt8,   sn::DType::Int8,     sn::DType::UInt16,
                                    sn::DType::Int16,  sn::DType::UInt32,  sn::DType::Int32,    sn::DType::UInt64,
                                    sn::DType::Int64,  sn::DType::Float16, sn::DType::BFloat16, sn::DType::Float32,
                                    sn::DType::Float64};
constexpr sn::DType index_dtypes[] = {sn::DType::Int64, sn::DType::Int32,  sn::DType::Int16, sn::DType::Int8,
                                      sn::DType::UInt8, sn::DType::UInt16, sn::DType::UInt32};

/// A tensor on the host, for the reference.
struct Host {
  Shape shape;
  std::vector<double> values;

  double at(const std::vector<std::int64_t>& place) const {
    std::int64_t i = 0;
    for (int d = 0; d < shape.ndim(); ++d) i = i * shape[d] + (shape[d] == 1 ? 0 : place[static_cast<std::size_t>(d)]);
    return values[static_cast<std::size_t>(i)];
  }
};

Host host_of(const AnyTensor& x) { return {x.shape(), x.cpu().to<double>().to_vector()}; }

/// The values of f over every place of a shape.
Host over(const Shape& shape, const std::function<double(const std::vector<std::int64_t>&)>& f) {
  Host out{shape, {}};
  for (std::int64_t i = 0; i < shape.numel(); ++i) {
    std::vector<std::int64_t> place(shape.size());
    for (std::int64_t rest = i, d = shape.ndim() - 1; d >= 0; rest /= shape[static_cast<int>(d)], --d)
      place[static_cast<std::size_t>(d)] = rest % shape[static_cast<int>(d)];
    out.values.push_back(f(place));
  }
  return out;
}

std::int64_t from_start(double index, std::int64_t extent) {
  return static_cast<std::int64_t>(index) + (index < 0 ? extent : 0);
}

Host select_reference(const Host& x, int axis, const Host& index) {
  Shape shape = x.shape;
  shape[axis] = index.shape.numel();
  return over(shape, [&](std::vector<std::int64_t> place) {
    std::int64_t& p = place[static_cast<std::size_t>(axis)];
    p = from_start(index.values[static_cast<std::size_t>(p)], x.shape[axis]);
    return x.at(place);
  });
}

/// The reference of gather, and of take_along_dim, which broadcasts shapes.
Host gather_reference(const Host& x, int axis, const Host& index, const Shape& shape) {
  return over(shape, [&](std::vector<std::int64_t> place) {
    place[static_cast<std::size_t>(axis)] = from_start(index.at(place), x.shape[axis]);
    return x.at(place);
  });
}

Host rows_reference(const Host& x, const Host& index) {
  Shape shape = index.shape;
  for (int d = 1; d < x.shape.ndim(); ++d) shape.push_back(x.shape[d]);
  return over(shape, [&](const std::vector<std::int64_t>& place) {
    const auto split = place.begin() + index.shape.ndim();
    std::vector<std::int64_t> in_x{from_start(index.at({place.begin(), split}), x.shape[0])};
    in_x.insert(in_x.end(), split, place.end());
    return x.at(in_x);
  });
}

Host take_reference(const Host& x, const Host& index) {
  return over(index.shape, [&](const std::vector<std::int64_t>& place) {
    return x.values[static_cast<std::size_t>(from_start(index.at(place), x.shape.numel()))];
  });
}

AnyTensor as_dtype(const Ints& x, sn::DType dtype) {
  return sn::visit(dtype, [&]<class T>(std::type_identity<T>) { return AnyTensor(x.to<T>()); });
}

/// A tensor of this shape over some memory: reversed, every second element, dims in another order, broadcast.
AnyTensor random_layout(const std::function<AnyTensor(const Shape&)>& make, const Shape& shape, Random& random) {
  const int ndim = shape.ndim();
  std::vector<int> order(static_cast<std::size_t>(ndim));
  std::iota(order.begin(), order.end(), 0);
  if (random() % 2) std::shuffle(order.begin(), order.end(), random);
  std::vector<int> step(static_cast<std::size_t>(ndim), 1);
  for (int& s : step)
    if (random() % 4 == 0) s = random() % 2 ? 2 : -1;
  Shape stored;
  for (const int d : order) stored.push_back(shape[d] * std::abs(step[static_cast<std::size_t>(d)]));
  const AnyTensor base = make(stored);
  Shape strides;
  std::int64_t offset = 0;
  for (int d = 0; d < ndim; ++d) {
    const auto at = static_cast<int>(std::ranges::find(order, d) - order.begin());
    const int s = step[static_cast<std::size_t>(d)];
    strides.push_back(base.strides()[at] * s);
    if (s < 0 && shape[d] > 0) offset += base.strides()[at] * (shape[d] - 1);
  }
  return AnyTensor(sn::runtime::view(base.impl(), shape, strides, offset));
}

AnyTensor random_values(const Shape& shape, sn::DType dtype, sn::Device device, Random& random) {
  const auto make = [&](const Shape& stored) {
    return as_dtype((sn::arange(stored.numel()).reshape(stored) * 7 + 3) % 101, dtype).to(device);
  };
  return random_layout(make, shape, random);
}

/// Indices into `extent` positions, some counted from the end.
AnyTensor random_indices(const Shape& shape, std::int64_t extent, sn::Device device, Random& random) {
  const sn::DType dtype = index_dtypes[random() % std::size(index_dtypes)];
  const auto make = [&](const Shape& stored) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(stored.numel()));
    const std::int64_t lowest = is_unsigned(dtype) ? 0 : -extent;
    for (std::int64_t& v : values) v = std::uniform_int_distribution(lowest, extent - 1)(random);
    return as_dtype(sn::tensor(values, stored), dtype).to(device);
  };
  return random_layout(make, shape, random);
}

Shape random_shape(int ndim, Random& random) {
  Shape shape;
  for (int d = 0; d < ndim; ++d) shape.push_back(static_cast<std::int64_t>(random() % 8 == 0 ? 40 : 1 + random() % 4));
  return shape;
}

std::string describe(const AnyTensor& x) {
  return sn::runtime::describe(x.impl()) + " strides " + to_string(x.strides());
}

/// An expression evaluated in every way, against the reference.
template <class E>
void expect_reads(const E& e, const AnyTensor& x, const AnyTensor& index, const Host& expected, const char* what) {
  SCOPED_TRACE(std::string(what) + " of " + describe(x) + " at " + describe(index));
  const auto check = [&](const AnyTensor& got, const char* how) {
    EXPECT_EQ(got.dtype(), x.dtype()) << how;
    EXPECT_EQ(got.device(), x.device()) << how;
    ASSERT_EQ(got.shape(), expected.shape) << how;
    ASSERT_EQ(host_of(got).values, expected.values) << how;
  };
  check(AnyTensor(e), "fused");
  check(AnyTensor(sn::eager(e)), "eager");
  check(AnyTensor(sn::Lazy<sn::AnyType>(e)), "lazy");
}

void random_reads(sn::Device device, Random& random) {
  const auto dtype = all_dtypes[random() % std::size(all_dtypes)];
  const int ndim = 1 + static_cast<int>(random() % 4);
  const AnyTensor x = random_values(random_shape(ndim, random), dtype, device, random);
  const int axis = static_cast<int>(random() % static_cast<unsigned>(ndim));
  const Host values = host_of(x);
  {
    const AnyTensor index =
        random_indices(random_shape(static_cast<int>(random() % 4), random), x.numel(), device, random);
    if (x.numel() < 100) expect_reads(sn::take(x, index), x, index, take_reference(values, host_of(index)), "take");
  }
  {
    const AnyTensor index =
        random_indices(random_shape(static_cast<int>(random() % 3), random), x.size(0), device, random);
    expect_reads(x[index], x, index, rows_reference(values, host_of(index)), "x[index]");
    expect_reads(x[index + 0], x, index, rows_reference(values, host_of(index)), "x[index + 0]");
    expect_reads(x[sn::Lazy(index)], x, index, rows_reference(values, host_of(index)), "x[lazy]");
  }
  {
    const AnyTensor index =
        random_indices(random_shape(static_cast<int>(random() % 2), random), x.size(axis), device, random);
    expect_reads(x.index_select(axis - (random() % 2 ? ndim : 0), index), x, index,
                 select_reference(values, axis, host_of(index)), "index_select");
  }
  Shape shape = x.shape();
  for (int d = 0; d < ndim; ++d)
    if (d != axis) shape[d] = 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(shape[d]));
  shape[axis] = 1 + static_cast<std::int64_t>(random() % 5);
  {
    const AnyTensor index = random_indices(shape, x.size(axis), device, random);
    expect_reads(x.gather(axis, index), x, index, gather_reference(values, axis, host_of(index), shape), "gather");
  }
  {
    Shape wide = shape;
    for (int d = 0; d < ndim; ++d)
      if (d != axis) shape[d] = random() % 2 ? 1 : x.size(d), wide[d] = x.size(d);
    const AnyTensor index = random_indices(shape, x.size(axis), device, random);
    expect_reads(x.take_along_dim(index, axis), x, index, gather_reference(values, axis, host_of(index), wide),
                 "take_along_dim");
  }
}

TEST(AxisMapping, RandomReadsMatchTheReference) {
  for (const sn::Device device : devices())
    for (std::uint64_t seed = 1; seed <= (device.is_cpu() ? 200u : 3u); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " on " + sn::to_string(device));
      Random random(seed);
      random_reads(device, random);
      if (HasFatalFailure()) return;
    }
}

TEST(AxisMapping, OnEveryInstructionSet) {
  sn::test::EachIsa().run([](sn::jit::cpu::Isa) {
    for (std::uint64_t seed = 1000; seed < 1040; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      Random random(seed);
      random_reads(sn::Device(), random);
      const std::int64_t n = 1 + static_cast<std::int64_t>(random() % 200);
      const AnyTensor x = random_values({n, n}, all_dtypes[random() % std::size(all_dtypes)], sn::Device(), random);
      const AnyTensor index = random_indices({n}, n > 127 ? 127 : n, sn::Device(), random);
      expect_reads(x[index], x, index, rows_reference(host_of(x), host_of(index)), "x[index]");
    }
  });
}

TEST(AxisMapping, SizesAroundPowersOfTwo) {
  for (const sn::Device device : devices())
    for (const std::int64_t n : {0, 1, 31, 33, 255, 257, 1025, 8193, 65537}) {
      if (n > 10000 && !device.is_cpu()) break;
      const Floats x = (sn::arange<float>(n + 1) * 2).to(device);
      const Ints index = (n - sn::arange(n)).to(device);
      const Floats r = x[index] + 1;
      EXPECT_EQ(r.to_vector(), Floats((n - sn::arange(n)).to<float>() * 2 + 1).to_vector()) << n;
    }
}

// The examples of PyTorch's documentation.
TEST(AxisMapping, AsPyTorchSays) {
  for (const sn::Device device : devices()) {
    const auto on = [&](auto t) { return t.to(device); };
    const Ints x = on(sn::tensor({{4, 3, 5}, {6, 7, 8}}));
    EXPECT_EQ(Ints(sn::take(x, on(sn::tensor({0, 2, 5})))).to_vector(), (std::vector<std::int64_t>{4, 5, 8}));
    const Ints t = on(sn::tensor({{1, 2}, {3, 4}}));
    EXPECT_EQ(Ints(sn::gather(t, 1, on(sn::tensor({{0, 0}, {1, 0}})))).to_vector(),
              (std::vector<std::int64_t>{1, 1, 4, 3}));
    EXPECT_EQ(printed(sn::one_hot(sn::tensor({1}), 5)), "tensor([[0, 1, 0, 0, 0]])");
    const Ints hot = sn::one_hot(on((sn::arange(6).reshape({3, 2}) % 3)), 3);
    EXPECT_EQ(hot.shape(), (Shape{3, 2, 3}));
    EXPECT_EQ(hot.to_vector(), (std::vector<std::int64_t>{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}));
    const Ints u = on(sn::tensor({{10, 30, 20}, {60, 40, 50}}));
    const Ints largest = on(sn::tensor({{1}, {0}}));
    EXPECT_EQ(Ints(sn::take_along_dim(u, largest, 1)).to_vector(), (std::vector<std::int64_t>{30, 60}));
    EXPECT_EQ(Ints(u[on(sn::tensor({{0, -1}, {1, 1}}))]).shape(), (Shape{2, 2, 3}));
    EXPECT_EQ(Ints(u[on(sn::full({}, 1))]).to_vector(), (std::vector<std::int64_t>{60, 40, 50}));
    EXPECT_EQ(Ints(sn::index_select(u, 1, on(sn::full({}, -1)))).shape(), (Shape{2, 1}));
    EXPECT_EQ(Ints(sn::take(on(sn::full({}, 7)), on(sn::tensor({0, -1})))).to_vector(),
              (std::vector<std::int64_t>{7, 7}));
  }
}

TEST(AxisMapping, MaskedFill) {
  for (const sn::Device device : devices()) {
    const Floats x = sn::tensor({1.f, -2.f, 3.f}).to(device);
    const Floats r = x.masked_fill(x < 0, 0) * 2;
    EXPECT_EQ(r.to_vector(), (std::vector<float>{2, 0, 6}));
    const sn::Tensor<std::int8_t> small = sn::tensor<std::int8_t>({1, 2}).to(device);
    const sn::Tensor<std::int8_t> filled = sn::masked_fill(small, small == 1, sn::full({}, 9).to(device));
    EXPECT_EQ(filled.to_vector(), (std::vector<std::int8_t>{9, 2}));
    EXPECT_EQ(Floats(sn::masked_fill(x + 0, x.reshape({3, 1}) > 0, -1)).shape(), (Shape{3, 3}));
    EXPECT_THROW((void)sn::masked_fill(small, small == 1, 1000).to_vector(), sn::Error);
    EXPECT_EQ(AnyTensor(sn::masked_fill(AnyTensor(small), AnyTensor(small) == 1, 9)).dtype(), sn::DType::Int8);
  }
}

TEST(AxisMapping, PartsOfLargerExpressions) {
  for (const sn::Device device : devices()) {
    const Floats weight = sn::arange<float>(12).reshape({4, 3}).to(device);
    const Ints ids = sn::tensor({{1, 0}, {3, -1}}).to(device);
    const Floats places = sn::tensor({{10.f}, {20.f}}).to(device);
    const auto e = sn::embedding(weight, ids) * 2 + places;
    EXPECT_THAT(sn::explain(e),
                AllOf(HasSubstr("2 operations in 1 kernel"), HasSubstr("3 operations as written, 2 left"),
                      HasSubstr("float32 (4, 3), gathered")));
    EXPECT_EQ(Floats(e).to_vector(), (std::vector<float>{16, 18, 20, 20, 22, 24, 28, 30, 32, 38, 40, 42}));
    // The same tensor as an elementwise operand and gathered, both as indices and as the source.
    const Ints p = sn::tensor({2, 0, 1}).to(device);
    EXPECT_EQ(Ints(p[p] * 10 + p).to_vector(), (std::vector<std::int64_t>{12, 20, 1}));
    EXPECT_EQ(Ints(p[p[p]]).to_vector(), (std::vector<std::int64_t>{0, 1, 2}));
    EXPECT_EQ(Floats(weight[p[p]]).to_vector(), (std::vector<float>{3, 4, 5, 6, 7, 8, 0, 1, 2}));
    EXPECT_EQ(Ints(sn::let(p[p] + 1, [](auto v) { return v * v; })).to_vector(), (std::vector<std::int64_t>{4, 9, 1}));
    EXPECT_EQ(Ints(sn::let(p + 0, [&](auto v) { return sn::take(p[p], p) + v; })).to_vector(),
              (std::vector<std::int64_t>{2, 1, 3}));
    auto [a, b] = sn::evaluate(weight[ids], weight[ids] + 1);
    EXPECT_EQ(Floats(a + 1).to_vector(), b.to_vector());
    auto [c, d] = sn::evaluate(p[p], weight[p]);  // of several shapes
    EXPECT_EQ(c.to_vector(), (std::vector<std::int64_t>{1, 2, 0}));
    EXPECT_EQ(d.shape(), (Shape{3, 3}));
    // An expression as the source, and a random part as large as the result.
    EXPECT_EQ(Ints((p * 2).take(p)).to_vector(), (std::vector<std::int64_t>{2, 4, 0}));
    EXPECT_EQ(sn::rand_like(sn::embedding(weight, ids) + 0).shape(), (Shape{2, 2, 3}));
    sn::Lazy<std::int64_t> lazy = p;
    for (int i = 0; i < 3; ++i) lazy = sn::take(p, lazy) + 0;
    EXPECT_EQ(Ints(lazy).to_vector(), p.to_vector());  // four times a cycle of three
    EXPECT_EQ(sn::rand_like(sn::Lazy(weight[ids])).shape(), (Shape{2, 2, 3}));
  }
}

/// Vectors of rows, which are aligned or not.
TEST(AxisMapping, RowsOfMatrices) {
  const auto check = [](auto example) {
    using T = decltype(example);
    const sn::Device host;
    for (const std::int64_t columns : {1, 2, 8, 12, 16, 33, 64})
      for (const std::int64_t first : {0, 1, 2, 4, 8})
        for (const std::int64_t extra : {0, 1, 4}) {
          const sn::Tensor<T> numbers = (sn::arange(first + 5 * (columns + extra)) % 100).template to<T>();
          const Ints ids = sn::arange(40) % 10 - 5;
          const auto rows_of = [&](sn::Device device) {
            const sn::Tensor<T> matrix = numbers.to(device).slice(0, first).reshape({5, columns + extra});
            const sn::Tensor<T> part = matrix.narrow(1, 0, columns);
            const sn::Tensor<T> rows = part[ids.to(device)];
            return rows.to(host).to_vector();
          };
          std::vector<T> expected;
          for (const std::int64_t id : ids.to_vector())
            for (std::int64_t c = 0; c < columns; ++c)
              expected.push_back(T(static_cast<float>((first + (id + 5) % 5 * (columns + extra) + c) % 100)));
          for (const sn::Device device : devices()) ASSERT_EQ(rows_of(device), expected) << columns << " " << first;
        }
  };
  check(std::int8_t{});
  check(sn::bfloat16{});
  check(float{});
  check(double{});
}

TEST(AxisMapping, NarrowDtypesAreComputedInTheirComputeDtypes) {
  for (const sn::Device device : devices()) {
    const Ints index = ((sn::arange(100) * 7) % 10 - 5).to(device);
    const auto check = [&]<class T>(std::type_identity<T>) {
      const sn::Tensor<T> x = (sn::arange(10) * 13 - 60).to<T>().to(device);
      const sn::Tensor<T> taken = sn::take(x, index);
      EXPECT_EQ(sn::Tensor<T>(sn::take(x, index) * 2 + sn::take(x, index)).to_vector(),
                sn::Tensor<T>(taken * 2 + taken).to_vector())
          << sn::name(sn::dtype_of<T>);
      EXPECT_EQ(sn::Tensor<bool>(sn::take(x, index) > 3).to_vector(), sn::Tensor<bool>(taken > 3).to_vector());
      EXPECT_EQ(Floats(sn::take(x, index).template to<float>() / 2).to_vector(),
                Floats(taken.template to<float>() / 2).to_vector());
    };
    check(std::type_identity<sn::half>());
    check(std::type_identity<sn::bfloat16>());
    check(std::type_identity<std::int8_t>());
    check(std::type_identity<std::uint8_t>());
  }
}

TEST(AxisMapping, ViewsOfWhatIsRead) {
  for (const sn::Device device : devices()) {
    const Ints x = sn::arange(12).reshape({4, 3}).to(device), index = sn::tensor({3, 1}).to(device);
    const auto e = x[index] + 1;
    const Ints whole = e;
    EXPECT_EQ(Ints(e.t()).to_vector(), whole.t().to_vector());
    EXPECT_EQ(Ints(e[1]).to_vector(), whole[1].to_vector());
    EXPECT_EQ(Ints(e(sn::range(), sn::range(0, 2))).to_vector(), whole(sn::range(), sn::range(0, 2)).to_vector());
    EXPECT_EQ(Ints(e.flip(0, 1).unsqueeze(1)).to_vector(), whole.flip(0, 1).to_vector());
    EXPECT_EQ(Ints(e[index - 2]).to_vector(), whole[index - 2].to_vector());  // evaluated first
    const sn::Lazy<std::int64_t> lazy = e;
    EXPECT_EQ(Ints(lazy.t()[2]).to_vector(), whole.t()[2].to_vector());
    EXPECT_EQ(Ints(e.unbind(1)[2]).to_vector(), whole.unbind(1)[2].to_vector());
    EXPECT_EQ(Ints(x[(index + 0).reshape({2, 1})]).shape(), (Shape{2, 1, 3}));
    EXPECT_EQ(Ints(sn::take(x, x.t()[1] - 1)).to_vector(), (std::vector<std::int64_t>{0, 3, 6, 9}));
  }
}

TEST(AxisMapping, WhatIsReadIsReadBeforeItIsWritten) {
  for (const sn::Device device : devices()) {
    for (const std::int64_t n : {5, 5000}) {
      Ints x = sn::arange(n, device);
      const Ints backwards = (n - 1 - sn::arange(n)).to(device);
      x.assign(sn::take(x, backwards));
      EXPECT_EQ(x.to_vector(), backwards.to_vector());
      x.assign(x[x]);
      EXPECT_EQ(x.to_vector(), sn::arange(n).to_vector());
      x(sn::range(1, sn::range::none)) = x[backwards(sn::range(1, sn::range::none))];
      std::vector<std::int64_t> expected = backwards.to_vector();
      expected[0] = 0;
      for (std::size_t i = 1; i < expected.size(); ++i) expected[i] = n - 1 - static_cast<std::int64_t>(i);
      EXPECT_EQ(x.to_vector(), expected);
      Ints y = sn::arange(n, device), z = sn::zeros<std::int64_t>({n}, device);
      sn::evaluate(sn::into(y, y[backwards]), sn::into(z, y[backwards] + 1));
      EXPECT_EQ(Ints(y + 1).to_vector(), z.to_vector());
      EXPECT_EQ(y.to_vector(), backwards.to_vector());
    }
  }
}

TEST(AxisMapping, ATreeReadsWhenItIsEvaluated) {
  Ints x = sn::tensor({1, 2, 3});
  const Ints index = sn::tensor({2, 0});
  const auto e = x[index];
  const sn::Lazy<std::int64_t> lazy = x[index];
  x += 10;
  EXPECT_EQ(Ints(e).to_vector(), (std::vector<std::int64_t>{13, 11}));
  EXPECT_THAT(message_of<sn::Error>([&] { Ints r = lazy; }), HasSubstr("written to"));
}

// On the CPU, contiguous rows are read in place; the same elements by take() are not.
TEST(AxisMapping, RowsOfEveryLength) {
  for (const sn::Device device : devices())
    for (const std::int64_t n : {1, 31, 32, 33, 100, 2047, 2049, 6000}) {
      SCOPED_TRACE(n);
      const Ints x = (sn::arange(7 * 3 * n) * 5 % 251).reshape({7, 3, n}).to(device);
      const Ints ids = sn::tensor({6, -7, 2, 2, -1, 3}).reshape({3, 2}).to(device);
      const Ints rows = sn::take(
          x, (sn::where(ids < 0, ids + 7, ids).reshape({3, 2, 1, 1}) * 3 + sn::arange(3, device).reshape({3, 1})) * n +
                 sn::arange(n, device));
      EXPECT_TRUE(sn::equal(x[ids], rows));
      EXPECT_TRUE(sn::equal(x[ids] * 2 - rows, rows));
      EXPECT_TRUE(sn::equal((x[ids] * x[ids]).transpose(2, 3), (rows * rows).transpose(2, 3)));
      EXPECT_TRUE(sn::equal(x[ids].flip(-1), rows.flip(-1)));
      EXPECT_TRUE(sn::equal(x[ids](sn::range(), 1, sn::range(1, 3)), rows(sn::range(), 1, sn::range(1, 3))));
      const auto [twice, bytes] = sn::evaluate(x[ids] + x[ids], x.to<std::uint8_t>()[ids]);
      EXPECT_TRUE(sn::equal(twice, rows * 2));
      EXPECT_TRUE(sn::equal(bytes, rows.to<std::uint8_t>()));
      const Ints middle = sn::tensor({2, 0, -2, 1}).to(device), found = sn::index_select(x, 1, middle);
      for (const auto& [at, from] : {std::pair(0, 2), std::pair(1, 0), std::pair(2, 1), std::pair(3, 1)})
        EXPECT_TRUE(sn::equal(found.select(1, at), x.select(1, from))) << at;
      EXPECT_TRUE(sn::equal(sn::index_select(x, 1, middle) + sn::index_select(x, 1, middle), found * 2));
    }
}

TEST(AxisMapping, TensorsWithoutAxes) {
  for (const sn::Device device : devices()) {
    const Floats x = sn::full({}, 3.f, device);
    const Ints zero = sn::full({}, std::int64_t{0}, device);
    EXPECT_EQ(Floats(sn::gather(x, 0, zero)).item(), 3);
    EXPECT_EQ(Floats(sn::index_select(x, -1, zero - 1) + 1).item(), 4);
    EXPECT_EQ(Floats(sn::gather(x, 0, zero)).shape(), Shape());
    EXPECT_THAT(message_of<sn::IndexError>([&] { (void)sn::gather(x, 1, zero); }), HasSubstr("[-1, 0], but got 1"));
    const Ints one = zero.reshape({1}), two = sn::zeros<std::int64_t>({2}, device);
    // One element, for any shape of the index.
    EXPECT_EQ(Floats(sn::gather(x, 0, one)).shape(), Shape(1));
    EXPECT_TRUE(sn::equal(sn::gather(x, 0, two - 1), sn::full({2}, 3.f, device)));
    EXPECT_TRUE(sn::equal(sn::gather(x, 0, two(sn::range(0, 0))), sn::zeros({0}, device)));
    for (const Floats& found :
         {Floats(sn::index_select(x, 0, one)), Floats(sn::index_select(x, 0, one * 2 - 1) + 0.f)}) {
      EXPECT_EQ(found.shape(), Shape());
      EXPECT_EQ(found.item(), 3);
    }
    EXPECT_EQ(Floats(sn::index_select(x, 0, sn::Lazy<std::int64_t>(one) - 1)).shape(), Shape());
    EXPECT_THROW((void)Floats(sn::index_select(x, 0, one + 1)).to_vector(), sn::IndexError);
    const Floats row = sn::tensor({1.f, 2.f, 4.f}, device);
    EXPECT_EQ(Floats(sn::gather(row, 0, zero - 1)).shape(), Shape());
    EXPECT_EQ(Floats(sn::gather(row, 0, zero - 1)).item(), 4);
    EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)sn::index_select(x, 0, two); }), HasSubstr("name one element"));
    EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)sn::gather(x, 0, zero.reshape({1, 1})); }),
                HasSubstr("more dimensions than x"));
    EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)sn::take_along_dim(x, one, 0); }),
                HasSubstr("more dimensions than x"));
    EXPECT_THROW((void)sn::take_along_dim(row, zero, 0), sn::ShapeError);
  }
}

TEST(AxisMapping, SizesOfManyRows) {
  // Rows for one CPU thread, and for several.
  for (const sn::Device device : devices()) {
    const std::int64_t rows = device.is_cpu() ? 20000 : 500;
    const Ints table = sn::arange(50 * 33).reshape({50, 33}).to(device);
    const Ints ids = (sn::arange(rows) * 7 % 50).to(device);
    const Ints r = table[ids] + 1;
    const Ints expected = (ids.reshape({rows, 1}) * 33 + sn::arange(33, device)) + 1;
    EXPECT_TRUE(sn::equal(r, expected));
    const Ints columns = table.t()[sn::tensor({0, 32, 5}).to(device)];
    EXPECT_TRUE(sn::equal(columns, sn::tensor({{0}, {32}, {5}}).to(device) + sn::arange(50, device) * 33));
  }
}

// A uniform index selects nothing if there are no elements.
TEST(AxisMapping, SumsOfNothingThatWasGathered) {
  for (const sn::Device device : devices()) {
    const AnyTensor none = sn::zeros<std::int64_t>({0}).to(device);
    const sn::Lazy<sn::AnyType> x(none);
    const sn::NamedOperand operands[] = {{"x", x}};
    const auto text = [&](const char* expression) { return AnyTensor(sn::parse(expression, operands)).cpu(); };
    EXPECT_EQ(text("sum(index_select(x, 0, isnan(x).to(int64)))").as<std::int64_t>().item(), 0) << device;
    EXPECT_EQ(text("sum(index_select(x, 0, isnan(x).to(int64)) + 1) + 7").as<std::int64_t>().item(), 7) << device;
    EXPECT_EQ(text("any(gather(x, 0, isnan(x).to(int64)), keepdim=True)").shape(), Shape(1)) << device;
  }
}

}  // namespace
}  // namespace sinter_tests

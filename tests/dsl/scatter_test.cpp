// Writes to indexed positions, against a loop over positions.
#include "devices.hpp"

#include <gmock/gmock.h>

#include <complex>
#include <random>
#include <set>
#include <thread>

namespace sn = sinter;
using sinter_tests::devices;
using sn::bfloat16;
using sn::half;
using testing::Each;
using testing::ElementsAre;

namespace {

using Ints = std::vector<std::int64_t>;
using Index = sn::Tensor<std::int64_t>;

std::vector<std::int64_t> coordinates(std::int64_t position, const sn::Shape& shape) {
  std::vector<std::int64_t> c(shape.size());
  for (int d = shape.ndim() - 1; d >= 0; position /= shape[d--]) c[static_cast<std::size_t>(d)] = position % shape[d];
  return c;
}
std::size_t position(const std::vector<std::int64_t>& c, const sn::Shape& shape) {
  std::int64_t p = 0;
  for (int d = 0; d < shape.ndim(); ++d) p = p * shape[d] + c[static_cast<std::size_t>(d)];
  return static_cast<std::size_t>(p);
}

/// An array on the host, row-major.
template <class T>
struct Host {
  std::vector<T> values;
  sn::Shape shape;
};

template <class T>
Host<T> random_host(const sn::Shape& shape, std::int64_t from, std::int64_t below, std::mt19937& random) {
  Host<T> h{{}, shape};
  std::uniform_int_distribution<std::int64_t> any(from, below - 1);
  for (std::int64_t i = 0; i < shape.numel(); ++i) h.values.push_back(static_cast<T>(any(random)));
  return h;
}

/// On a device, in one of several layouts.
template <class T>
sn::Tensor<T> on(sn::Device device, const Host<T>& h, int layout = 0) {
  const sn::Tensor<T> x = sn::Tensor<T>(sn::tensor<T>(h.values, h.shape)).to(device);
  if (h.shape.ndim() == 0) return x;
  if (layout == 1) return sn::Tensor<T>(x.transpose(0, -1).clone()).transpose(0, -1);
  if (layout == 2) return sn::Tensor<T>(x.flip(-1).clone()).flip(-1);
  if (layout == 3) {
    sn::Shape wide = h.shape;
    wide[0] = wide[0] * 2 + 1;
    const sn::Tensor<T> y = sn::Tensor<T>(sn::zeros<T>(wide)).to(device);
    sn::Tensor<T> part = y.slice(0, 1, sn::range::none, 2);
    part.assign(x);
    return part;
  }
  return x;
}

/// PyTorch's definition: x[index[c]][c1]... = source[c], or += it.
template <class T>
void scatter_reference(Host<T>& x, int axis, const Host<std::int64_t>& index, const Host<T>& source, bool adds) {
  for (std::int64_t i = 0; i < index.shape.numel(); ++i) {
    auto c = coordinates(i, index.shape);
    const T value = source.values[position(c, source.shape)];
    c[static_cast<std::size_t>(axis)] = index.values[static_cast<std::size_t>(i)];
    T& to = x.values[position(c, x.shape)];
    to = adds ? static_cast<T>(to + value) : value;
  }
}

sn::Shape random_shape(int ndim, int least, int most, std::mt19937& random) {
  sn::Shape shape;
  for (; ndim > 0; --ndim)
    shape.push_back(least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1)));
  return shape;
}

TEST(Scatter, OfAnyShapeAndLayout) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const auto below = [&](std::int64_t n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 16; ++round) {
    const int ndim = 1 + below(round % 8 == 0 ? 8 : 4);
    const sn::Shape shape = random_shape(ndim, 1, ndim > 4 ? 3 : 6, random);
    const int axis = below(ndim);
    sn::Shape part = shape, larger;
    for (int d = 0; d < ndim; ++d) part[d] = d == axis ? below(9) : 1 + below(shape[d]);
    for (int d = 0; d < ndim; ++d) larger.push_back(part[d] + below(3));
    const auto index = random_host<std::int64_t>(part, 0, shape[axis], random);
    const auto source = random_host<int>(larger, -100, 100, random);
    const auto before = random_host<int>(shape, -100, 100, random);
    const int layouts[] = {below(4), below(4), below(4)};
    for (const sn::Device device : devices()) {
      sn::Tensor<int> x = on(device, before, layouts[0]);
      Host<int> expected = before;
      scatter_reference(expected, axis, index, source, true);
      x.scatter_add_(axis - (round % 2 ? ndim : 0), on(device, index, layouts[1]), on(device, source, layouts[2]));
      EXPECT_EQ(x.to_vector(), expected.values) << device << " round " << round;
    }
    // Without duplicates along the axis, so that every device gives the same.
    auto distinct = index;
    for (std::int64_t i = 0; i < part.numel(); ++i) {
      const auto c = coordinates(i, part);
      const auto n = shape[axis];
      distinct.values[static_cast<std::size_t>(i)] = (c[static_cast<std::size_t>(axis)] * (n > 1 ? n - 1 : 1) + 3) % n;
    }
    if (part[axis] > shape[axis]) continue;
    for (const sn::Device device : devices()) {
      sn::Tensor<int> x = on(device, before, layouts[0]);
      Host<int> expected = before;
      scatter_reference(expected, axis, distinct, source, false);
      x.scatter_(axis, on(device, distinct, layouts[1]), on(device, source, layouts[2]));
      EXPECT_EQ(x.to_vector(), expected.values) << device << " round " << round;
    }
  }
}

TEST(Scatter, OfAnyNumberOfElements) {
  std::mt19937 random(2);
  for (const sn::Device device : devices())
    for (const std::int64_t n :
         {0, 1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097, 65535, 65536, 65537, 100'000}) {
      const auto index = random_host<std::int64_t>({n}, 0, 300, random);
      const auto source = random_host<std::int64_t>({n}, -5, 5, random);
      Host<std::int64_t> expected{Ints(300, 1), {300}};
      Index x = on(device, expected);
      scatter_reference(expected, 0, index, source, true);
      x.scatter_add_(0, on(device, index), on(device, source));
      EXPECT_EQ(x.to_vector(), expected.values) << n << device;
      // All to one position.
      Index sum = sn::zeros<std::int64_t>({3}).to(device);
      sum.scatter_add_(0, on(device, index) * 0 + 1, on(device, source) * 0 + 2);
      EXPECT_THAT(sum.to_vector(), ElementsAre(0, 2 * n, 0));
    }
}

template <class T>
void expect_all_writes(sn::Device device) {
  const auto values = [&](std::initializer_list<float> v) {
    return sn::Tensor<T>(sn::tensor<float>(std::vector<float>(v)).to(device).template to<T>());
  };
  const Index index = sn::tensor<std::int64_t>({2, 0, 2, 1}).to(device);
  sn::Tensor<T> x = values({1, 0, 1, 1, 0});
  x.scatter_add_(0, index, values({1, 0, 1, 1}));
  constexpr bool is_bool = std::is_same_v<T, bool>;
  const T three = is_bool ? T(1) : T(3.f), two = T(2.f), one = T(1.f), zero = T(0.f);
  EXPECT_THAT(x.to_vector(), ElementsAre(one, one, three, one, zero)) << sn::name(sn::dtype_of<T>) << device;
  x.scatter_(0, sn::Tensor<std::int64_t>(index.narrow(0, 0, 2)), values({2, 2, 2}));
  EXPECT_THAT(x.to_vector(), ElementsAre(two, one, two, one, zero)) << sn::name(sn::dtype_of<T>) << device;
  x.scatter_(0, index, zero);
  EXPECT_THAT(x.to_vector(), ElementsAre(zero, zero, zero, one, zero));
  // An odd address.
  sn::Tensor<T> part = x.narrow(0, 1, 3);
  part.scatter_add_(0, index, values({1, 1, 1, 1}));
  EXPECT_THAT(x.to_vector(), ElementsAre(zero, one, one, three, zero)) << sn::name(sn::dtype_of<T>) << device;
}

TEST(Scatter, OfAllDtypes) {
  for (const sn::Device device : devices()) {
#define SINTER_DTYPE(id, type, name, cuda, category, compute_dtype) expect_all_writes<type>(device);
#include <sinter/runtime/dtypes.def>
  }
}

TEST(Scatter, IntegersWrap) {
  for (const sn::Device device : devices()) {
    const Index twice = sn::tensor<std::int64_t>({0, 0}).to(device);
    sn::Tensor<std::uint8_t> bytes = sn::full<std::uint8_t>({3}, 200).to(device);
    bytes.scatter_add_(0, twice, sn::Tensor<std::uint8_t>(sn::full<std::uint8_t>({2}, 100).to(device)));
    EXPECT_THAT(bytes.to_vector(), ElementsAre(144, 200, 200));
    sn::Tensor<std::int8_t> small = sn::full<std::int8_t>({1}, 127).to(device);
    small.index_add_(0, twice, sn::Tensor<std::int8_t>(sn::ones<std::int8_t>({2}).to(device)));
    EXPECT_THAT(small.to_vector(), ElementsAre(-127));
    sn::Tensor<std::int16_t> middle = sn::full<std::int16_t>({1}, 32767).to(device);
    middle.index_add_(0, twice, sn::Tensor<std::int16_t>(sn::ones<std::int16_t>({2}).to(device)));
    EXPECT_THAT(middle.to_vector(), ElementsAre(-32767));
    Index large = sn::full<std::int64_t>({1}, INT64_MAX).to(device);
    large.index_add_(0, twice, Index(sn::ones<std::int64_t>({2}).to(device)));
    EXPECT_THAT(large.to_vector(), ElementsAre(INT64_MIN + 1));
  }
}

TEST(Scatter, LastOfSeveralStaysOnTheCpuAndOneOfThemOnAGpu) {
  for (const sn::Device device : devices())
    for (const int n : {2, 1000}) {
      sn::Tensor<float> x = sn::zeros({2}).to(device);
      x.scatter_(0, Index(sn::zeros<std::int64_t>({n}).to(device)),
                 sn::Tensor<float>(sn::arange<float>(n).to(device)) + 1);
      const float kept = x.to_vector()[0];
      if (device.is_cpu())
        EXPECT_EQ(kept, static_cast<float>(n));
      else
        EXPECT_TRUE(kept >= 1 && kept <= static_cast<float>(n) && kept == std::floor(kept));
      EXPECT_EQ(x.to_vector()[1], 0);
    }
}

TEST(Scatter, SumsOnTheCpuAreInOrder) {
  sn::Tensor<float> x = sn::zeros({1});
  x.scatter_add_(0, sn::zeros<std::int64_t>({4}), sn::tensor<float>({1e8f, 1, -1e8f, 1}));
  EXPECT_EQ(x.item(), ((1e8f + 1) - 1e8f) + 1);
  sn::Tensor<sn::half> h = sn::zeros<sn::half>({1});
  h.index_add_(0, sn::zeros<std::int64_t>({2}), sn::full<sn::half>({2}, 1));
  h.index_add_(0, sn::zeros<std::int64_t>({2}), sn::full<sn::half>({2}, 2048));
  EXPECT_EQ(static_cast<float>(h.item()), 4096);  // 2 + 2048 + 2048 with halves to even
}

template <class C>
void expect_complex(sn::Device device) {
  const sn::Tensor<C> values = sn::tensor(std::vector<C>{{1, 2}, {3, -4}, {5, 6}}).to(device);
  const Index twice = Index(sn::tensor({0, 2, 0}).to(device)), once = Index(sn::tensor({2, 1, 3}).to(device));
  sn::Tensor<C> x = sn::full<C>({4}, C(10, 20), device);
  x.scatter_add_(0, twice, values);
  EXPECT_THAT(x.to_vector(), ElementsAre(C(16, 28), C(10, 20), C(13, 16), C(10, 20)));
  x.scatter_(0, once, values);
  EXPECT_THAT(x.to_vector(), ElementsAre(C(16, 28), C(3, -4), C(1, 2), C(5, 6)));
}

TEST(Scatter, ComplexNumbers) {
  for (const sn::Device device : devices()) {
    expect_complex<std::complex<float>>(device);
    expect_complex<std::complex<double>>(device);
  }
}

TEST(Scatter, TakesExpressionsNumbersAndNarrowIndices) {
  for (const sn::Device device : devices()) {
    sn::Tensor<float> x = sn::zeros({2, 3}).to(device);
    const sn::Tensor<float> y = sn::Tensor<float>(sn::tensor<float>({{1, 2, 3}, {4, 5, 6}})).to(device);
    const sn::Tensor<int> i = sn::Tensor<int>(sn::tensor<int>({{0, 1, 0}, {1, 0, 1}})).to(device);
    x.scatter_(0, 1 - i, y * 10);
    EXPECT_THAT(x.to_vector(), ElementsAre(40, 20, 60, 10, 50, 30));
    x.scatter_add_(0, i, (y + 1).exp().log() - 1 - y + 0.25f);  // some 0.25
    for (const float v : (x - 0.25f).to_vector()) EXPECT_NEAR(v, std::round(v / 10) * 10, 1e-4);
    x.scatter_(1, i.to<std::uint8_t>(), 7);
    EXPECT_EQ(x[0][0].item(), 7);
    EXPECT_EQ(x[1][1].item(), 7);
    sn::Lazy<std::int64_t> lazy = i.to<std::int64_t>();
    x.scatter_(1, lazy + 1, sn::Lazy<float>(y * 0));
    EXPECT_THAT(x.to_vector(), ElementsAre(7, 0, 0, 7, 0, 0));
    // Part of an expression, an expanded source, an index of fewer columns.
    x.scatter_add_(0, sn::Tensor<int>(i.narrow(1, 0, 2)), y * 2);
    EXPECT_THAT(x.to_vector(), ElementsAre(9, 10, 0, 15, 4, 0));
    x.scatter_(0, i, sn::Tensor<float>(y[0][0]).expand({2, 3}));
    EXPECT_THAT(x.to_vector(), Each(1));
  }
}

TEST(Scatter, ReadsItselfFirst) {
  for (const sn::Device device : devices()) {
    Index x = sn::tensor<std::int64_t>({3, 2, 1, 0, 1}).to(device);
    x.scatter_(0, Index(x.narrow(0, 0, 4)), Index(x.narrow(0, 0, 4)) + x.narrow(0, 1, 4));
    EXPECT_THAT(x.to_vector(), ElementsAre(1, 1, 3, 5, 1));
    sn::Tensor<float> y = sn::tensor<float>({1, 2, 3, 4}).to(device);
    y.index_copy_(0, sn::Tensor<int>(sn::tensor<int>({1, 2, 3, 0}).to(device)), y);
    EXPECT_THAT(y.to_vector(), ElementsAre(4, 1, 2, 3));
    y.narrow(0, 1, 3).scatter_add_(0, Index(sn::tensor<std::int64_t>({0, 1, 2}).to(device)), y.narrow(0, 0, 3));
    EXPECT_THAT(y.to_vector(), ElementsAre(4, 5, 3, 5));
  }
}

TEST(Scatter, SlicesAlongAnyAxis) {
  std::mt19937 random(3);
  const sn::Shape shape(4, 3, 5);
  for (const sn::Device device : devices())
    for (const int axis : {0, 1, 2, -1}) {
      const auto before = random_host<int>(shape, -9, 9, random);
      sn::Shape slices = shape;
      slices[axis] = 7;
      const auto list = random_host<std::int64_t>({7}, 0, shape[axis], random);
      const auto source = random_host<int>(slices, -9, 9, random);
      Host<std::int64_t> index{{}, slices};
      for (std::int64_t i = 0; i < slices.numel(); ++i) {
        const auto c = coordinates(i, slices);
        index.values.push_back(list.values[static_cast<std::size_t>(c[static_cast<std::size_t>((axis + 3) % 3)])]);
      }
      Host<int> expected = before;
      scatter_reference(expected, (axis + 3) % 3, index, source, true);
      sn::Tensor<int> x = on(device, before, 1);
      x.index_add_(axis, on(device, list, 2), on(device, source, 3));
      EXPECT_EQ(x.to_vector(), expected.values) << device << axis;
      x.index_add_(axis, on(device, list) + 0, on(device, source) * -1);
      EXPECT_EQ(x.to_vector(), before.values) << device << axis;
    }
}

TEST(Scatter, CopiesAndFillsSlices) {
  for (const sn::Device device : devices()) {
    sn::Tensor<float> x = sn::zeros({3, 2}).to(device);
    const Index list = sn::tensor<std::int64_t>({2, 0}).to(device);
    x.index_copy_(0, list, sn::Tensor<float>(sn::tensor<float>({{1, 2}, {3, 4}})).to(device));
    EXPECT_THAT(x.to_vector(), ElementsAre(3, 4, 0, 0, 1, 2));
    x.index_fill_(-1, Index(list[1]), 9)
        .index_fill_(0, list - 1 + (list == 0).to<std::int64_t>(), sn::Tensor<float>(x[0][1]));
    EXPECT_THAT(x.to_vector(), ElementsAre(4, 4, 4, 4, 9, 2));
    sn::Tensor<float> scalar = sn::zeros({}).to(device);
    scalar.index_add_(0, Index(sn::tensor<std::int64_t>({0}).to(device)), sn::Tensor<float>(sn::ones({}).to(device)));
    scalar.scatter_add_(0, Index(sn::tensor<std::int64_t>({0, 0}).to(device)),
                        sn::Tensor<float>(sn::ones({2}).to(device)));
    EXPECT_EQ(scalar.item(), 3);
    scalar.scatter_(-1, Index(sn::zeros<std::int64_t>({}).to(device)), 2.5);
    EXPECT_EQ(scalar.item(), 2.5);
  }
}

TEST(Scatter, PutsWhereSeveralIndicesMeet) {
  for (const sn::Device device : devices()) {
    sn::Tensor<float> x = sn::zeros({3, 4}).to(device);
    const Index rows = Index(sn::tensor<std::int64_t>({{1}, {-1}})).to(device);
    const sn::Tensor<int> columns = sn::tensor<int>({0, 3}).to(device);
    x.index_put_({rows, columns}, sn::Tensor<float>(sn::tensor<float>({1, 2}).to(device)));
    EXPECT_THAT(x.to_vector(), ElementsAre(0, 0, 0, 0, 1, 0, 0, 2, 1, 0, 0, 2));
    x.index_put_({rows, columns}, 1, true).index_put_({rows * 0, columns - 4 * (columns > 0).to<int>()}, 5);
    EXPECT_THAT(x.to_vector(), ElementsAre(5, 0, 0, 5, 2, 0, 0, 3, 2, 0, 0, 3));
    x.index_put_({columns.to<std::int64_t>() - 1}, x[1] + x[2], true);
    EXPECT_THAT(x.to_vector(), ElementsAre(5, 0, 0, 5, 2, 0, 0, 3, 10, 0, 0, 15));
    sn::Tensor<float> cube = sn::zeros({2, 3, 2}).to(device);
    cube.transpose(0, 1).index_put_({rows}, sn::Tensor<float>(sn::tensor<float>({1, 2}).to(device)));
    EXPECT_THAT(cube.to_vector(), ElementsAre(0, 0, 1, 2, 1, 2, 0, 0, 1, 2, 1, 2));
    sn::Tensor<float> masked = sn::zeros({4}).to(device);
    masked.index_put_({nonzero(sn::Tensor<float>(sn::arange<float>(4).to(device)) > 1).select(1, 0)}, 1);
    EXPECT_THAT(masked.to_vector(), ElementsAre(0, 0, 1, 1));
  }
}

TEST(Scatter, OfNothingWritesNothing) {
  for (const sn::Device device : devices()) {
    const Index none = sn::zeros<std::int64_t>({0}).to(device);
    sn::Tensor<float> x = sn::ones({2}).to(device);
    x.scatter_(0, none, 5).scatter_add_(0, none, sn::Tensor<float>(sn::ones({3}).to(device)));
    x.index_put_({none}, 5).index_fill_(0, none, 5);
    x.index_add_(0, none, sn::Tensor<float>(sn::ones({0}).to(device)));
    EXPECT_THAT(x.to_vector(), ElementsAre(1, 1));
    sn::Tensor<float> empty = sn::ones({0, 2}).to(device);
    EXPECT_NO_THROW(empty.index_add_(1, Index(sn::ones<std::int64_t>({3}).to(device)),
                                     sn::Tensor<float>(sn::ones({0, 3}).to(device))));
  }
}

TEST(Scatter, WaitsForWhatItReadsAndWrites) {
  if (devices().size() < 2) return;
  const sn::Device gpu(0);
  // Each operand on its own stream, so that waiting for one is not waiting for another.
  for (const int touched : {0, 1, 2}) {
    const sn::Stream of_x, of_y, of_i, other;
    sn::Tensor<float> x = sn::zeros({100}).to(gpu), y = sn::zeros({1000}).to(gpu);
    Index i = sn::zeros<std::int64_t>({1000}).to(gpu);
    const auto on_stream = [](const sn::Stream& stream, auto&& f) {
      const sn::StreamGuard guard(stream);
      f();
    };
    on_stream(of_x, [&] { x.assign(1.f); });
    on_stream(of_y, [&] { y.assign(2.f); });
    on_stream(of_i, [&] { i.assign(7); });
    on_stream(other, [&] { x.scatter_add_(0, i, y); });
    if (touched == 1) on_stream(of_y, [&] { y.assign(0.f); });
    if (touched == 2) on_stream(of_i, [&] { i.assign(0); });
    on_stream(of_x, [&] { EXPECT_EQ(x[7].item(), 2001); });
  }
}

TEST(Scatter, IsUsedByManyThreads) {
  for (const sn::Device device : devices()) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([=] {
        for (int n = 1; n < 8; ++n) {
          sn::Tensor<float> x = sn::zeros({5}).to(device);
          const Index i = sn::arange(1000 * n).to(device);
          x.scatter_add_(0, i % 5, i.to<float>() * 0 + static_cast<float>(t));
          EXPECT_THAT(x.to_vector(), Each(static_cast<float>(200 * n * t)));
        }
      });
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace

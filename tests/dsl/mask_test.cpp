// Selection by masks, against a loop over all positions.
#include "devices.hpp"

#include <gmock/gmock.h>

#include <random>
#include <thread>

namespace sn = sinter;
using sinter_tests::devices;
using sinter_tests::message_of;
using sn::bfloat16;
using sn::half;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using Values = std::vector<std::int64_t>;

sn::Tensor<bool> mask_of(const std::vector<bool>& bits, const sn::Shape& shape, sn::Device device) {
  return sn::tensor<bool>(bits, shape).to(device);
}

std::vector<bool> random_bits(std::int64_t n, double density, std::mt19937& random) {
  std::bernoulli_distribution is_true(density);
  std::vector<bool> bits;
  for (std::int64_t i = 0; i < n; ++i) bits.push_back(is_true(random));
  return bits;
}

/// The coordinates of true elements, one after the other.
Values positions(const std::vector<bool>& bits, const sn::Shape& shape) {
  Values found;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (!bits[i]) continue;
    Values coordinates;
    auto rest = static_cast<std::int64_t>(i);
    for (int d = shape.ndim() - 1; d >= 0; rest /= shape[d--]) coordinates.push_back(rest % shape[d]);
    found.insert(found.end(), coordinates.rbegin(), coordinates.rend());
  }
  return found;
}

Values chosen(const std::vector<bool>& bits) {
  return positions(bits, sn::Shape(static_cast<std::int64_t>(bits.size())));
}

constexpr double densities[] = {0, 0.01, 0.5, 1};

TEST(Mask, SelectsFromAnyNumberOfElements) {
  std::mt19937 random(1);
  for (const sn::Device device : devices())
    for (const std::int64_t n : {0,   1,   7,    8,    9,    31,   32,   33,   255,   256,   257,   511,
                                 512, 513, 1023, 1024, 1025, 4095, 4096, 4097, 65535, 65536, 65537, 100'000})
      for (const double density : densities) {
        const std::vector<bool> bits = random_bits(n, density, random);
        const auto mask = mask_of(bits, {n}, device);
        const sn::Tensor<std::int64_t> x = sn::arange(n).to(device);
        const auto found = nonzero(mask);
        const Values expected = chosen(bits);
        EXPECT_EQ(found.shape(), sn::Shape(static_cast<std::int64_t>(expected.size()), 1));
        EXPECT_EQ(found.device(), device);
        EXPECT_EQ(found.to_vector(), expected) << n << " " << density << " " << device;
        EXPECT_EQ(masked_select(x, mask).to_vector(), expected) << n << " " << density << " " << device;
      }
}

TEST(Mask, SelectsFromManyElements) {
  // More than there are parts of the shortest length on a GPU, so that parts are longer.
  const std::int64_t n = (std::int64_t{1} << 14) * 512 + 1001;
  for (const sn::Device device : devices()) {
    if (device.is_cuda() && (device.index() > 0 || std::getenv("SINTER_VIRTUAL_STRICT"))) continue;
    const sn::Tensor<std::int64_t> x = sn::arange(n).to(device);
    const sn::Tensor<std::int64_t> third = masked_select(x, x % 3 == 1);
    ASSERT_EQ(third.numel(), (n + 1) / 3);
    EXPECT_TRUE(sn::equal(third, sn::arange((n + 1) / 3).to(device) * 3 + 1));
  }
}

/// An array of the same values in another layout: transposed, reversed, with gaps.
template <class T>
sn::Tensor<T> laid_out(const sn::Tensor<T>& x, int layout) {
  if (x.dim() == 0) return x;
  switch (layout) {
    case 1: {
      sn::Tensor<T> y = sn::Tensor<T>(x.transpose(0, -1)).clone();
      return y.transpose(0, -1);
    }
    case 2: return sn::Tensor<T>(x.flip(0).clone()).flip(0);
    case 3: {
      sn::Shape wide = x.shape();
      wide[-1] = wide[-1] * 2 + 1;
      sn::Tensor<T> y = sn::Tensor<T>(sn::zeros<T>(wide)).to(x.device());
      const sn::Tensor<T> part = y.slice(-1, 1, sn::range::none, 2);
      sn::Tensor<T>(part).assign(x);
      return part;
    }
    default: return x;
  }
}

TEST(Mask, SelectsFromAnyShapeAndLayout) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 20; ++round) {
    sn::Shape shape;
    for (int ndim = below(round % 10 == 0 ? 9 : 5); ndim > 0; --ndim) shape.push_back(below(8) == 0 ? 0 : 1 + below(6));
    const std::vector<bool> bits = random_bits(shape.numel(), densities[below(4)], random);
    const int layout = below(4), other_layout = below(4);
    for (const sn::Device device : devices()) {
      const sn::Tensor<bool> mask = laid_out(mask_of(bits, shape, device), layout);
      const sn::Tensor<std::int64_t> x =
          laid_out(sn::Tensor<std::int64_t>(sn::arange(shape.numel()).reshape(shape)).to(device), other_layout);
      const Values expected = positions(bits, shape);
      const auto found = nonzero(mask);
      EXPECT_EQ(found.to_vector(), expected) << shape.ndim() << " " << layout << " " << device;
      EXPECT_EQ(found.size(1), shape.ndim());
      EXPECT_EQ(masked_select(x, mask).to_vector(), chosen(bits)) << layout << other_layout << device;
      EXPECT_EQ(x[mask].to_vector(), chosen(bits)) << layout << other_layout << device;
    }
  }
}

template <class T>
void expect_selected(sn::Device device) {
  const sn::Tensor<T> x = sn::tensor<float>({0, 1, 0, 5, -0.f}).to(device).to<T>();
  EXPECT_THAT(nonzero(x).to_vector(), ElementsAre(1, 3)) << sn::name(x.dtype());
  const auto mask = mask_of({true, true, false, true, false}, {5}, device);
  EXPECT_THAT(masked_select(x, mask).to_vector(), ElementsAre(T(0.f), T(1.f), T(5.f))) << sn::name(x.dtype());
}

TEST(Mask, SelectsFromAllDtypes) {
  for (const sn::Device device : devices()) {
#define SINTER_DTYPE(id, type, name, cuda, category, compute_dtype) expect_selected<type>(device);
#include <sinter/runtime/dtypes.def>
  }
  EXPECT_THAT(nonzero(sn::tensor<float>({NAN, 1e-45f, INFINITY, 0})).to_vector(), ElementsAre(0, 1, 2));
  const sn::AnyTensor any = sn::tensor<double>({{0, 2}, {3, 0}});
  EXPECT_THAT(nonzero(any).to_vector(), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(any[any > 2].as<double>().to_vector(), ElementsAre(3));
}

TEST(Mask, OfNoDimsIsOneElement) {
  for (const sn::Device device : devices()) {
    const auto yes = mask_of({true}, {}, device), no = mask_of({false}, {}, device);
    EXPECT_EQ(nonzero(yes).shape(), sn::Shape(1, 0));
    EXPECT_EQ(nonzero(no).shape(), sn::Shape(0, 0));
    const sn::Tensor<float> x = sn::tensor<float>({1, 2}).to(device);
    EXPECT_EQ(x[yes].shape(), sn::Shape(1, 2));
    EXPECT_EQ(x[no].shape(), sn::Shape(0, 2));
    EXPECT_THAT(x[0][yes].to_vector(), ElementsAre(1));
    EXPECT_THAT(masked_select(x, yes).to_vector(), ElementsAre(1, 2));
  }
}

TEST(Mask, TakesExpressionsAndBroadcasts) {
  for (const sn::Device device : devices()) {
    const sn::Tensor<float> x = sn::Tensor<float>(sn::tensor<float>({{1, -2, 3}, {-4, 5, -6}})).to(device);
    EXPECT_THAT(masked_select(x * 2, x > 0).to_vector(), ElementsAre(2, 6, 10));
    EXPECT_THAT(x.masked_select(x.abs() > 2).to_vector(), ElementsAre(3, -4, 5, -6));
    EXPECT_THAT((x + 1).masked_select(mask_of({true, false, true}, {3}, device)).to_vector(),
                ElementsAre(2, 4, -3, -5));
    EXPECT_THAT(masked_select(x, mask_of({false, true}, {2, 1}, device)).to_vector(), ElementsAre(-4, 5, -6));
    EXPECT_THAT(masked_select(x[0], x > 0).to_vector(), ElementsAre(1, 3, -2));
    EXPECT_THAT((x > 0).nonzero().to_vector(), ElementsAre(0, 0, 0, 2, 1, 1));
    EXPECT_THAT((x - 1).nonzero().to_vector(), ElementsAre(0, 1, 0, 2, 1, 0, 1, 1, 1, 2));
    const sn::Lazy<float> lazy = x * 1;
    EXPECT_THAT(masked_select(lazy, lazy > 2).to_vector(), ElementsAre(3, 5));
    EXPECT_EQ(nonzero(lazy > 2).shape(), sn::Shape(2, 2));
    EXPECT_THAT(x[lazy > 2].to_vector(), ElementsAre(3, 5));
    EXPECT_THAT((x + 1)[x > 2].to_vector(), ElementsAre(4, 6));
  }
}

TEST(Mask, OfTheFirstAxesSelectsParts) {
  for (const sn::Device device : devices()) {
    const sn::Tensor<std::int64_t> x = sn::Tensor<std::int64_t>(sn::arange(12).reshape({3, 2, 2})).to(device);
    const auto rows = x[mask_of({true, false, true}, {3}, device)];
    EXPECT_EQ(rows.shape(), sn::Shape(2, 2, 2));
    EXPECT_THAT(rows.to_vector(), ElementsAre(0, 1, 2, 3, 8, 9, 10, 11));
    const auto pairs = x[mask_of({false, true, true, false, false, false}, {3, 2}, device)];
    EXPECT_EQ(pairs.shape(), sn::Shape(2, 2));
    EXPECT_THAT(pairs.to_vector(), ElementsAre(2, 3, 4, 5));
    EXPECT_THAT(x.transpose(0, 2)[mask_of({false, true}, {2}, device)].to_vector(), ElementsAre(1, 5, 9, 3, 7, 11));
    const sn::Tensor<float> hollow = sn::zeros({3, 0}).to(device);
    EXPECT_EQ(hollow[mask_of({true, false, true}, {3}, device)].shape(), sn::Shape(2, 0));
  }
}

TEST(Mask, ThatDoesNotFitIsRefused) {
  const sn::Tensor<float> x = sn::zeros({2, 3});
  EXPECT_THAT(
      message_of<sn::ShapeError>([&] { (void)masked_select(x, sn::ones<bool>({2})); }),
      AllOf(HasSubstr("masked_select"), HasSubstr("x: float32 (2, 3) on cpu"), HasSubstr("mask: bool (2,) on cpu")));
  EXPECT_THAT(message_of<sn::IndexError>([&] { (void)x[sn::Tensor<bool>(sn::ones<bool>({1}))]; }),
              HasSubstr("does not match that of x at axis 0: 1 and 2"));
  EXPECT_THAT(message_of<sn::IndexError>([&] { (void)x[sn::Tensor<bool>(sn::ones<bool>({2, 3, 1}))]; }),
              HasSubstr("more axes"));
  const sn::AnyTensor number = sn::ones<std::int64_t>({2, 3});
  EXPECT_THAT(message_of<sn::DTypeError>([&] { (void)masked_select(x, number); }), HasSubstr("mask is int64 (2, 3)"));
  EXPECT_THROW((void)nonzero(sn::Tensor<float>()), sn::Error);
  if (devices().size() < 2) return;
  const sn::Tensor<bool> elsewhere = sn::ones<bool>({2, 3}).to(sn::Device(0));
  EXPECT_THAT(message_of<sn::DeviceError>([&] { (void)masked_select(x, elsewhere); }),
              AllOf(HasSubstr("mask: bool (2, 3) on cuda:0"), HasSubstr(".to(\"cpu\")")));
  EXPECT_THROW((void)x[elsewhere], sn::DeviceError);
}

TEST(Mask, FillsInPlace) {
  for (const sn::Device device : devices()) {
    sn::Tensor<float> x = sn::Tensor<float>(sn::tensor<float>({{1, -2, 3}, {-4, 5, -6}})).to(device);
    x.masked_fill_(x < 0, 0).masked_fill_(mask_of({false, false, true}, {3}, device), 0.5);
    EXPECT_THAT(x.to_vector(), ElementsAre(1, 0, 0.5, 0, 5, 0.5));
    x[1].masked_fill_(x[0] == 0, sn::Tensor<float>(x[0][0]));
    EXPECT_THAT(x.to_vector(), ElementsAre(1, 0, 0.5, 0, 1, 0.5));
    sn::Tensor<std::int64_t> whole = sn::arange(3).to(device);
    const std::string described = "int64 (3,) on " + to_string(device);
    EXPECT_THAT(message_of<sn::DTypeError>([&] { whole.masked_fill_(whole > 0, 2.5); }),
                AllOf(HasSubstr("masked_fill_: the number 2.5 does not fit int64"), HasSubstr("x: " + described)));
    EXPECT_THAT(message_of<sn::ShapeError>([&] { whole.masked_fill_(mask_of({true, true}, {2, 1}, device), 1); }),
                AllOf(HasSubstr("x.masked_fill_(mask, value)"), HasSubstr("x: " + described), HasSubstr("mask: (2, 1)"),
                      HasSubstr("value: a number")));
    EXPECT_THAT(message_of<sn::ShapeError>([&] { whole.masked_fill_(whole > 0, sn::AnyTensor(whole.slice(0, 1))); }),
                AllOf(HasSubstr("x.masked_fill_(mask, value)"), HasSubstr("value: (2,)")));
    EXPECT_THAT(message_of<sn::DTypeError>([&] { whole.masked_fill_(whole > 0, whole.to<float>()); }),
                AllOf(HasSubstr("x.masked_fill_(mask, value)"), HasSubstr("value: (3,)")));
    EXPECT_THAT(whole.masked_fill_(whole > 0, 7).to_vector(), ElementsAre(0, 7, 7));
    sn::Tensor<std::uint8_t> small = sn::zeros<std::uint8_t>({2}).to(device);
    EXPECT_THAT(message_of<sn::Error>([&] { small.masked_fill_(small == 0, 300); }),
                HasSubstr("masked_fill_: the number 300 does not fit uint8"));
  }
}

TEST(Mask, WaitsForWhatWritesIt) {
  if (devices().size() < 2) return;
  const sn::Device gpu(0);
  // Each operand on its own stream, so that waiting for one is not waiting for another.
  const auto on_stream = [](const sn::Stream& stream, auto&& f) {
    const sn::StreamGuard guard(stream);
    f();
  };
  const sn::Stream of_x, of_mask, other;
  sn::Tensor<float> x = sn::zeros({3000}).to(gpu);
  sn::Tensor<bool> mask = sn::zeros<bool>({3000}).to(gpu);
  on_stream(of_mask, [&] { mask.assign(true); });
  on_stream(other, [&] { EXPECT_EQ(nonzero(mask).size(0), 3000); });
  on_stream(of_x, [&] { x.assign(2.5f); });
  on_stream(of_mask, [&] { mask.assign(x.numel() > 0); });
  on_stream(other, [&] {
    const sn::Tensor<float> selected = masked_select(x, mask);
    on_stream(of_x, [&] { x.assign(0.f); });
    EXPECT_EQ(selected.to_vector(), std::vector<float>(3000, 2.5f));
  });
  on_stream(of_mask, [&] { mask.assign(false); });
}

TEST(Mask, IsUsedByManyThreads) {
  for (const sn::Device device : devices()) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([=] {
        for (int i = 1; i < 10; ++i) {
          const sn::Tensor<std::int64_t> x = sn::arange(2000 * i).to(device);
          EXPECT_EQ(masked_select(x, x % 4 == t).size(0), 500 * i);
          EXPECT_EQ(nonzero(x % 4 == t).numel(), 500 * i);
        }
      });
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace

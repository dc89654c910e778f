// Scans along an axis, against a loop along each line.
#include "devices.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "lines.hpp"

namespace sn = sinter;
using namespace sinter_tests;
using sn::AnyTensor;
using sn::DType;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using AnyResult = sn::ValuesAndIndices<sn::AnyType>;

/// Numbers whose sums and products do not simply overflow.
Numbers moderate_numbers(DType dtype, std::int64_t n, std::mt19937& random) {
  Numbers numbers;
  for (std::int64_t i = 0; i < n; ++i) {
    const int bits = static_cast<int>(random() & 0xFFFF);
    if (dtype == DType::Bool)
      numbers.push_back(bits % 3 != 0);
    else if (category(dtype) == sn::Category::Int)
      numbers.push_back(is_unsigned(dtype) ? bits % 200 : bits % 200 - 100);
    else
      numbers.push_back((bits % 2 ? 1 : -1) * (Number(bits) / 65536 + 0.5L));
  }
  return numbers;
}

/// Rounding of a result in a dtype, in addition to the error of accumulation.
Number rounding(DType dtype) {
  switch (dtype) {
    case DType::Float16: return 0x1p-11L;
    case DType::BFloat16: return 0x1p-8L;
    case DType::Float32: return 0x1p-24L;
    default: return 0x1p-53L;
  }
}
Number accumulator_rounding(DType dtype) { return size_of(dtype) == 2 ? 0x1p-24L : 0x1p-53L; }

/// Sums (or products) of all elements up to each, and of their magnitudes.
void expect_sums(const AnyTensor& x, const Numbers& numbers, int axis) {
  const bool whole = category(x.dtype()) != sn::Category::Float;
  const AnyTensor sum = x.cumsum(axis), product = x.cumprod(axis);
  const DType dtype = whole && x.dtype() != DType::UInt64 ? DType::Int64 : x.dtype();
  ASSERT_EQ(sum.dtype(), dtype);
  ASSERT_EQ(product.dtype(), dtype);
  EXPECT_EQ(sum.shape(), x.shape());
  EXPECT_TRUE(sum.is_contiguous() && sum.device() == x.device());
  const Numbers sums = numbers_of(sum), products = numbers_of(product);
  int wrong = 0;
  for (const Line& line : lines_along(x.shape(), axis)) {
    std::uint64_t whole_sum = 0, whole_product = 1;
    Number exact_sum = 0, magnitude = 0, exact_product = 1;
    for (std::size_t i = 0; i < line.length && wrong < 3; ++i) {
      const Number value = numbers[line.at(i)], got = sums[line.at(i)], got_product = products[line.at(i)];
      bool right;
      if (whole) {
        whole_sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
        whole_product *= static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
        const auto wrapped = [&](std::uint64_t word) {
          return dtype == DType::UInt64 ? static_cast<Number>(word)
                                        : static_cast<Number>(static_cast<std::int64_t>(word));
        };
        right = got == wrapped(whole_sum) && got_product == wrapped(whole_product);
      } else {
        exact_sum += value, magnitude += std::abs(value), exact_product *= value;
        const Number lost = accumulator_rounding(dtype) * static_cast<Number>(i + 1);
        // What is below the smallest number that a dtype holds with all digits loses some; what is above overflows.
        const Number tiny = dtype == DType::Float16 ? 0x1p-24L : 0x1p-149L,
                     most = dtype == DType::Float16 ? 65504 : 1e38L;
        right = std::abs(got - exact_sum) <= rounding(dtype) * std::abs(exact_sum) + lost * magnitude &&
                (std::abs(exact_product) > most ||
                 std::abs(got_product - exact_product) <= (rounding(dtype) + lost) * std::abs(exact_product) + tiny);
      }
      wrong += !right;
      EXPECT_TRUE(right) << fmt::format("{} {} on {}, axis {}: {} of the line at {}: {} and {}, not {} and {}",
                                        name(x.dtype()), to_string(x.shape()), to_string(x.device()), axis, i,
                                        line.first, static_cast<double>(got), static_cast<double>(got_product),
                                        static_cast<double>(exact_sum), static_cast<double>(exact_product));
    }
  }
}

void expect_extremes(const AnyTensor& x, const Numbers& numbers, int axis) {
  for (const bool max : {true, false}) {
    const AnyResult found = max ? x.cummax(axis) : x.cummin(axis);
    ASSERT_EQ(found.values.dtype(), x.dtype());
    const Numbers values = numbers_of(found.values), indices = numbers_of(found.indices);
    int wrong = 0;
    for (const Line& line : lines_along(x.shape(), axis)) {
      std::size_t best = 0;
      for (std::size_t i = 0; i < line.length && wrong < 3; ++i) {
        const Number value = numbers[line.at(i)], known = numbers[line.at(best)];
        if (std::isnan(value) || (!std::isnan(known) && (max ? value >= known : value <= known))) best = i;
        const Number right = numbers[line.at(best)], got = values[line.at(i)];
        const bool is_right = indices[line.at(i)] == static_cast<Number>(best) && same(got, right) &&
                              (std::isnan(right) || std::signbit(got) == std::signbit(right));
        wrong += !is_right;
        EXPECT_TRUE(is_right) << fmt::format("{} {} on {}, axis {}, {}: {} from {}, not {} from {}", name(x.dtype()),
                                             to_string(x.shape()), to_string(x.device()), axis, i,
                                             static_cast<double>(got), static_cast<double>(indices[line.at(i)]),
                                             static_cast<double>(right), best);
      }
    }
  }
}

void expect_log_sums(const AnyTensor& x, const Numbers& numbers, int axis) {
  const Numbers found = numbers_of(x.logcumsumexp(axis));
  int wrong = 0;
  for (const Line& line : lines_along(x.shape(), axis)) {
    Number sum = 0;
    for (std::size_t i = 0; i < line.length && wrong < 3; ++i) {
      sum += std::exp(numbers[line.at(i)]);
      const Number right = std::log(sum), got = found[line.at(i)];
      const Number lost = accumulator_rounding(x.dtype()) * (8 + 4 * static_cast<Number>(i));
      const bool is_right = std::abs(got - right) <= rounding(x.dtype()) * std::abs(right) + lost;
      wrong += !is_right;
      EXPECT_TRUE(is_right) << fmt::format("{} {} on {}, axis {}, {}: {}, not {}", name(x.dtype()),
                                           to_string(x.shape()), to_string(x.device()), axis, i,
                                           static_cast<double>(got), static_cast<double>(right));
    }
  }
}

void expect_scans(DType dtype, const sn::Shape& shape, int axis, std::mt19937& random, int layout = 0) {
  const AnyTensor plain = tensor_of(dtype, shape, moderate_numbers(dtype, shape.numel(), random));
  const AnyTensor special = tensor_of(dtype, shape, random_numbers(dtype, shape.numel(), random));
  const auto laid_out = [&](AnyTensor x) {
    if (shape.ndim() > 1 && layout % 2) x = AnyTensor(x.transpose(0, -1).clone()).transpose(0, -1);
    if (shape.ndim() > 0 && layout / 2) x = AnyTensor(x.flip(0).clone()).flip(0);
    return x;
  };
  for (const sn::Device device : devices()) {
    if (device.index() > 0) continue;
    expect_sums(laid_out(plain.to(device)), numbers_of(plain), axis);
    expect_extremes(laid_out(special.to(device)), numbers_of(special), axis);
    if (category(dtype) == sn::Category::Float) expect_log_sums(laid_out(plain.to(device)), numbers_of(plain), axis);
  }
}

constexpr DType thread_per_line[] = {DType::Bool, DType::BFloat16, DType::Float32};

TEST(Scan, EveryDtypeAndKindOfLine) {
  std::mt19937 random(1);
  for (const DType dtype : every_real_dtype) expect_scans(dtype, {2, 1504}, 1, random);  // by vectors
  for (const DType dtype : thread_per_line)
    for (const std::int64_t n : {1, 2, 40, 64, 1501}) expect_scans(dtype, {3, n}, 1, random);
}

TEST(Scan, EveryLength) {
  std::mt19937 random(2);
  for (const std::int64_t n : {2,   3,   4,   5,   31,   32,   33,   63,   64,   65,   66,   127,  128,  129, 255,
                               256, 257, 511, 512, 1023, 1024, 1025, 1026, 2047, 2048, 2049, 3073, 4097, 8191})
    expect_scans(DType::Float32, {3, n}, -1, random);
}

TEST(Scan, UnalignedLines) {
  for (const sn::Device device : devices()) {
    const sn::Tensor<float, sn::AnyDevice> x = (sn::arange(4100) % 7).to<float>().to(device);
    for (const std::int64_t first : {0, 1, 2, 4}) {
      const auto part = x.slice(0, first, first + 4096);
      const std::vector<float> sums = part.cumsum(0).to_vector();
      const auto [values, indices] = part.cummax(0);
      float sum = 0;
      for (std::int64_t i = 0; i < 4096; ++i) {
        const auto at = static_cast<std::size_t>(i);
        sum += static_cast<float>((first + i) % 7);
        ASSERT_EQ(sums[at], sum) << first << " " << i << " on " << to_string(device);
      }
      EXPECT_EQ(values(4095).item(), 6) << first;
      EXPECT_EQ(indices(4095).item(), 4095 - (first + 4095 - 6) % 7) << first;
    }
  }
}

TEST(Scan, ManyLines) {
  std::mt19937 random(3);
  expect_scans(DType::Float32, {70'001, 2}, 1, random);
  expect_scans(DType::Float32, {66, 4097}, 0, random);
  expect_scans(DType::Float32, {300, 100}, 1, random);
  expect_scans(DType::Float32, {3, 100, 5}, 1, random);
}

TEST(Scan, LongLines) {
  std::mt19937 random(4);
  for (const std::int64_t n : {32'768, 32'769, 49'152}) expect_scans(DType::Float32, {1, n}, 1, random);
  expect_scans(DType::Int32, {40'000, 2}, 0, random);
  // In parts on the CPU.
  for (const std::int64_t n : {131'072, 150'003})
    for (const DType dtype : {DType::Float64, DType::Int64}) {
      const AnyTensor x = tensor_of(dtype, {2, n}, moderate_numbers(dtype, 2 * n, random));
      expect_sums(x, numbers_of(x), 1);
      expect_extremes(x, numbers_of(x), 1);
    }
}

TEST(Scan, AnyShapeAxisAndLayout) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 40; ++round) {
    sn::Shape shape;
    for (int ndim = below(5); ndim > 0; --ndim) shape.push_back(below(9) == 0 ? 0 : 1 + below(7));
    const int ndim = std::max(shape.ndim(), 1);
    expect_scans(thread_per_line[below(3)], shape, below(2 * ndim) - ndim, random, below(4));
  }
}

TEST(Scan, ComplexSumsAndProducts) {
  using C = std::complex<double>;
  for (const sn::Device device : devices()) {
    const sn::Tensor<C, sn::AnyDevice> z = sn::tensor<C>({C(1, 1), C(0, 2), C(-1, 0.5)}).to(device);
    EXPECT_THAT(z.cumsum(0).to_vector(), ElementsAre(C(1, 1), C(1, 3), C(0, 3.5)));
    EXPECT_THAT(z.cumprod(0).to_vector(), ElementsAre(C(1, 1), C(-2, 2), C(1, -3)));
    EXPECT_EQ(z.cumsum(0).dtype(), DType::Complex128);
    const auto many = sn::full<std::complex<float>>({2, 3000}, std::complex<float>(0, 1), device);
    EXPECT_EQ(many.cumsum(1)(1, 2999).item(), std::complex<float>(0, 3000));
    EXPECT_EQ(many.cumprod(1)(0, 2998).item(), std::complex<float>(0, -1));
  }
}

TEST(Scan, OfExpressionsAndTypes) {
  for (const sn::Device device : devices()) {
    const sn::Tensor<std::int32_t, sn::AnyDevice> x = sn::tensor<std::int32_t>({1, 2, 3}).to(device);
    static_assert(std::is_same_v<decltype((x * 2).cumsum(0)), sn::Tensor<std::int64_t, sn::AnyDevice>>);
    static_assert(std::is_same_v<decltype(x.cumsum<double>(0)), sn::Tensor<double, sn::AnyDevice>>);
    static_assert(std::is_same_v<decltype((x * 2.f).cumsum(0)), sn::Lazy<float, sn::AnyDevice>>);
    static_assert(std::is_same_v<decltype(x.cummax(0).values), sn::Tensor<std::int32_t, sn::AnyDevice>>);
    EXPECT_THAT((x * 2).cumsum(0).to_vector(), ElementsAre(2, 6, 12));
    EXPECT_THAT(sn::cumprod<float>(x / 2, 0).to_vector(), ElementsAre(0.5f, 0.5f, 0.75f));
    const auto [values, indices] = sn::cummin(x.flip(0), -1);
    EXPECT_THAT(values.to_vector(), ElementsAre(3, 2, 1));
    EXPECT_THAT(indices.to_vector(), ElementsAre(0, 1, 2));
    EXPECT_THAT(sn::cumsum(x > 1, 0).to_vector(), ElementsAre(0, 1, 2));
    EXPECT_FLOAT_EQ(sn::logcumsumexp(x.to<float>(), 0).to_vector()[2], 3.4076059f);
    EXPECT_EQ(sn::cumsum(x(0), -1).item(), 1);
  }
}

/// Sums of many equal numbers: PyTorch's float32 sums are as exact on a CPU, but not on a GPU.
TEST(Scan, FloatsAccumulateInTwiceThePrecision) {
  for (const sn::Device device : devices()) {
    const sn::Tensor<float, sn::AnyDevice> tenths = sn::full({100'000}, 0.1f, device);
    EXPECT_EQ(tenths.cumsum(0)(99'999).item(), static_cast<float>(0.1f * 100'000.0));
  }
}

TEST(Scan, ErrorsSayWhatIsWrong) {
  for (const sn::Device device : devices()) {
    const AnyTensor x = tensor_of(DType::Int32, {2, 3}, {1, 2, 3, 4, 5, 6}).to(device);
    EXPECT_THAT(
        message_of<sn::IndexError>([&] { (void)x.cumsum(2); }),
        HasSubstr("cumsum: dimension out of range (expected to be in range of [-2, 1], but got 2) for int32 (2, 3)" +
                  (" on " + to_string(device))));
    EXPECT_THAT(message_of<sn::IndexError>([&] { (void)x.cumprod(-3); }), HasSubstr("cumprod: dimension"));
    EXPECT_THAT(message_of<sn::IndexError>([&] { (void)x.cummin(3); }), HasSubstr("cummin: dimension"));
    EXPECT_THAT(message_of<sn::DTypeError>([&] { (void)x.logcumsumexp(0); }),
                HasSubstr("must have a float dtype: convert it, as in x.to<float>()"));
    const AnyTensor z(x.to<std::complex<float>>());
    EXPECT_THAT(message_of<sn::DTypeError>([&] { (void)z.cummax(0); }), HasSubstr("cummax: x is complex64 (2, 3)"));
    EXPECT_THAT(message_of<sn::DTypeError>([&] { (void)z.logcumsumexp(0); }), HasSubstr("must have a float dtype"));
  }
}

}  // namespace

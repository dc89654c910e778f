// Products on the host, and what is said where OpenBLAS is missing or does not count so far.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <random>
#include <thread>
#include <type_traits>
#include <vector>

#include <runtime/cpu/blas.hpp>
#include <runtime/cpu/host_product.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/half.hpp>
#include "virtual_harness.hpp"

namespace sinter::runtime {
namespace {

using test::is_sanitized;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

MatrixProduct product_of(std::vector<float>& a, std::vector<float>& b, std::vector<float>& c) {
  const auto bytes = [](std::vector<float>& v) { return reinterpret_cast<std::byte*>(v.data()); };
  return {.rows = 2, .columns = 2, .inner = 2, .a = {bytes(a), 2}, .b = {bytes(b), 2}, .c = {bytes(c), 2}};
}

// First, in a child: what is opened stays open.
TEST(HostProduct, AnOldCoreIsTold) {
  if (vector_units() == VectorUnits::Baseline) GTEST_SKIP() << "no processor with AVX2";
  const auto multiply_as = [](const char* core, const char* quiet) {
    setenv("OPENBLAS_CORETYPE", core, 1), setenv("SINTER_QUIET", quiet, 1);
    std::vector<float> a{1, 2, 3, 4}, c(4);
    for (int i = 0; i < 2; ++i) multiply_on_host(product_of(a, a, c));
    std::_Exit(c[3] == 22 ? 0 : 1);
  };
  EXPECT_EXIT(multiply_as("Prescott", "0"), ::testing::ExitedWithCode(0),
              "^sinter: OpenBLAS uses its kernels for Prescott [^\n]*OPENBLAS_CORETYPE=[^\n]*\n$");
  EXPECT_EXIT(multiply_as("Haswell", "0"), ::testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(multiply_as("Prescott", "1"), ::testing::ExitedWithCode(0), "^$");
}

/// In a child: multiplies with so many MiB of address space beside what the process has, and so many threads.
void multiply_within(rlim_t mib, const char* threads) {
  setenv("OPENBLAS_NUM_THREADS", threads, 1), setenv("SINTER_QUIET", "1", 1);
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t limit = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (mib << 20);
  const rlimit limits{limit, limit};
  setrlimit(RLIMIT_AS, &limits);
  alarm(60);  // what spins is a failure
  try {
    std::vector<float> a(256 * 256), c(a.size());
    MatrixProduct p = product_of(a, a, c);
    p.rows = p.columns = p.inner = p.a.leading = p.b.leading = p.c.leading = 256;
    multiply_on_host(p);
    const auto multiply = [&p] {  // two threads at once would take two buffers
      std::vector<float> own(256 * 256);
      MatrixProduct into_own = p;
      into_own.c.data = reinterpret_cast<std::byte*>(own.data());
      for (int i = 0; i < 50; ++i) multiply_on_host(into_own);
    };
    std::thread other(multiply);
    multiply();
    other.join();
  } catch (const OutOfMemory& e) {
    std::fprintf(stderr, "%s\n", e.what());
    std::_Exit(3);
  }
  std::_Exit(0);
}

TEST(HostProduct, ALimitOfTheAddressSpace) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers need memory themselves";
  for (const rlim_t mib : {10, 60, 150})
    EXPECT_EXIT(multiply_within(mib, "1"), ::testing::ExitedWithCode(3), "for 1 thread, .*leaves .*Raise the limit")
        << mib;
  if (std::thread::hardware_concurrency() > 1) {
    EXPECT_EXIT(multiply_within(250, "2"), ::testing::ExitedWithCode(3), "for 2 threads.*OPENBLAS_NUM_THREADS=1");
  }
  EXPECT_EXIT(multiply_within(500, "1"), ::testing::ExitedWithCode(0), "");
}

TEST(HostProduct, AnOpenBlasThatCannotBeLoaded) {
  std::vector<float> a{1, 2, 3, 4}, c(4);
  setenv("SINTER_OPENBLAS", "/etc/passwd", 1);
  EXPECT_THAT(
      [&] { multiply_on_host(product_of(a, a, c)); },
      ThrowsMessage<DeviceError>(AllOf(HasSubstr("was found but cannot be loaded"), HasSubstr("/etc/passwd: "))));
  unsetenv("SINTER_OPENBLAS");
}

TEST(HostProduct, WithoutOpenBlas) {
  std::vector<float> a{1, 2, 3, 4}, c(4);
  for (const char* path : {"/nowhere/libblas.so", "libdl.so.2"}) {
    setenv("SINTER_OPENBLAS", path, 1);
    EXPECT_THAT([&] { multiply_on_host(product_of(a, a, c)); },
                ThrowsMessage<DeviceError>(AllOf(HasSubstr("OpenBLAS, which multiplies matrices on the CPU"),
                                                 HasSubstr(path), HasSubstr("apt install libopenblas0"))));
  }
  unsetenv("SINTER_OPENBLAS");
  multiply_on_host(product_of(a, a, c));
  EXPECT_EQ(c, (std::vector<float>{7, 10, 15, 22}));
}

TEST(HostProduct, Batches) {
  std::vector<float> a{1, 2, 3, 4, 1, 0, 0, 1}, b{1, 1, 1, 1}, c(8);
  MatrixProduct p = product_of(a, b, c);
  p.batch = 2, p.a.step = 4, p.c.step = 4;
  multiply_on_host(p);
  EXPECT_EQ(c, (std::vector<float>{3, 3, 7, 7, 1, 1, 1, 1}));
}

TEST(HostProduct, CoresThatUseLessThanTheProcessorHas) {
  EXPECT_THAT(core_advice("Prescott", VectorUnits::Avx512), HasSubstr("OPENBLAS_CORETYPE=SKYLAKEX "));
  EXPECT_THAT(core_advice("Sandybridge", VectorUnits::Avx2),
              AllOf(HasSubstr("kernels for Sandybridge although this processor supports AVX2"),
                    HasSubstr("OPENBLAS_CORETYPE=HASWELL ")));
  EXPECT_EQ(core_advice("Prescott", VectorUnits::Baseline), "");
  for (const char* core : {"Haswell", "Zen", "SkylakeX", "Cooperlake", "Excavator", "a newer one"})
    EXPECT_EQ(core_advice(core, VectorUnits::Avx512), "") << core;
}

template <class T>
constexpr DType dtype_of = std::is_same_v<T, float>                 ? DType::Float32
                           : std::is_same_v<T, double>              ? DType::Float64
                           : std::is_same_v<T, half>                ? DType::Float16
                           : std::is_same_v<T, bfloat16>            ? DType::BFloat16
                           : std::is_same_v<T, std::complex<float>> ? DType::Complex64
                                                                    : DType::Complex128;

/// A batch of matrices of small whole numbers, with which products are exact, and NaN between the lines.
template <class T>
struct Stored {
  Stored(std::mt19937& random, std::int64_t rows, std::int64_t columns, std::int64_t batch, bool transposed) {
    const std::int64_t lines = transposed ? columns : rows, length = transposed ? rows : columns;
    const std::int64_t leading = length + static_cast<std::int64_t>(random() % 3);
    const std::int64_t step = random() % 4 ? lines * leading + static_cast<std::int64_t>(random() % 3) : 0;
    values.assign(static_cast<std::size_t>(std::max<std::int64_t>(batch * step, lines * leading)), nan());
    matrix = {reinterpret_cast<std::byte*>(values.data()), leading, transposed, step};
    for (std::int64_t i = 0; i < batch; ++i)
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c) at(i, r, c) = number(random);
  }
  static T nan() { return T(std::numeric_limits<float>::quiet_NaN()); }
  static T number(std::mt19937& random) {
    const auto part = [&] { return static_cast<float>(random() % 5) - 2; };
    if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
      return T(part(), part());
    else
      return T(part());
  }
  T& at(std::int64_t i, std::int64_t r, std::int64_t c) {
    const std::int64_t line = matrix.transposed ? c : r, place = matrix.transposed ? r : c;
    return values[static_cast<std::size_t>(i * matrix.step + line * matrix.leading + place)];
  }

  std::vector<T> values;
  Matrix matrix;
};

template <class T>
std::complex<double> wide(T value) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
    return value;
  else
    return static_cast<double>(value);
}
bool is_nan(std::complex<double> value) { return std::isnan(value.real()); }

/// One product, with sums by hand for a reference; what lies between the rows of c stays.
template <class T>
void expect_exact(std::mt19937& random, std::int64_t rows, std::int64_t columns, std::int64_t inner,
                  std::int64_t batch) {
  Stored<T> a(random, rows, inner, batch, random() % 2), b(random, inner, columns, batch, random() % 2),
      addend(random, rows, columns, batch, false);
  Stored<T> c(random, rows, columns, 0, false);
  c.matrix.step = rows * c.matrix.leading;
  c.values.assign(static_cast<std::size_t>(batch * c.matrix.step), Stored<T>::nan());
  const auto kind = random() % 3;  // without an addend, with one, in place
  if (kind == 2)
    for (std::int64_t i = 0; i < batch; ++i)
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t k = 0; k < columns; ++k) c.at(i, r, k) = addend.at(i, r, k);
  c.matrix.data = reinterpret_cast<std::byte*>(c.values.data());
  MatrixProduct p{.dtype = dtype_of<T>,
                  .rows = rows,
                  .columns = columns,
                  .inner = inner,
                  .batch = batch,
                  .a = a.matrix,
                  .b = b.matrix,
                  .c = c.matrix};
  p.alpha = random() % 2 ? 1 : -2, p.beta = random() % 2 ? 1 : 0.5;
  if (kind != 0) p.addend = kind == 1 ? addend.matrix : c.matrix;
  multiply_on_host(p);
  for (std::int64_t i = 0; i < batch; ++i)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t k = 0; k < columns; ++k) {
        std::complex<double> sum = 0;
        for (std::int64_t j = 0; j < inner; ++j) sum += wide(a.at(i, r, j)) * wide(b.at(i, j, k));
        const std::complex<double> right = p.alpha * sum + (kind ? p.beta * wide(addend.at(i, r, k)) : 0.);
        ASSERT_EQ(wide(c.at(i, r, k)), right) << "batch " << i << ", row " << r << ", column " << k;
      }
  std::int64_t kept = 0;
  for (const T& value : c.values) kept += is_nan(wide(value));
  EXPECT_EQ(kept, batch * rows * (c.matrix.leading - columns));
}

template <class T>
struct HostProductOf : ::testing::Test {
  const unsigned seed = std::random_device{}();
  std::mt19937 random{seed};
  std::int64_t up_to(unsigned most) { return 1 + static_cast<std::int64_t>(random() % most); }
};
using Dtypes = ::testing::Types<float, double, half, bfloat16, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(HostProductOf, Dtypes);

TYPED_TEST(HostProductOf, RowsAndColumns) {
  SCOPED_TRACE("seed " + std::to_string(this->seed));
  for (int round = 0; round < 300; ++round) {
    const std::int64_t extent = this->up_to(20), inner = this->up_to(16);
    const bool is_row = this->random() % 2;
    SCOPED_TRACE(std::to_string(extent) + (is_row ? " columns, " : " rows, ") + std::to_string(inner));
    expect_exact<TypeParam>(this->random, is_row ? 1 : extent, is_row ? extent : 1, inner, this->up_to(3));
    if (this->HasFailure()) return;
  }
}

/// Over threads, in parts that the batch is no multiple of.
TYPED_TEST(HostProductOf, BatchesOfSmallOnes) {
  SCOPED_TRACE("seed " + std::to_string(this->seed));
  for (int round = 0; round < 6; ++round) {
    const std::int64_t rows = this->up_to(12), columns = this->up_to(12), inner = this->up_to(12);
    const std::int64_t batch = (1 << 19) / (rows * columns * inner + 500) + this->up_to(200);
    SCOPED_TRACE(std::to_string(rows) + ", " + std::to_string(columns) + ", " + std::to_string(inner));
    expect_exact<TypeParam>(this->random, rows, columns, inner, batch);
    if (this->HasFailure()) return;
  }
}

TEST(HostProduct, NanOfAMatrixPassesThroughAZero) {
  std::vector<float> a(25, NAN), x(5, 0.f), c(5);
  const auto bytes = [](std::vector<float>& v) { return reinterpret_cast<std::byte*>(v.data()); };
  for (const bool transposed : {false, true}) {
    multiply_on_host({.rows = 5, .inner = 5, .a = {bytes(a), 5, transposed}, .b = {bytes(x), 1}, .c = {bytes(c), 1}});
    for (const float v : c) EXPECT_TRUE(std::isnan(v));
    multiply_on_host(
        {.columns = 5, .inner = 5, .a = {bytes(x), 5}, .b = {bytes(a), 5, transposed}, .c = {bytes(c), 5}});
    for (const float v : c) EXPECT_TRUE(std::isnan(v));
  }
}

TEST(HostProduct, ExtentsPastWhatOpenBlasCounts) {
  std::vector<float> a(4), c(4);
  const auto refuses = [&](auto change) {
    MatrixProduct p = product_of(a, a, c);
    change(p);
    EXPECT_THAT([&] { multiply_on_host(p); }, ThrowsMessage<ShapeError>(HasSubstr("OpenBLAS supports up to 2^31 - 1")));
  };
  constexpr std::int64_t large = std::int64_t{1} << 31;
  refuses([](MatrixProduct& p) { p.rows = large; });
  refuses([](MatrixProduct& p) { p.inner = large; });
  refuses([](MatrixProduct& p) { p.b.leading = large; });
}

TEST(HostProduct, NoOtherDtypes) {
  std::vector<float> a(4), c(4);
  MatrixProduct p = product_of(a, a, c);
  p.dtype = DType::Int32;
  EXPECT_THAT([&] { multiply_on_host(p); },
              ThrowsMessage<DTypeError>("matrices of int32 cannot be multiplied: convert them to float32"));
}

}  // namespace
}  // namespace sinter::runtime

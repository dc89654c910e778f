// Exported C for the CPU: its own functions are accurate, and compilers make vectors of its loops.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <dsl/text/export.hpp>
#include "exported.hpp"

namespace sinter::testing {
namespace {

jit::Export kernel_of(const std::string& name, const std::string& expression, const std::string& signature) {
  return detail::exported_text(ParsedExpression(expression), parse_signature(signature), {.name = name});
}

const std::string optimized = "-O2 -fno-math-errno";

// ---- Accuracy

using Wide = long double;
struct Function {
  const char* name;
  Wide (*exact)(Wide);
  double float_bound, double_bound;  // in units of the last place of the result
};
const std::vector<Function> all_functions = {
    {"exp", std::exp, 1, 1},
    {"log", std::log, 1, 1},
    {"tanh", std::tanh, 2.2, 2.5},  // of double, the C library's
    {"sigmoid", [](Wide x) { return 1 / (1 + std::exp(-x)); }, 2.5, 2.5},
    {"erf", std::erf, 2, 1},
    {"silu", [](Wide x) { return std::isinf(x) && x < 0 ? NAN : x / (1 + std::exp(-x)); }, 3, 3.5},
};
/// Where e^-a overflows, sigmoid and silu are 0 instead of a very small number.
bool may_vanish(std::string_view name) { return name == "sigmoid" || name == "silu"; }

/// The distance of the results in units in the last place; infinite if one of them is special and they differ.
template <class T>
double distance(T got, Wide wanted) {
  const T rounded = static_cast<T>(wanted);
  if (std::isnan(got) || std::isnan(rounded)) return std::isnan(got) == std::isnan(rounded) ? 0 : INFINITY;
  if (got == rounded) return std::signbit(got) == std::signbit(rounded) ? 0 : INFINITY;
  if (std::isinf(got) && std::isinf(rounded)) return INFINITY;
  const T size = std::max(std::min(std::abs(rounded), std::numeric_limits<T>::max()), std::numeric_limits<T>::min());
  const Wide unit = std::ldexp(Wide(1), std::ilogb(size) + 1 - std::numeric_limits<T>::digits);
  return static_cast<double>(std::abs(static_cast<Wide>(got) - wanted) / unit);
}

/// Every few bit patterns, special values among them, and the arguments of which results are neither 0 nor infinite.
template <class T, class Bits>
std::vector<T> arguments() {
  std::vector<T> all = {0,
                        -T(0),
                        INFINITY,
                        -INFINITY,
                        NAN,
                        1,
                        -1,
                        std::numeric_limits<T>::min(),
                        std::numeric_limits<T>::denorm_min(),
                        std::numeric_limits<T>::max()};
  const int steps = 1 << 17;
  const Bits stride = static_cast<Bits>(std::numeric_limits<Bits>::max() / steps) | 1;
  for (int i = 0; i < steps; ++i) all.push_back(std::bit_cast<T>(static_cast<Bits>(static_cast<Bits>(i) * stride)));
  const T range = sizeof(T) == 4 ? 105 : 750;
  for (int i = 0; i < steps; ++i) all.push_back((T(2) * static_cast<T>(i) / steps - 1) * range);
  for (int i = 0; i < steps; ++i) all.push_back(T(0.5) + T(1.5) * static_cast<T>(i) / steps);
  return all;
}

template <class T, class Bits>
void expect_accurate(const std::string& dtype, std::span<const Function> functions = all_functions,
                     const std::string& options = optimized) {
  std::vector<jit::Export> kernels;
  for (const Function& f : functions)
    kernels.push_back(kernel_of(f.name, std::string(f.name) + "(x)", "x: " + dtype + "[n]"));
  const ExportedLibrary own(kernels, {.name = "own", .architectures = {}}, options);
  const std::vector<T> x = arguments<T, Bits>();
  std::vector<T> y(x.size());
  for (const Function& f : functions) {
    auto* const compute = own.get<int(T*, const T*, std::int64_t)>(std::string(f.name) + "_cpu");
    ASSERT_EQ(compute(y.data(), x.data(), std::ssize(x)), 0);
    const double bound = sizeof(T) == 4 ? f.float_bound : f.double_bound;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (may_vanish(f.name) && y[i] == 0 && x[i] < -std::log(std::numeric_limits<T>::max())) continue;
      const double found = distance(y[i], f.exact(x[i]));
      ASSERT_LE(found, bound) << f.name << "(" << x[i] << ") of " << dtype << " is " << y[i];
    }
  }
}

TEST(ExportVectors, FunctionsOfFloatAreAccurate) { expect_accurate<float, std::uint32_t>("f32"); }
TEST(ExportVectors, FunctionsOfDoubleAreAccurate) { expect_accurate<double, std::uint64_t>("f64"); }

/// What -ffast-math consists of but flushing denormals, which is the process's. The code undoes it.
TEST(ExportVectors, FunctionsAreAccurateInFastMath) {
  const std::string options =
      optimized + " -fassociative-math -fno-signed-zeros -fno-trapping-math -ffinite-math-only -freciprocal-math";
  expect_accurate<float, std::uint32_t>("f32", all_functions, options);
  expect_accurate<double, std::uint64_t>("f64", all_functions, options);
}

/// Clang's -ffast-math assumes that nothing is infinite, whatever the code says; the arguments here are finite.
TEST(ExportVectors, ExpOverflowsInFastMath) {
  const char* const clang = "clang-19";
  if (std::system(fmt::format("command -v {} > /dev/null", clang).c_str()) != 0) GTEST_SKIP() << "no " << clang;
  const ScopedVariable compiler("CC", clang);
  const ExportedLibrary own({kernel_of("e", "exp(x)", "x: f32[n]"), kernel_of("s", "sigmoid(x)", "x: f32[n]"),
                             kernel_of("d", "exp(x)", "x: f64[n]")},
                            {.name = "own", .architectures = {}}, "-O2 -ffast-math");
  const std::vector<float> x{88, 89, 100, 177.8f, 200, 700, 1e10f, 3e38f};
  const std::vector<double> wide{709, 710, 1000, 1420, 1e10, 1e300};
  std::vector<float> minus, y(x.size());
  std::vector<double> z(wide.size());
  for (const float a : x) minus.push_back(-a);
  ASSERT_EQ(own.get<int(float*, const float*, std::int64_t)>("e_cpu")(y.data(), x.data(), std::ssize(x)), 0);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(std::isinf(y[i]), x[i] > 88) << x[i] << ": " << y[i];
  ASSERT_EQ(own.get<int(float*, const float*, std::int64_t)>("s_cpu")(y.data(), minus.data(), std::ssize(x)), 0);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_LT(y[i], 1e-37f) << minus[i];
  ASSERT_EQ(own.get<int(double*, const double*, std::int64_t)>("d_cpu")(z.data(), wide.data(), std::ssize(wide)), 0);
  for (std::size_t i = 0; i < wide.size(); ++i) EXPECT_EQ(std::isinf(z[i]), wide[i] > 709) << wide[i] << ": " << z[i];
}

#if defined(__x86_64__)
/// Differences of more precision than their dtype's.
TEST(ExportVectors, ExpIsAccurateInExcessPrecision) {
  const std::span exp_alone(all_functions.data(), 1);
  expect_accurate<float, std::uint32_t>("f32", exp_alone, "-O1 -std=gnu99 -mfpmath=387");
  expect_accurate<double, std::uint64_t>("f64", exp_alone, "-O1 -std=gnu99 -mfpmath=387");
}
#endif

// ---- Vectors

/// The numbers of the lines that begin the loops over lanes, or those that are over all lanes.
std::set<int> loops_over_lanes(const std::string& text, bool over_all) {
  const std::regex counts_all("l < [0-9]+;");
  std::set<int> found;
  std::istringstream lines(text);
  int number = 0;
  bool is_marked = false;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (is_marked && (!over_all || std::regex_search(line, counts_all))) found.insert(number);
    is_marked = line == "SINTER_VECTORS" || line == "SINTER_LANES";
  }
  return found;
}

TEST(ExportVectors, CompilersMakeVectors) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "asks gcc for x86-64";
#endif
  if (std::system((c_compiler() + " --version | grep -q 'Free Software Foundation'").c_str()) != 0)
    GTEST_SKIP() << "asks gcc, which " << c_compiler() << " is not";
  const ScratchFolder folder;
  for (const auto& [name, expression, signature] : std::vector<std::array<std::string, 3>>{
           {"softmax", "softmax(x, 1)", "x: f32[n, m]"},
           {"logits", "logsumexp(x * 2, 1)", "x: f32[n, m]"},
           {"norm", "log_softmax(x, 1)", "x: f32[n, m]"},
           {"wide", "sum(exp(x) * log(y), 1)", "x: f64[n, m], y: f64[m]"},
           {"gated", "sum(silu(x) * tanh(y), 1)", "x: f32[n, m], y: f32[n, m]"},
           {"squares", "sum(x * x, 1)", "x: bf16[n, m]"},
           {"extremes", "amax(x, 1) - amin(x, 1)", "x: f32[n, m]"},
           {"fused", "exp(z + 2) * y", "z: f32[n], y: f32[n]"},
           {"row", "tanh(z) / y", "z: f32[n, m], y: f32[m]"},
           {"column_sums", "sum(x, 0)", "x: f32[n, m]"},
           {"batch_norm", "(x - mean(x, 0)) * rsqrt(var(x, 0) + 0.5)", "x: f32[n, m]"},
           {"planes", "softmax(x, 1)", "x: f32[n, m, k]"},
           {"unit", "gelu(z)", "z: f32[n]"},
           {"chosen", "where(z > y, sqrt(z), maximum(y, 0))", "z: f32[n], y: f32[n]"},
           {"brain", "silu(z) + y", "z: bf16[n], y: bf16[n]"}})
    for (const std::string options : {"-O2", "-O2 -march=x86-64-v3", "-O3 -march=x86-64-v3"}) {
      const Exported files =
          jit::export_library({kernel_of(name, expression, signature)}, {.name = name, .architectures = {}});
      files.write(folder.path().string());
      const std::string command =
          fmt::format("cd '{}' && {} -std=c99 {} -fno-math-errno -fopt-info-vec-optimized -c {}.c > {}.log 2>&1",
                      folder.path().string(), c_compiler(), options, name, name);
      ASSERT_EQ(std::system(command.c_str()), 0) << command;
      const std::string log = read_text(folder.file(name + ".log"));
      // At -O2, GCC leaves loops of unknown length as they are.
      const std::set<int> loops = loops_over_lanes(files.files.at(name + ".c"), options.starts_with("-O2"));
      EXPECT_FALSE(loops.empty()) << files.files.at(name + ".c");
      for (const int line : loops) {
        const std::regex is_vectorized(fmt::format("{}\\.c:{}:[0-9]+: optimized: .*loop vectorized", name, line));
        EXPECT_TRUE(std::regex_search(log, is_vectorized))
            << name << " by " << options << ": no vectors in line " << line << " of\n"
            << files.files.at(name + ".c") << log;
      }
    }
}

// ---- Lanes

/// Rows around the number of lanes, with the special values that reductions carry, in every lane.
TEST(ExportVectors, LanesHaveTheValuesOfTheLibrary) {
  const ExportedLibrary own(
      {kernel_of("total", "sum(x, 1)", "x: f32[n, m]"), kernel_of("exact", "sum(x, 1)", "x: f64[n, m]"),
       kernel_of("largest", "amax(x, 1)", "x: f32[n, m]"), kernel_of("product", "prod(x, 1)", "x: f32[n, m]"),
       kernel_of("least", "argmin(x, 1)", "x: f32[n, m]")},
      {.name = "own", .architectures = {}}, optimized);
  for (const std::int64_t columns : {1, 2, 31, 32, 33, 63, 64, 65, 100, 257}) {
    Tensor<float> x = randn<float>({40, columns});
    const float special[] = {INFINITY, -INFINITY, NAN, -0.f, 3.f};
    for (std::int64_t row = 4; row < 40; ++row) {
      x.data()[row * columns + row % columns] = special[row % 5];
      if (row > 30) x.data()[row * columns + (row * 7) % columns] = special[row % 2];  // both infinities in a row
    }
    const Tensor<double> wide = x.to<double>();
    const auto check = [&](const char* name, const auto& input, auto expected) {
      auto got = zeros_like(expected);
      using T = std::remove_pointer_t<decltype(input.data())>;
      using R = std::remove_pointer_t<decltype(got.data())>;
      auto* const compute = own.get<int(R*, T*, std::int64_t, std::int64_t)>(std::string(name) + "_cpu");
      ASSERT_EQ(compute(got.data(), input.data(), 40, columns), 0) << name;
      EXPECT_TRUE(allclose(got, expected, 1e-5, 1e-5, true)) << name << ", " << columns << " columns\n"
                                                             << got << "\ninstead of\n"
                                                             << expected;
    };
    check("total", x, Tensor<float>(sum(x, 1)));
    check("exact", wide, Tensor<double>(sum(wide, 1)));
    check("largest", x, Tensor<float>(amax(x, 1)));
    if (columns < 65) check("product", x, Tensor<float>(prod(x, 1)));  // larger ones over- or underflow
    check("least", x, Tensor<std::int64_t>(argmin(x, 1)));
  }
}

/// Columns around the number of lanes, of matrices and of stacks of them.
TEST(ExportVectors, ColumnsHaveTheValuesOfTheLibrary) {
  struct Reduction {
    const char *name, *expression;
  };
  const std::vector<Reduction> reductions = {
      {"total", "sum(x, 1)"},        {"largest", "amax(x, 1)"},
      {"least", "argmin(x, 1)"},     {"norm", "(x - mean(x, 1, true)) * rsqrt(var(x, 1, 1, true) + 0.5)"},
      {"soft", "softmax(x, 1) + s"}, {"shares", "x / (sum(x * x * y * y, 1, true) + 1) + y"}};
  const auto signature = [](const std::string& expression) {
    return std::string("x: f32[n, m, k]") + (expression.find('y') == std::string::npos ? "" : ", y: f32[k]") +
           (expression.ends_with("+ s") ? ", s: f32" : "");
  };
  std::vector<jit::Export> kernels;
  for (const auto& [name, expression] : reductions)
    kernels.push_back(kernel_of(name, expression, signature(expression)));
  const ExportedLibrary own(kernels, {.name = "own", .architectures = {}}, optimized);
  for (const std::int64_t columns : {1, 2, 31, 63, 64, 65, 127, 128, 200}) {
    Tensor<float> x = randn<float>({3, 5, columns});
    const Tensor<float> y = randn<float>({columns});
    const float special[] = {INFINITY, -INFINITY, NAN, -0.f};
    for (std::int64_t i = 2 * 5 * columns; i < x.numel(); i += 3) x.data()[i] = special[i % 4];
    const auto check = [&](const char* name, auto expected, auto... more) {
      auto got = zeros_like(expected);
      using R = std::remove_pointer_t<decltype(got.data())>;
      auto* const compute = own.get<int(R*, const float*, decltype(more)...)>(std::string(name) + "_cpu");
      ASSERT_EQ(compute(got.data(), x.data(), more...), 0) << name;
      EXPECT_TRUE(allclose(got, expected, 1e-5, 1e-5, true)) << name << ", " << columns << " columns\n"
                                                             << got << "\ninstead of\n"
                                                             << expected;
    };
    const std::int64_t n = 3, m = 5;
    check("total", Tensor<float>(sum(x, 1)), n, m, columns);
    check("largest", Tensor<float>(amax(x, 1)), n, m, columns);
    check("least", Tensor<std::int64_t>(argmin(x, 1)), n, m, columns);
    check("norm", Tensor<float>((x - mean(x, 1, true)) * rsqrt(var(x, 1, 1, true) + 0.5)), n, m, columns);
    check("soft", Tensor<float>(softmax(x, 1) + 0.5f), n, m, columns, 0.5);
    check("shares", Tensor<float>(x / (sum(x * x * y * y, 1, true) + 1) + y), static_cast<const float*>(y.data()), n, m,
          columns);
  }
}

/// Sums of float64 carry the rounding errors of every lane, of the tail and of what combines them.
TEST(ExportVectors, SumsOfDoubleAreCompensated) {
  const ExportedLibrary own({kernel_of("total", "sum(x)", "x: f64[n]")}, {.name = "own", .architectures = {}},
                            optimized);
  auto* const total = own.get<int(double*, const double*, std::int64_t)>("total_cpu");
  for (const std::size_t columns : {3u, 31u, 32u, 64u, 65u, 100u, 1000u})
    for (const std::size_t large : {0u, 1u, 2u})
      for (const std::size_t second : {columns - 1, columns / 2 + 1, std::min(columns - 1, std::size_t{32})}) {
        std::vector<double> x(columns, 1);
        if (large == second) continue;
        x[large] = 1e16;
        x[second] = -1e16;
        double got = 0;
        ASSERT_EQ(total(&got, x.data(), std::ssize(x)), 0);
        EXPECT_EQ(got, static_cast<double>(columns - 2)) << columns << " numbers, large at " << large << ", " << second;
      }
}

TEST(ExportVectors, SumsOfColumnsOfDoubleAreCompensated) {
  const ExportedLibrary own({kernel_of("total", "sum(x, 0)", "x: f64[n, m]")}, {.name = "own", .architectures = {}},
                            optimized);
  auto* const total = own.get<int(double*, const double*, std::int64_t, std::int64_t)>("total_cpu");
  constexpr std::int64_t rows = 9, columns = 70;
  std::vector<double> x(rows * columns, 1), got(columns);
  for (std::int64_t c = 0; c < columns; ++c) {
    x[static_cast<std::size_t>(c % rows * columns + c)] = 1e16;
    x[static_cast<std::size_t>((c + 4) % rows * columns + c)] = -1e16;
  }
  ASSERT_EQ(total(got.data(), x.data(), rows, columns), 0);
  EXPECT_EQ(got, std::vector<double>(columns, rows - 2));
}

// ---- Values that are kept

/// How often each element's exponential is computed: twice are two passes.
TEST(ExportVectors, FunctionsAreComputedOnce) {
  struct Sample {
    std::string expression, signature;
    int passes;
  };
  for (const auto& [expression, signature, passes] : std::vector<Sample>{
           {"softmax(x, 1)", "x: f32[n, m]", 1},
           {"softmax(x * 2, 0) + 1", "x: f32[n, m]", 1},
           {"exp(x) / sum(exp(x), 1, true)", "x: f32[n, m]", 1},
           {"softmax(x, 1)", "x: bf16[n, m]", 2},  // elements of the output are too short
           {"y * exp(x) / sum(exp(x), 1, true)", "x: f32[n, m], y: f32[n, m]", 2},  // the output may be y
           {"exp(x) / sum(exp(x), 1, true) * y[i]", "x: f32[n, m], y: f32[k], i: i64[n, m]", 2}}) {
    const std::string text =
        jit::export_library({kernel_of("own", expression, signature)}, {.name = "own", .architectures = {}})
            .files.at("own.c");
    const std::regex call("= sinter_exp_f32"), loop("SINTER_(VECTORS|LANES)\n[^}]*= sinter_exp_f32");
    const auto count = [&](const std::regex& r) {
      return std::distance(std::sregex_iterator(text.begin(), text.end(), r), std::sregex_iterator());
    };
    EXPECT_EQ(count(loop), 2 * passes) << expression << "\n" << text;  // of whole lanes, and the rest
  }
}

TEST(ExportVectors, OutputsThatKeepValuesMayBeInputs) {
  const auto kernel = [](const std::string& name, const std::string& expression) {
    return detail::exported_text(ParsedExpression(expression), parse_signature("x: f32[n, m]"),
                                 {.name = name, .in_place = true});
  };
  const ExportedLibrary own({kernel("rows", "softmax(x, 1)"), kernel("columns", "softmax(x, 0)")},
                            {.name = "own", .architectures = {}}, optimized);
  for (const std::int64_t columns : {1, 7, 31, 32, 33, 64, 65, 255, 256, 257, 1000}) {
    const Tensor<float> x = randn<float>({37, columns});
    for (const bool rows : {true, false}) {
      const Tensor<float> expected(softmax(x, rows ? 1 : 0));
      Tensor<float> got = x.clone();
      auto* const compute =
          own.get<int(float*, const float*, std::int64_t, std::int64_t)>(rows ? "rows_cpu" : "columns_cpu");
      ASSERT_EQ(compute(got.data(), got.data(), 37, columns), 0);
      EXPECT_TRUE(allclose(got, expected, 1e-6, 1e-7)) << columns << " columns\n" << got << expected;
    }
  }
}

/// Of sums of float32, those of a few elements are taken in float32.
TEST(ExportVectors, SumsOfFloatAreAccurate) {
  const ExportedLibrary own({kernel_of("total", "sum(x)", "x: f32[n]")}, {.name = "own", .architectures = {}},
                            optimized);
  auto* const total = own.get<int(float*, const float*, std::int64_t)>("total_cpu");
  for (const std::size_t n : {255u, 256u, 257u, 1000u, 100'003u}) {
    const Tensor<float> x(randn<float>({static_cast<std::int64_t>(n)}) * 100 + 1);
    double exact = 0, magnitudes = 0;
    for (std::size_t i = 0; i < n; ++i) exact += x.data()[i], magnitudes += std::abs(x.data()[i]);
    float got = 0;
    ASSERT_EQ(total(&got, x.data(), static_cast<std::int64_t>(n)), 0);
    EXPECT_LE(std::abs(got - exact), magnitudes * 7 * 0x1p-24 + std::abs(exact) * 0x1p-24) << n;
  }
}

// ---- Threads

/// Results do not depend on them, and a fault that one of them finds is returned.
TEST(ExportVectors, ThreadsShareLoops) {
  if (std::system(
          ("echo 'int main(void) { return 0; }' | " + c_compiler() + " -fopenmp -x c - -o /dev/null 2> /dev/null")
              .c_str()) != 0)
    GTEST_SKIP() << c_compiler() << " has no OpenMP";
  const std::vector<jit::Export> kernels = {
      kernel_of("fused", "exp(x) * 2", "x: f32[n]"),          kernel_of("soft", "softmax(x, 1)", "x: f32[n, m]"),
      kernel_of("columns", "sum(x, 0)", "x: f32[n, m]"),      kernel_of("total", "sum(x)", "x: f32[n]"),
      kernel_of("divided", "x // y", "x: i32[n], y: i32[n]"), kernel_of("taken", "x[i]", "x: f32[n], i: i64[k]")};
  const ExportedLibrary serial(kernels, {.name = "serial", .architectures = {}}, optimized);
  const ExportedLibrary parallel(kernels, {.name = "parallel", .architectures = {}}, optimized + " -fopenmp");
  constexpr std::int64_t rows = 300, columns = 1000, n = rows * columns;
  const Tensor<float> x = randn<float>({rows, columns});
  const auto both = [&](const char* name, std::int64_t results, auto... sizes) {
    std::vector<float> one(static_cast<std::size_t>(results)), other = one;
    using Function = int(float*, const float*, decltype(sizes)...);
    EXPECT_EQ(serial.get<Function>(name)(one.data(), x.data(), sizes...), 0) << name;
    EXPECT_EQ(parallel.get<Function>(name)(other.data(), x.data(), sizes...), 0) << name;
    EXPECT_EQ(one, other) << name;
  };
  both("fused_cpu", n, n);
  both("soft_cpu", n, rows, columns);
  both("columns_cpu", columns, rows, columns);
  both("total_cpu", 1, n);
  std::vector<std::int32_t> a(n, 7), b(n, 2), quotients(n);
  auto* const divided =
      parallel.get<int(std::int32_t*, const std::int32_t*, const std::int32_t*, std::int64_t)>("divided_cpu");
  EXPECT_EQ(divided(quotients.data(), a.data(), b.data(), n), 0);
  EXPECT_EQ(quotients, std::vector<std::int32_t>(n, 3));
  b[n - 5] = 0;
  EXPECT_EQ(divided(quotients.data(), a.data(), b.data(), n), division_by_zero);
  std::vector<std::int64_t> indices(n, 3);
  std::vector<float> taken(n);
  auto* const take =
      parallel.get<int(float*, const float*, const std::int64_t*, std::int64_t, std::int64_t)>("taken_cpu");
  EXPECT_EQ(take(taken.data(), x.data(), indices.data(), n, n), 0);
  indices[n / 3] = n;
  EXPECT_EQ(take(taken.data(), x.data(), indices.data(), n, n), index_out_of_range);
}

}  // namespace
}  // namespace sinter::testing

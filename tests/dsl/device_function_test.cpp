// Functions written in C.
#include "devices.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <random>
#include <thread>

#include <runtime/process.hpp>
#include <sinter/jit/grad.hpp>
#include "exported.hpp"
#include "setup.hpp"

namespace sn = sinter;
using sinter::testing::ExportedLibrary;
using sinter_tests::message_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {

const sn::device_function<float(float, float)>& larger_product() {
  static const sn::device_function<float(float, float)> f("larger_product", "return a > b ? a * b : a - b;",
                                                          {"return a > b ? g * b : g;", "return a > b ? g * a : -g;"});
  return f;
}
float larger_product_of(float a, float b) { return a > b ? a * b : a - b; }

/// x to the power n by a loop, which no expression of operations has.
const sn::device_function<double(double, std::int32_t)>& power() {
  static const sn::device_function<double(double, std::int32_t)> f(
      "power", "double p = 1;\nfor (int i = 0; i < b; ++i) p *= a;\nreturn p;", {"return g * b * r / a;", ""});
  return f;
}

/// Tests compile nothing for the CPU unless they say so.
class MayCompile {
 public:
  MayCompile() { sn::set_cpu_jit(sn::CpuJit::Hot); }
  ~MayCompile() { sn::set_cpu_jit(sn::CpuJit::Off); }
};
class OneDeviceFunction : public ::testing::Test, MayCompile {};

class DeviceFunction : public ::testing::TestWithParam<sn::Device>, MayCompile {
 protected:
  sn::Tensor<float> values(const sn::Shape& shape, unsigned seed) const {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-2, 2);
    std::vector<float> all(static_cast<std::size_t>(shape.numel()));
    for (float& v : all) v = uniform(random);
    return sn::tensor(all).reshape(shape).to(GetParam());
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, DeviceFunction, ::testing::ValuesIn(sinter_tests::devices()), [](const auto& about) {
  return about.param.is_cpu() ? "Cpu" : "Gpu" + std::to_string(about.index);
});

TEST_P(DeviceFunction, IsPartOfTheKernel) {
  for (const std::int64_t n : {1, 2, 7, 8, 9, 255, 256, 257, 3000, 70'001}) {
    const auto x = values({n}, 1), y = values({n}, 2);
    const auto before = sn::jit_stats();
    const sn::Tensor r = larger_product()(x + 1, y) * 2;
    EXPECT_EQ(sn::jit_stats().launches - before.launches, 1u);
    const std::vector<float> a = x.to_vector(), b = y.to_vector(), got = r.to_vector();
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_FLOAT_EQ(got[i], 2 * larger_product_of(a[i] + 1, b[i])) << i << " of " << n;
  }
}

TEST_P(DeviceFunction, BroadcastsItsOperands) {
  const auto x = values({33, 70}, 1), row = values({70}, 2), column = values({33, 1}, 3);
  const std::vector<float> a = x.to_vector(), r = row.to_vector(), c = column.to_vector();
  const std::vector<float> by_row = sn::Tensor(larger_product()(x, row)).to_vector(),
                           by_column = sn::Tensor(larger_product()(column, x)).to_vector(),
                           by_number = sn::Tensor(larger_product()(0.5, x)).to_vector(),
                           outer = sn::Tensor(larger_product()(column, row)).to_vector(),
                           transposed = sn::Tensor(larger_product()(x.t(), column.t()).t()).to_vector();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const float in_row = r[i % 70], in_column = c[i / 70];
    ASSERT_EQ(by_row[i], larger_product_of(a[i], in_row));
    ASSERT_EQ(by_column[i], larger_product_of(in_column, a[i]));
    ASSERT_EQ(by_number[i], larger_product_of(0.5f, a[i]));
    ASSERT_EQ(outer[i], larger_product_of(in_column, in_row));
    ASSERT_EQ(transposed[i], larger_product_of(a[i], in_column));
  }
}

TEST_P(DeviceFunction, TakesParametersOfSeveralDtypes) {
  const auto x = values({300}, 1);
  const auto n = sn::arange(300).to<std::int32_t>().to(GetParam()) % 7;
  const std::vector<double> got = sn::Tensor(power()(x, n)).to_vector();
  const std::vector<float> a = x.to_vector();
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], std::pow(static_cast<double>(a[i]), static_cast<double>(i % 7)), 1e-9);

  const sn::device_function<bool(bool, std::int64_t, float)> mixed("mixed", "return a ? b > 3 : c < 0;");
  const auto flags = x > 0;
  const std::vector<bool> kept = [&] {
    std::vector<bool> all;
    for (const auto v : sn::Tensor(mixed(flags, sn::arange(300).to(GetParam()), x)).to_vector()) all.push_back(v);
    return all;
  }();
  for (std::size_t i = 0; i < kept.size(); ++i) ASSERT_EQ(kept[i], a[i] > 0 ? i > 3 : a[i] < 0) << i;
}

TEST_P(DeviceFunction, ConvertsOperandsThatItsParametersHold) {
  const auto x = values({64}, 1);
  const auto half = sn::Tensor(x.to<sn::half>());
  const std::vector<float> rounded = sn::Tensor(half.to<float>()).to_vector(),
                           got = sn::Tensor(larger_product()(half, 1)).to_vector();
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], larger_product_of(rounded[i], 1));
}

TEST_P(DeviceFunction, IsPartOfReductionsRowsAndProducts) {
  const auto x = values({40, 300}, 1), y = values({40, 300}, 2);
  const sn::Tensor apart = larger_product()(x, y);
  EXPECT_TRUE(sn::allclose(sn::sum(larger_product()(x, y), 1), sn::sum(apart, 1)));
  EXPECT_TRUE(sn::allclose(sn::softmax(larger_product()(x, y), -1), sn::softmax(apart, -1)));
  EXPECT_TRUE(sn::allclose(larger_product()(sn::softmax(x, -1), y) + 1,
                           larger_product()(sn::Tensor(sn::softmax(x, -1)), y) + 1));
  const auto w = values({300, 8}, 3);
  EXPECT_TRUE(sn::allclose(sn::matmul(larger_product()(x, y), w), sn::matmul(apart, w), 1e-4, 1e-4));
  EXPECT_TRUE(sn::equal(larger_product()(x, y)[3], apart[3]));
}

TEST_P(DeviceFunction, CallsTheMathLibrary) {
  const sn::device_function<float(float)> f("uses_math",
                                            "return expf(a) + fmaxf(a, 0.5f) + sqrtf(fabsf(a)) + sinf(a);");
  const sn::device_function<double(double)> d("uses_double_math", "return exp(a) + fmax(a, 0.5) + erf(a);");
  const auto x = values({1000}, 1);
  const std::vector<float> a = x.to_vector(), got = sn::Tensor(f(x)).to_vector();
  const std::vector<double> wide = sn::Tensor(d(x)).to_vector();
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_NEAR(got[i], std::exp(a[i]) + std::fmax(a[i], 0.5f) + std::sqrt(std::fabs(a[i])) + std::sin(a[i]), 1e-5);
    const double v = static_cast<double>(a[i]);
    ASSERT_NEAR(wide[i], std::exp(v) + std::fmax(v, 0.5) + std::erf(v), 1e-12);
  }
}

TEST_P(DeviceFunction, MixesWithLazyAndOtherFunctions) {
  const auto x = values({100}, 1), y = values({100}, 2);
  sn::Lazy lazy = x * 1;
  for (int i = 0; i < 3; ++i) lazy = larger_product()(lazy, y);
  const sn::Tensor once = larger_product()(x, y), twice = larger_product()(once, y);
  EXPECT_TRUE(sn::equal(lazy, larger_product()(twice, y)));
  constexpr sn::function f([](auto a, auto b) { return larger_product()(a, b) + a; });
  EXPECT_TRUE(sn::allclose(f(x, y), once + x));
  const sn::AnyTensor any = x;
  EXPECT_TRUE(sn::equal(sn::Tensor(larger_product()(any, y)), once));
}

TEST_P(DeviceFunction, IsCalledByName) {
  const auto x = values({50}, 1), y = values({50}, 2);
  sn::define_function("float named_in_text(float x, float y) { return x > y ? x * y : x - y; }",
                      {"return x > y ? g * y : g;", ""});
  const sn::Tensor expected = larger_product()(x, y);
  EXPECT_TRUE(sn::equal(sn::parse("named_in_text(x, y)", {{"x", x}, {"y", y}}), expected));
  EXPECT_TRUE(sn::equal(sn::parse("x.named_in_text(y=y)", {{"x", x}, {"y", y}}), expected));
  EXPECT_THAT(message_of<sn::ParseError>([&] { (void)sn::parse("named_in_text(x)", {{"x", x}}); }), HasSubstr("'y'"));
}

TEST_P(DeviceFunction, HasTheDerivativesThatItIsGiven) {
  const auto x = values({3, 5}, 1), row = values({5}, 2);
  const auto loss = sn::sum(larger_product()(x, row) * 3);
  const auto [by_x, by_row] = sn::grad(loss, x, row);
  const std::vector<float> a = x.to_vector(), b = row.to_vector(), da = sn::Tensor(by_x).to_vector(),
                           db = sn::Tensor(by_row).to_vector();
  std::vector<float> sums(5, 0.f);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const float v = b[i % 5];
    ASSERT_FLOAT_EQ(da[i], a[i] > v ? 3 * v : 3);
    sums[i % 5] += a[i] > v ? 3 * a[i] : -3;
  }
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(db[i], sums[i], 1e-5);

  const sn::Tensor y = sn::abs(x.to<double>()) + 1;  // the derivative reads the result
  const sn::Tensor slope = sn::grad(sn::sum(power()(y, 3)), y);
  EXPECT_TRUE(sn::allclose(slope, 3 * y * y));
}

TEST_P(DeviceFunction, HasADirectionalDerivative) {
  const sn::Tensor x = values({50}, 1), tangent = values({50}, 2);
  const sn::Tensor got = sn::jvp(larger_product()(x, 0.5) * x, x, tangent),
                   expected = tangent * sn::where(x > 0.5, x, 2 * x - 0.5);
  EXPECT_TRUE(sn::allclose(got, expected, 1e-5, 1e-5)) << got << expected;
}

/// Where there is no element, a loop that would not end, or a division by 0, does not run.
TEST_P(DeviceFunction, RunsForElementsOnly) {
  const sn::device_function<float(float)> doubled("doubled_until_1", "while (a < 1) a *= 2; return a;");
  const sn::device_function<std::int32_t(std::int32_t)> quotient("quotient", "return 100 / a;");
  for (const std::int64_t columns : {1, 3, 31, 100, 257, 1000, 5000, 1'000'000}) {
    const auto x = sn::Tensor(sn::abs(values({columns > 5000 ? 1 : 3, columns}, 1)) + 0.25f);
    EXPECT_TRUE(sn::allclose(sn::sum(doubled(x), 1), sn::sum(sn::Tensor(doubled(x)), 1)));
    EXPECT_TRUE(
        sn::allclose(doubled(sn::sum(x, 1, sn::keepdim)) / x, sn::Tensor(doubled(sn::sum(x, 1, sn::keepdim))) / x));
    EXPECT_TRUE(sn::allclose(sn::sum(doubled(x), 0), sn::sum(sn::Tensor(doubled(x)), 0)));
    const auto n = sn::Tensor((x * 50).to<std::int32_t>() + 1);
    EXPECT_TRUE(sn::equal(sn::Tensor(sn::sum(quotient(n), 1)), sn::Tensor(sn::sum(sn::Tensor(quotient(n)), 1))));
  }
}

TEST_P(DeviceFunction, TakesSixParameters) {
  const sn::device_function<double(double, double, double, double, double, double)> f(
      "six", "return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f;",
      {"return g * r / r;", "return 2 * g;", "return 3 * g;", "return 4 * g;", "return 5 * g;", "return 6 * g;"});
  const auto x = sn::Tensor(values({40}, 1).to<double>());
  EXPECT_TRUE(sn::allclose(f(x, 1, x, 2, x * 2, x), 20 * x + 10));
  EXPECT_TRUE(sn::allclose(sn::grad(sn::sum(f(x, 1, x, 2, x * 2, x)), x), sn::full({40}, 20.).to(GetParam())));
}

TEST_P(DeviceFunction, ReadsAnyByteAsABool) {
  const sn::device_function<float(bool)> f("of_bool", "return a == true ? 1.0f : 0.0f;");
  const auto bytes = sn::tensor<std::uint8_t>({0, 1, 2, 255});
  sn::Tensor<bool> flags = sn::zeros<bool>({4});
  std::memcpy(flags.data(), bytes.data(), 4);
  EXPECT_EQ(sn::Tensor(f(flags.to(GetParam()))).to_vector(), (std::vector<float>{0, 1, 1, 1}));
}

TEST_P(DeviceFunction, IsTheSameInCompiledLoops) {
  const auto x = values({70'000}, 1), y = values({70'000}, 2);
  const auto e = [&] { return sn::exp(larger_product()(x + y, y * 2) - 3) * y + x; };
  const sn::Tensor before = e();
  sn::set_cpu_jit(sn::CpuJit::Always);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(sn::equal(sn::Tensor(e()), before));
}

TEST_P(DeviceFunction, StaysOnItsDevices) {
  const auto x = values({4}, 1);
  const sn::AnyTensor other = GetParam().is_cpu() ? sn::AnyTensor(x) : sn::AnyTensor(sn::ones({4}));
  const sn::AnyTensor here = x;
  if (GetParam().is_cpu()) return;
  EXPECT_THAT(message_of<sn::DeviceError>([&] { (void)sn::Tensor(larger_product()(here, other)); }),
              HasSubstr("larger_product"));
}

TEST_F(OneDeviceFunction, WithoutADerivativeGradSaysSo) {
  const sn::device_function<float(float)> plain("plain", "return a * a;");
  const auto x = sn::ones({3});
  EXPECT_THAT(message_of<sn::Error>([&] { (void)sn::grad(sn::sum(plain(x)), x); }),
              AllOf(HasSubstr("plain has no derivative with respect to its operand 1"), HasSubstr("stop_gradient")));
  const sn::device_function<float(float, float)> half("half_differentiable", "return a * b;", {"return g * b;", ""});
  EXPECT_EQ(sn::Tensor(sn::grad(sn::sum(half(x, 2)), x)).to_vector(), (std::vector<float>{2, 2, 2}));
  EXPECT_THAT(message_of<sn::Error>([&] { (void)sn::grad(sn::sum(half(2, x)), x); }), HasSubstr("operand 2"));
  // A derivative's own derivative is not known.
  EXPECT_THAT(message_of<sn::Error>([&] { (void)sn::grad(sn::sum(sn::grad(sn::sum(half(x * x, x)), x)), x); }),
              HasSubstr("half_differentiable"));
}

TEST_F(OneDeviceFunction, IsNamedByPlansAndKernels) {
  const auto x = sn::ones({8});
  EXPECT_THAT(sn::explain(larger_product()(x, 2) + 1), HasSubstr("sinter_larger_product_add"));
}

std::string refusal(std::string_view name, std::string_view body,
                    std::initializer_list<std::string_view> derivatives = {}) {
  return message_of<sn::Error>([&] { (void)sn::device_function<float(float, float)>(name, body, derivatives); });
}

TEST_F(OneDeviceFunction, RefusesWhatIsNoFunction) {
  EXPECT_THAT(refusal("2f", "return a;"), HasSubstr("not a valid name"));
  EXPECT_THAT(refusal("double", "return a;"), HasSubstr("double"));
  EXPECT_THAT(refusal("exp", "return a;"), HasSubstr("an operation has this name"));
  EXPECT_THAT(refusal("f", "a + b;"), HasSubstr("its body returns nothing"));
  EXPECT_THAT(refusal("f", "return a; } float g(float a) { return a;"), HasSubstr("Define one function at a time"));
  EXPECT_THAT(refusal("f", "return (a;"), HasSubstr("do not match"));
  EXPECT_THAT(refusal("f", "return a; /* "), HasSubstr("do not match"));
  EXPECT_THAT(refusal("f", "\n#include <stdio.h>\nreturn a;"), HasSubstr("no preprocessor directives"));
  EXPECT_THAT(refusal("f", "return a;", {"return g;"}),
              HasSubstr("derivatives (1) differs from the number of parameters (2)"));
  EXPECT_THAT(refusal("f", "return a;", {"return g;", "g"}), HasSubstr("the derivative with respect to b returns"));
  for (const char* body : {"return a; // \\\n }", "return a; %> float h(float a) <% return a;", "?\?/\n return a;"})
    EXPECT_THAT(refusal("f", body), HasSubstr("may not contain")) << body;
  EXPECT_EQ(refusal("f", "/* } */ return a; // }"), "");
  EXPECT_EQ(refusal("f", "const char *s = \"}\\\"\"; return s[0] == '}' ? a : b;"), "");
  const auto refused = [](std::string_view definition) {
    return message_of<sn::Error>([&] { sn::define_function(definition); });
  };
  EXPECT_THAT(refused("float f(float x, float x) { return x; }"), HasSubstr("two parameters are called x"));
  EXPECT_THAT(refused("float f(float) { return 1; }"), HasSubstr("the name of a parameter is expected"));
  EXPECT_THAT(refused("float f() { return 1; }"), HasSubstr("the type of a parameter"));
  EXPECT_THAT(refused("half f(half x) { return x; }"), HasSubstr("must be float, double, int"));
  EXPECT_THAT(refused("float f(float x) return x;"), AllOf(HasSubstr("'{' is expected"), HasSubstr("^")));
  EXPECT_THAT(refused("float f(float x) { return x;"), HasSubstr("'}' is expected"));
  EXPECT_THAT(refused(""), HasSubstr("the type of its result"));
  EXPECT_THAT(refused("float f(int a, int b, int c, int d, int e, int f, int g) { return a; }"), HasSubstr("1 to 6"));
  EXPECT_EQ(refused("bool f(int32_t a, int64_t b, long long c, double d, _Bool e) { return e; }"), "");
}

TEST_F(OneDeviceFunction, RefusesOperandsThatItsParametersDoNotHold) {
  const sn::AnyTensor wide = sn::ones({3}).to<double>();
  EXPECT_THAT(
      message_of<sn::DTypeError>([&] { (void)sn::Tensor(larger_product()(wide, 1)); }),
      AllOf(HasSubstr("larger_product: operand 1 is float64, but parameter a is float32"), HasSubstr("x.to(dtype)")));
  const sn::device_function<float(std::int32_t)> counts("counts", "return a;");
  const sn::AnyTensor real = sn::ones({3});
  EXPECT_THAT(message_of<sn::DTypeError>([&] { (void)sn::Tensor(counts(real)); }), HasSubstr("int32"));
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)sn::Tensor(larger_product()(sn::ones({3}), sn::ones({4}))); }),
              HasSubstr("larger_product(a, b)"));
}

TEST_F(OneDeviceFunction, ShowsTheCompilersErrors) {
  const sn::testing::ScopedVariable no_dump("SINTER_DUMP_DIR", std::nullopt);  // the kernels of other tests compile
  const sn::device_function<float(float)> broken("broken", "return a * missing;");
  const auto x = sn::ones({3});
  EXPECT_THAT(message_of<sn::CompileError>([&] { (void)sn::Tensor(broken(x)); }),
              AllOf(HasSubstr("missing"), HasSubstr("broken")));
  if (sn::device_count() == 0) return;
  const auto y = x.to(sn::Device(0));
  EXPECT_THAT(message_of<sn::CompileError>([&] { (void)sn::Tensor(broken(y)); }), HasSubstr("missing"));
}

TEST(DeviceFunctionWith, DISABLED_OnTheCpu) {
  EXPECT_THAT(message_of<sn::Error>([] { (void)sn::Tensor(larger_product()(sn::ones({3}), 1)); }),
              HasSubstr(std::getenv("EXPECTED")));
}
TEST_F(OneDeviceFunction, NeedsACompilerOnTheCpu) {
  const auto run = [](const std::string& environment) {
    const std::string command = "SINTER_CPU_JIT=hot SINTER_CACHE=off " + environment + " " +
                                sinter::test::this_program() +
                                " --gtest_also_run_disabled_tests --gtest_filter='*DISABLED_OnTheCpu'";
    const sinter::runtime::ProcessResult child = sinter::runtime::run_process({"sh", "-c", command});
    EXPECT_EQ(child.status, 0) << child.output;
  };
  run("SINTER_HOST_CXX=/nowhere/c++ EXPECTED='Device functions are compiled for the CPU'");
  run("SINTER_CPU_JIT=off EXPECTED='SINTER_CPU_JIT or set_cpu_jit says off'");
}

TEST_F(OneDeviceFunction, CompilesOnceForManyThreads) {
  const sn::device_function<float(float)> f("threads", "return a * 3;");
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      const auto x = sn::full({1000 + t}, 2.f);
      const sn::Tensor r = f(x);
      for (const float v : r.to_vector()) wrong += v != 6;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

/// Two functions of one name stay apart, in one kernel, too.
TEST_F(OneDeviceFunction, IsItsSourceNotItsName) {
  const sn::device_function<float(float)> once("same_name", "return a + 1;"), more("same_name", "return a + 10;");
  const auto x = sn::zeros({2});
  const auto of = [&](const auto& f) { return sn::Tensor(f(x) * 1).to_vector(); };  // one call site
  EXPECT_EQ(of(once), (std::vector<float>{1, 1}));
  EXPECT_EQ(of(more), (std::vector<float>{10, 10}));
  EXPECT_EQ(sn::Tensor(once(x) + more(x)).to_vector(), (std::vector<float>{11, 11}));
}

TEST_F(OneDeviceFunction, IsExported) {
  const auto z = sn::ones({3}), y = sn::ones({3});
  sn::ExportOptions options{.name = "exported", .inputs = {"z", "y"}, .sizes = {{"n"}, {"n"}}};
  const ExportedLibrary library(sn::exported(larger_product()(z, y) + 1, options));
  auto* const kernel = library.get<int(float*, const float*, const float*, std::int64_t)>("exported_cpu");
  const float a[] = {3, 0.5f, -1}, b[] = {2, 2, -4};
  float out[3];
  ASSERT_EQ(kernel(out, a, b, 3), 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(out[i], larger_product_of(a[i], b[i]) + 1);
}

TEST_F(OneDeviceFunction, IsInEachLibraryOnce) {
  const auto x = sn::ones({3});
  const sn::device_function<float(float)> f("in_library", "return sqrtf(a) + 1;");
  const auto kernels = std::vector{sn::exported(f(x) * 2, {.name = "one", .sizes = {{"n"}}}),
                                   sn::exported(f(f(x)), {.name = "two", .sizes = {{"n"}}})};
  const ExportedLibrary source(kernels, {.name = "both", .architectures = {}});
  auto* const two = source.get<int(float*, const float*, std::int64_t)>("two_cpu");
  const float in[] = {4, 9};
  float out[2];
  ASSERT_EQ(two(out, in, 2), 0);
  EXPECT_FLOAT_EQ(out[0], std::sqrt(3.f) + 1);
  const sn::Exported header =
      sn::export_kernels(kernels, {.name = "h", .architectures = {}, .format = sn::ExportFormat::Header});
  const std::string text = header.files.at("h.h");
  EXPECT_EQ(text.find("float in_library_"), text.rfind("static inline float in_library_") + 14);
}

TEST_F(OneDeviceFunction, RunsOnAMesh) {
  if (sn::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  const sn::Mesh mesh({sn::Device(0), sn::Device(1)});
  const auto x = sn::arange(10).to<float>().reshape({5, 2});
  const auto sharded = sn::shard(x, mesh);
  EXPECT_TRUE(sn::equal(sn::Tensor(larger_product()(sharded, 3) + 1).cpu(), sn::Tensor(larger_product()(x, 3) + 1)));
  EXPECT_TRUE(
      sn::allclose(sn::Tensor(sn::sum(larger_product()(sharded, 3), 0)).cpu(), sn::sum(larger_product()(x, 3), 0)));
}

}  // namespace

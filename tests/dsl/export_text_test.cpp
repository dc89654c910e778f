// Kernels of expressions that are text: which of their numbers are parameters, and which extents are sizes.
#include <dsl/text/export.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "exported.hpp"

namespace sinter::testing {
namespace {

using ::testing::HasSubstr;

jit::Export text(const std::string& expression, const std::string& signature, ExportOptions options = {.name = "own"}) {
  return detail::exported_text(ParsedExpression(expression), parse_signature(signature), std::move(options));
}

std::string message(const std::string& expression, const std::string& signature) {
  try {
    const jit::Export kernel = text(expression, signature);
    jit::exporting::make_library({kernel}, {.name = "own", .architectures = {}}, text_image);
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(ExportTextTest, TakesNumbersAsTheyAre) {
  const ExportedLibrary own(text("z * s + k * z + where(b, 1, 0)", "z: f64[n], s: f64, k: i64, b: bool"));
  auto* const on_cpu = own.get<int(double*, const double*, std::int64_t, double, std::int64_t, bool)>("own_cpu");
  for (const double s : {0.75, -3.5, 0.0})
    for (const bool b : {false, true}) {
      const double z = 1.25;
      double out = 0;
      ASSERT_EQ(on_cpu(&out, &z, 1, s, 4, b), ok);
      EXPECT_EQ(out, z * s + 4 * z + b) << s;
    }
}

TEST(ExportTextTest, TakesTheIdentityOfANumber) {
  for (const char* const same : {"z * (+s)", "(z + 1.5) * s", "s * (z + 2.5)"})
    EXPECT_EQ(message(same, "z: f32[n], s: f64"), "nothing was thrown") << same;
  EXPECT_EQ(message("z * a + b - c", "z: f32[n], a: f32, b: f32, c: i64"), "nothing was thrown");
}

TEST(ExportTextTest, RefusesWhatIsComputedOfNumbers) {
  for (const char* const changed :
       {"z * (s * 2)", "z ** (1 / s)", "z * -s", "z * exp(s)", "z * s * exp(s + 1)", "z * abs(s)", "z * maximum(s, 0)",
        "z * minimum(s, 1e9)", "z * floor(s)", "z * (s - 0.5 + 0.5)", "z * where(s > 0, s, 1)",
        "z * where(isnan(s), 0, s)", "z + s + 2 * s"}) {
    SCOPED_TRACE(changed);
    EXPECT_THAT(message(changed, "z: f32[n], s: f64"), HasSubstr("the number 's: f64'"));
    EXPECT_THAT(message(changed, "z: f32[n], s: f64"), HasSubstr("pass the result as another argument"));
  }
  for (const char* const changed : {"z * (s * 2)", "z * (s // 2)", "z * -s", "z * abs(s)", "z * (s % 100)",
                                    "z * (s ** 2)", "z * maximum(s, 0)", "z * (s + 0.5)"})
    EXPECT_THAT(message(changed, "z: i64[n], s: i64"), HasSubstr("the number 's: i64'")) << changed;
  EXPECT_THAT(message("where(logical_not(b), z, 0)", "z: f32[n], b: bool"), HasSubstr("the number 'b: bool'"));
}

TEST(ExportTextTest, SaysThatANumberIsUsedTwice) {
  EXPECT_THAT(message("z * s + s", "z: f32[n], s: f32"), HasSubstr("'s: f32' in several places"));
  EXPECT_EQ(message("z * s + k", "z: i32[n], s: i64, k: i32"), "nothing was thrown");  // of any size in trials
}

TEST(ExportTextTest, RefusesWhatIsComputedOfTwoNumbers) {
  for (const char* const both : {"z * (a + b)", "z * (a * b)", "z * maximum(a, b)", "z * minimum(a, b)", "z * (a ** b)",
                                 "z * (a ** b) + b", "z * where(a > b, a, b)", "z * (a - b) + a + b"}) {
    EXPECT_THAT(message(both, "z: f64[n], a: f64, b: f64"), HasSubstr("number '")) << both;
    EXPECT_THAT(message(both, "z: i64[n], a: i64, b: i64"), HasSubstr("number '")) << both;
  }
  EXPECT_THAT(message("z * where(c, a, b)", "z: f64[n], c: bool, a: f64, b: f64"), HasSubstr("number '"));
}

TEST(ExportTextTest, KeepsExtentsThatAreWritten) {
  EXPECT_THAT(message("z + y", "z: f32[n], y: f32[2]"), HasSubstr("n = 1000"));
  EXPECT_THAT(message("z + y", "z: f32[3], y: f32[2]"), HasSubstr("3"));
}

TEST(ExportTextTest, TakesNoSizeForThem) {
  const ExportedLibrary own(text("sum(z * y, -1)", "z: f32[n, 2], y: f32[2]"));
  auto* const on_cpu = own.get<int(float*, const float*, const float*, std::int64_t)>("own_cpu");
  const std::vector<float> z = {1, 2, 3, 4, 5, 6}, y = {10, 100};
  std::vector<float> out(3);
  ASSERT_EQ(on_cpu(out.data(), z.data(), y.data(), 3), ok);
  EXPECT_EQ(out, (std::vector<float>{210, 430, 650}));
  const ExportedLibrary none(text("z + 1", "z: f32[2, 1, 5]"));
  auto* const all = none.get<int(float*, const float*)>("own_cpu");
  std::vector<float> ten(11, -1.0f), from(10, 1.0f);
  ASSERT_EQ(all(ten.data(), from.data()), ok);
  EXPECT_EQ(ten[9], 2);
  EXPECT_EQ(ten[10], -1);
}

TEST(ExportTextTest, RefusesViewsByTheAxesOfTheArgument) {
  for (const auto& [expression, shape] : std::vector<std::array<const char*, 2>>{{"x[2:5] * 2", "(3, m)"},
                                                                                 {"x.unsqueeze(0) * 2", "(1, n, m)"},
                                                                                 {"x.t() + 1", "(m, n)"},
                                                                                 {"x[0] + x[1]", "(m,)"}})
    EXPECT_THAT(message(expression, "x: f32[n, m]"),
                HasSubstr("a view of the argument 'x: f32[n, m]' with the shape " + std::string(shape)))
        << expression;
}

TEST(ExportTextTest, RefusesFunctionsThatReturnTensors) {
  for (const char* const expression : {"x.sort() + 1", "cumsum(x, 0) * 2"})
    EXPECT_THAT(message(expression, "x: f32[n, m]"), HasSubstr("returns a tensor immediately")) << expression;
}

std::size_t variants(const jit::Export& kernel) {
  const jit::exporting::Library library =
      jit::exporting::make_library({kernel}, {.name = "own", .architectures = {90}}, text_image);
  std::size_t count = 0;
  for (const jit::exporting::Step& step : library.kernels[0].steps)
    for (const jit::exporting::LayoutVersion& version : step.versions) count += version.variants.size();
  return count;
}

TEST(ExportTextTest, FixedExtentsHaveTheVariantsThatCanOccur) {
  EXPECT_EQ(variants(text("softmax(x, -1)", "x: f32[4, 4]")), 1u);  // too few elements for vectors
  EXPECT_EQ(variants(text("exp(x)", "x: f32[4096]")), 2u);          // vectors or not, never 64-bit indices
  EXPECT_EQ(variants(text("exp(x)", "x: f32[4097, 3]")), 2u);       // one dim: the tail has no vector
  EXPECT_EQ(variants(text("exp(x)", "x: f32[n]")), 4u);
  EXPECT_EQ(variants(text("exp(x)", "x: f32[2147483648]")), 4u);
  const jit::exporting::Library library = jit::exporting::make_library(
      {text("layer_norm(x, 256)", "x: f32[n, 256]")}, {.name = "own", .architectures = {90}}, text_image);
  for (const jit::exporting::Variant& v : library.kernels[0].steps[0].versions[0].variants)
    EXPECT_LE(v.kernel_class.rows.block, 256);
}

TEST(ExportTextTest, OneVariantForAllSizesAndLayouts) {
  ExportOptions options{.name = "own", .strided = {"x"}};
  options.one_variant = true;
  for (const char* const expression : {"softmax(x, -1)", "exp(x) * 2", "x.sum(0) + 1"})
    EXPECT_EQ(variants(text(expression, "x: f32[n, m]", options)), 1u) << expression;
}

}  // namespace
}  // namespace sinter::testing

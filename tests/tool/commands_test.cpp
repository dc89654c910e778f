// What the commands of the tool `sinter` do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <regex>

#include "tool.hpp"

namespace sinter::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct ShellWithFiles : Shell {
  ShellWithFiles() {
    write_npy("z.npy", {1, 2, 3}, "(3,)");
    write_npy("y.npy", {1, 10, 100}, "(3,)");
  }
};

TEST(CommandsTest, RunPrintsOrWrites) {
  const ShellWithFiles shell;
  EXPECT_EQ(shell.prints("run 'z * 2 + y' --arg z=z.npy --arg y=y.npy"), "tensor([  3.,  14., 106.])\n");
  EXPECT_EQ(shell.prints("run --arg z=z.npy --arg=s=-2 'z * s'"), "tensor([-2., -4., -6.])\n");
  EXPECT_EQ(shell.prints("run --arg z=z.npy --arg s=true 'where(s, z, 0)' --device cuda:1"),
            "tensor([1., 2., 3.], device='cuda:1')\n");
  EXPECT_EQ(shell.prints("run --arg z=z.npy -- '-z'"), "tensor([-1., -2., -3.])\n");
  EXPECT_EQ(shell.prints("run '7 // 2'"), "tensor(3)\n");
  EXPECT_EQ(shell.prints("run 'exp(z + 2) * y' --arg z=z.npy --arg y=y.npy --device cuda -o r.npy"), "");
  const std::vector<float> r = shell.read_npy("r.npy");
  ASSERT_EQ(r.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const double expected = std::exp(static_cast<double>(i) + 3) * std::pow(10, i);
    EXPECT_NEAR(r[i], expected, 1e-6 * expected);
  }
}

void expect_error(const Outcome& o, const std::string& text) {
  EXPECT_EQ(o.status, 1) << o.err;
  EXPECT_EQ(o.out, "");
  EXPECT_THAT(o.err, HasSubstr(text));
}

TEST(CommandsTest, LimitsOfFileSizesAreErrors) {
  const ShellWithFiles shell;
  const auto limited = [&](const std::string& arguments) {
    return shell.command("(ulimit -f 0; " SINTER_TOOL " " + arguments + "; echo status $?) 2>&1 | cat").out;
  };
  const auto is_error = AllOf(HasSubstr("error: "), HasSubstr("(ulimit -f)"), HasSubstr("status 1\n"));
  EXPECT_THAT(limited("run 'z * y' --arg z=z.npy --arg y=y.npy -o r.npy"), is_error);
  EXPECT_THAT(limited("run 'z * y' --arg z=z.npy --arg y=y.npy --device cuda"), is_error);
  EXPECT_THAT(limited("export 'z * 2' --arg 'z: f32[n]' --arch none -o out"), is_error);
  EXPECT_THAT(limited("cache pack kernels.zip"), is_error);
  EXPECT_THAT(limited("run 7 >printed"), HasSubstr("cannot write"));
  EXPECT_FALSE(std::filesystem::exists(shell.file("r.npy")) || std::filesystem::exists(shell.file("kernels.zip")));
  EXPECT_TRUE(std::filesystem::is_empty(shell.file("out")));
}

TEST(CommandsTest, ExpressionsCallTheFunctionsOfTheCommandLine) {
  const ScopedVariable compiles("SINTER_CPU_JIT", "hot");
  const ShellWithFiles shell;
  const std::string twice = "--function 'float twice(float x) { return 2 * x; }'";
  EXPECT_EQ(shell.prints("run 'twice(z) - z' --arg z=z.npy " + twice), shell.prints("run z --arg z=z.npy"));
  EXPECT_THAT(shell.prints("explain 'twice(z)' --arg z=z.npy --cuda " + twice), HasSubstr("return 2 * x;"));
  EXPECT_THAT(shell.prints("bench 'twice(z)' --arg z=z.npy --repeat 3 " + twice), HasSubstr("fused"));
  shell.prints("export 'twice(z)' --arg 'z: f32[n]' --arch none --name twofold " + twice);
  expect_error(shell.sinter("run 'twice(z)' --arg z=z.npy"), "there is no function 'twice'");
  expect_error(shell.sinter("run 'f(z)' --arg z=z.npy --function 'float f(x) { return x; }'"), "^");
  expect_error(shell.sinter("run 'norm(z)' --arg z=z.npy --function 'float norm(float x) { return x; }'"),
               "texts have a function of this name");
}

TEST(CommandsTest, ErrorsOfAnExpressionPointAtIt) {
  const ShellWithFiles shell;
  expect_error(shell.sinter("run 'exq(z) + 1' --arg z=z.npy"),
               "error: there is no function 'exq'; did you mean 'exp'?\n  exq(z) + 1\n  ^^^\n");
  expect_error(shell.sinter("run 'z + w' --arg z=z.npy"), "'w'");
  expect_error(shell.sinter("run 'z + w' --arg z=z.npy"), "\n  z + w\n      ^\n");
  expect_error(shell.sinter("run z --arg z=z.npy --arg zz=3"), "does not name \"zz\". It names: z");
  expect_error(shell.sinter("run 'norm(z, p)' --arg z=z.npy --arg p=3"),
               "got a number that is not written in the text");
  expect_error(shell.sinter("run weight --arg weigth=3"), "\"weigth\"; did you mean 'weight'?");
  expect_error(shell.sinter("run z --arg z=none.npy"), "none.npy");
  expect_error(shell.sinter("run z --arg z=z.npy --device cuda:9"), "cuda:9");
  expect_error(shell.sinter("run z --arg z=z.npy -o none/r.npy"), "none/r.npy");
  expect_error(shell.sinter("explain z --arg 'z: f32[n'"), "^");
  expect_error(shell.sinter("explain z --arg 'z: f32[n]'"), "--size n=1000");
  expect_error(shell.sinter("explain z --arg 'z: f32[*]'"), "write a number");
  expect_error(shell.sinter("explain z --arg 'z: f32[4]' --size n=3"), "no argument has a size n");
  expect_error(shell.sinter("explain z --arg 'z: f32[4]' --ptx sm_x"), "is not an architecture");
  expect_error(shell.sinter("bench z --arg 'z: f32[n]' --size n=9000000000000000000"), "");
}

TEST(CommandsTest, ExplainSaysWhatItIsAskedFor) {
  const ShellWithFiles shell;
  const std::string plan = shell.prints("explain 'softmax(x, -1)' --arg 'x: f32[n, 1000]' --size n=64");
  EXPECT_THAT(plan, HasSubstr("float32 (64, 1000) on cpu"));
  EXPECT_THAT(plan, HasSubstr("1 kernel"));
  EXPECT_THAT(shell.prints("explain 'z + 1' --arg z=z.npy --device cuda:1"), HasSubstr("float32 (3,) on cuda:1"));
  EXPECT_THAT(shell.prints("explain 'z + s' --arg z=z.npy --arg 's: f64' --cuda"), HasSubstr("__global__"));
  EXPECT_THAT(shell.prints("explain 'z + s' --arg z=z.npy --arg 's: f64' --hip"), HasSubstr("hip_runtime.h"));
  EXPECT_THAT(shell.prints("explain 'z + 1' --arg z=z.npy --dot"), HasSubstr("digraph"));
}

TEST(CommandsTest, ExplainWritesAPageOrLeavesWhatWasThere) {
  const ShellWithFiles shell;
  EXPECT_EQ(shell.prints("explain 'z + 1' --arg z=z.npy --html plan.html"), "");
  const std::string page = shell.prints("explain 'z + 1' --arg z=z.npy --html plan.html && cat plan.html");
  EXPECT_THAT(page, HasSubstr("z: float32 (3,), contiguous"));
  EXPECT_THAT(page, HasSubstr("</html>\n"));
  expect_error(shell.sinter("explain 'z + 1' --arg z=z.npy --html none/plan.html"), "none/plan.html");
  expect_error(shell.sinter("explain 'z + w' --arg z=z.npy --html plan.html"), "'w'");
  EXPECT_EQ(shell.prints("explain 'z + 1' --arg z=z.npy --html again.html && cat plan.html"), page);
}

TEST(CommandsTest, BenchGivesMediansAndTheirRatio) {
  const ShellWithFiles shell;
  const std::string text = shell.prints(
      "bench 'where(b, exp(z + 2) * y, i)' --arg 'z: f32[n], y: f32[n], b: bool[n], i: i8[n]' --size n=1000 --repeat "
      "3");
  EXPECT_THAT(text, HasSubstr("14 KB of arguments and result; 3 evaluations of each kind"));
  const std::string number = R"([0-9.e+]+ [a-zA-Z]+)";
  for (const char* name : {"fused", "eager"})
    EXPECT_TRUE(std::regex_search(text, std::regex(fmt::format("\n{0} +{1} +{1} to {1} +{1}/s\n", name, number))))
        << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("\neager takes [0-9.e+]+ times as long as fused\n$"))) << text;
  EXPECT_THAT(shell.prints("bench 'z + 1' --arg z=z.npy --repeat 1"), HasSubstr("float32 (3,) on cpu"));
}

TEST(CommandsTest, DevicesAreListed) {
  const Shell shell;
  const std::string text = shell.prints("devices");
  EXPECT_TRUE(text.starts_with("cpu "));
  EXPECT_THAT(text, HasSubstr("\ncuda:1  Virtual GPU 1, compute capability "));
}

constexpr const char* program = R"(#include <stdio.h>
#include "fused.h"
int main(void) {
  float z[3] = {1, 2, 3}, w[2] = {10, 100}, out[6];
  int i, code = my_fused_cpu(out, z, w, 3, 2, -1.5, 4);
  for (i = 0; i < 6; ++i) printf("%g ", out[i]);
  return code;
}
)";

TEST(CommandsTest, ExportWritesWhatACompilerTakes) {
  const ShellWithFiles shell;
  EXPECT_EQ(shell.prints("export '(z * s + 0.25) * w * k' --arg 'z: f32[n], s: f64' --arg 'w: f32[m, 1]' "
                         "--arg 'k: i64' --arch none --prefix my_ --name fused --extra json -o deep/out"),
            "deep/out/fused.c\ndeep/out/fused.h\ndeep/out/fused.json\n");
  const std::string header = read_text(shell.file("deep/out/fused.h"));
  std::smatch found;
  ASSERT_TRUE(std::regex_search(header, found, std::regex(R"(int my_fused_cpu\(([^)]*)\))"))) << header;
  EXPECT_EQ(found[1].str(), "float *out, const float *z, const float *w, int64_t n, int64_t m, double s, int64_t k");
  write_text(shell.file("main.c"), program);
  const Outcome o = shell.command(
      "cc -std=c99 -Wall -Wextra -Werror -pedantic -Ideep/out main.c deep/out/fused.c -lm -ldl -lpthread -o main && "
      "./main");
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out, "-50 -110 -170 -500 -1100 -1700 ");
}

TEST(CommandsTest, ExportRefusesAndSaysWhy) {
  const Shell shell;
  expect_error(shell.sinter("export 'z + y' --arg 'z: f32[n]' --arg 'y: f32[m]' --arch none"), "n = 1000");
  expect_error(shell.sinter("export 'z @ z' --arg 'z: f32[n, n]' --arch none"), "BLAS");
  expect_error(shell.sinter("export 'z.T + 1' --arg 'z: f32[n, m]' --arch none"),
               "declare the view itself as an argument");
  expect_error(shell.sinter("export 'z + 1' --arg 'z: f32[n]' --arch none --name for"), "\"for\"");
  expect_error(shell.sinter("export 'z + w' --arg 'z: f32[n]' --arch none"), "'w'");
  expect_error(shell.sinter("export 'z + 1' --arg 'z: f32[n]' --arch none -o /dev/null/x"), "/dev/null/x");
  expect_error(shell.sinter("export 'z * s' --arg 'z: f32[n], s: c64' --arch none"), "complex");
  const Outcome o = shell.sinter("export 'z + 1' --arg 'z: f32[n]' --arch none --strided z,y -o out");
  expect_error(o, "`strided` names y");
  EXPECT_FALSE(std::filesystem::exists(shell.file("out")));
}

}  // namespace
}  // namespace sinter::testing

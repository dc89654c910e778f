// Libraries for the CPU alone, which are C99 without anything of the operating system.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <dsl/text/export.hpp>
#include "exported.hpp"

namespace sinter::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Sample {
  const char *name, *expression, *signature;
  std::vector<std::string> strided = {};
};

/// Functions of elements, reductions, faults, numbers, strides, several kernels, and dtypes with helpers.
const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = {
      {"fused", "exp(z + 2) * y", "z: f32[n], y: f32[n]"},
      {"softmax", "softmax(z, 1)", "z: f32[n, m]"},
      {"divided", "where(x > 0, x, y // k)", "x: i32[n, m], y: i32[m], k: i32", {"y"}},
      {"taken", "x[i] * s", "x: f64[n], i: i64[k], s: f64"},
      {"normal", "(x - mean(x, 0)) / (std(x, 0) + sum(x, 1, true))", "x: f32[n, m]"},
      {"rounded", "x.to(f16) + y.to(bf16)", "x: f32[n], y: f32[n]"},
      {"rotated", "z * w", "z: c64[n], w: c128[n]"},
      {"wrapped", "x * y + 1", "x: u8[n], y: i64[n]"},
  };
  return all;
}

jit::Export sample_kernel(const Sample& c) {
  return detail::exported_text(ParsedExpression(c.expression), parse_signature(c.signature),
                               {.name = c.name, .strided = c.strided});
}

std::vector<jit::Export> sample_kernels() {
  std::vector<jit::Export> all;
  for (const Sample& c : samples()) all.push_back(sample_kernel(c));
  return all;
}

Exported files_of(const std::vector<jit::Export>& exports, LibraryOptions options) {
  return jit::exporting::write_library(jit::exporting::make_library(exports, options, text_image));
}

bool has_command(const std::string& name) {
  return std::system(("command -v " + name + " > /dev/null 2>&1").c_str()) == 0;
}

TEST(ExportPortable, NamesNothingOfGpusOrOfTheSystem) {
  const Exported files =
      files_of(sample_kernels(), {.name = "own", .architectures = {}, .cpp_wrapper = true, .dlpack = true});
  for (const auto& [name, text] : files.files) {
    if (name.ends_with(".cu") || name.ends_with(".json")) continue;
    for (const char* const word : {"dlfcn", "pthread", "POSIX", "driver", "CUDA", "_launch(", "_launch_dlpack",
                                   "_load(", "workspace(", "stream", "fault is"})
      EXPECT_EQ(text.find(word), std::string::npos) << name << ": " << word;
  }
  EXPECT_THAT(files.files.at("own.json"), Not(HasSubstr("_launch")));
}

TEST(ExportPortable, AllocatesForSeveralKernelsOnly) {
  for (const Sample& c : samples()) {
    const std::string text = files_of({sample_kernel(c)}, {.name = "own", .architectures = {}}).files.at("own.c");
    const bool has_several = std::string_view(c.name) == "normal";
    EXPECT_EQ(text.find("malloc(") != std::string::npos, has_several) << c.name;
    EXPECT_EQ(text.find("<stdlib.h>") != std::string::npos, has_several) << c.name;
  }
}

TEST(ExportPortable, IsShort) {
  const std::string text =
      files_of({sample_kernel(samples().front())}, {.name = "own", .architectures = {}}).files.at("own.c");
  EXPECT_LT(std::ranges::count(text, '\n'), 340);
}

/// With every compiler that is there, also for Windows and for other processors.
TEST(ExportPortable, CompilesEverywhere) {
  const ScratchFolder folder;
  for (const ExportFormat format : {ExportFormat::Source, ExportFormat::Header})
    files_of(sample_kernels(), {.name = format == ExportFormat::Source ? "own" : "header",
                                .prefix = format == ExportFormat::Source ? "" : "h_",
                                .architectures = {},
                                .format = format,
                                .cpp_wrapper = true,
                                .dlpack = true})
        .write(folder.path());
  const std::string main = folder.file("main.c");
  {
    std::ofstream file(main);
    file << "#define H_HEADER_IMPLEMENTATION\n#include \"header.h\"\n#include \"own.h\"\n#include <stdio.h>\n"
            "int main(void) {\n  const float z[2] = {-2, -2}, y[2] = {3, 4};\n  float out[2], other[2];\n"
            "  const int32_t x = -1, w = 7;\n  int32_t divided;\n"
            "  if (fused_cpu(out, z, y, 2) != OWN_OK || h_fused_cpu(other, z, y, 2) != H_HEADER_OK) return 1;\n"
            "  if (divided_cpu(&divided, &x, &w, NULL, 1, 1, 0) != OWN_DIVISION_BY_ZERO) return 2;\n"
            "  printf(\"%g %g %g %g %s\\n\", out[0], out[1], other[0], other[1], own_error_text(OWN_OVERLAP));\n"
            "  return 0;\n}\n";
  }
  struct Compiler {
    std::string command, runs;  // how to run what it made; empty: not here
  };
  const std::string strict = " -std=c99 -pedantic -Wall -Wextra -Werror -O1";
  int compilers = 0;
  for (const Compiler& c : std::vector<Compiler>{{c_compiler() + strict, "./"},
                                                 {"clang" + strict, "./"},
                                                 {"clang-16" + strict, "./"},
                                                 {"clang-19" + strict, "./"},
                                                 {"tcc -std=c99 -pedantic -Wall -Werror", "./"},
                                                 {"x86_64-w64-mingw32-gcc" + strict, ""},
                                                 {"aarch64-linux-gnu-gcc -static" + strict, "qemu-aarch64 ./"}}) {
    if (!has_command(c.command.substr(0, c.command.find(' ')))) continue;
    ++compilers;
    const std::string in_folder = "cd '" + folder.path().string() + "' && ";
    const std::string build = in_folder + c.command + " -o program main.c own.c -lm 2>&1";
    ASSERT_EQ(std::system(build.c_str()), 0) << build;
    if (c.runs.empty() || !has_command(c.runs.substr(0, c.runs.find(' ')))) continue;
    const std::string run = in_folder + c.runs + "program > printed";
    ASSERT_EQ(std::system(run.c_str()), 0) << run;
    EXPECT_EQ(read_text(folder.file("printed")),
              "3 4 3 4 an output shares memory with an input or with another output\n");
  }
  EXPECT_GE(compilers, 1);
}

/// Windows' C library is not here: only its declarations are.
TEST(ExportPortable, ParsesAsForWindows) {
  const std::string clang = has_command("clang-19") ? "clang-19" : has_command("clang-16") ? "clang-16" : "clang";
  if (!has_command(clang)) GTEST_SKIP() << "there is no clang";
  const ScratchFolder folder;
  files_of(sample_kernels(), {.name = "own", .architectures = {}, .dlpack = true}).write(folder.path().string());
  write_text(folder.file("math.h"),
             "#define D1(g) double g(double); float g##f(float);\n#define D2(g) double g(double, double); float "
             "g##f(float, float);\nD1(exp) D1(log) D1(sqrt) D1(fabs) D1(floor) D1(rint) D2(fmod) D2(copysign)\n"
             "double fma(double, double, double); float fmaf(float, float, float);\n");
  write_text(folder.file("string.h"),
             "#include <stddef.h>\nvoid *memcpy(void *, const void *, size_t); void *memset(void *, int, size_t);\n");
  write_text(folder.file("stdlib.h"), "#include <stddef.h>\nvoid *malloc(size_t); void free(void *);\n");
  const std::string command = "cd '" + folder.path().string() + "' && " + clang +
                              " --target=x86_64-pc-windows-msvc -ffreestanding -fsyntax-only -isystem . -std=c99 "
                              "-pedantic -Wall -Wextra -Werror own.c 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

/// A program's macros are called around each kernel of a plan.
TEST(ExportPortable, CanBeTraced) {
  const ScratchFolder folder;
  files_of({sample_kernel(samples()[4])}, {.name = "own", .architectures = {}}).write(folder.path().string());
  write_text(folder.file("trace.h"),
             "#include <stdio.h>\n#define SINTER_TRACE_BEGIN(kernel) printf(\"%s begins\\n\", kernel)\n"
             "#define SINTER_TRACE_END(kernel) printf(\"%s ends\\n\", kernel)\n");
  write_text(folder.file("main.c"),
             "#include \"own.h\"\nint main(void) {\n  const float x[4] = {1, 2, 3, 4};\n  float y[4];\n"
             "  return normal_cpu(y, x, 2, 2);\n}\n");
  const std::string run = "cd '" + folder.path().string() + "' && " + c_compiler() +
                          " -std=c99 -Wall -Werror -include trace.h -o program main.c own.c -lm && ./program > printed";
  ASSERT_EQ(std::system(run.c_str()), 0) << run;
  EXPECT_EQ(read_text(folder.file("printed")),
            "normal_cpu_0 begins\nnormal_cpu_0 ends\nnormal_cpu_1 begins\nnormal_cpu_1 ends\n");
}

/// What the values are is tested with other exports; here, that each function does its work.
TEST(ExportPortable, ComputesAsTheLibraryDoes) {
  const ExportedLibrary own(sample_kernels(), {.name = "own", .architectures = {}});
  const Tensor<float> x = rand<float>({5, 7}), out = zeros<float>({5, 7});
  for (const char* const name : {"softmax_cpu", "normal_cpu"}) {
    auto* const function = own.get<int(float*, const float*, std::int64_t, std::int64_t)>(name);
    ASSERT_EQ(function(out.data(), x.data(), 5, 7), ok);
    const Tensor<float> expected =
        name[0] == 's' ? Tensor<float>(softmax(x, 1)) : Tensor<float>((x - mean(x, 0)) / (std(x, 0) + sum(x, 1, true)));
    EXPECT_TRUE(allclose(out, expected, 1e-5, 1e-6)) << name;
  }
}

}  // namespace
}  // namespace sinter::testing

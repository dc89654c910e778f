// The files of an exported library: how C and C++ take them, and that the same is written each time.
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "exported.hpp"

namespace sinter::testing {
namespace {

namespace fs = std::filesystem;

jit::Export fused(ExportOptions options = {}) {
  const Tensor<float> z = zeros<float>({3}), y = zeros<float>({3});
  options.name = "fused";
  return exported(exp(z + 2) * y, options);
}
jit::Export soft() { return exported(softmax(Tensor<float>(zeros<float>({3, 4})), -1), {.name = "soft"}); }

Exported write(const std::vector<jit::Export>& kernels, const LibraryOptions& options) {
  return jit::exporting::write_library(jit::exporting::make_library(kernels, options, text_image));
}

/// The exit status of a shell's command.
int run(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void put(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

TEST(ExportFilesTest, AreTheSameEachTime) {
  const LibraryOptions options{
      .name = "k", .architectures = {80, 90}, .cpp_wrapper = true, .ptx_files = true, .dot = true};
  const Exported a = write({fused(), soft()}, options), b = write({fused(), soft()}, options);
  EXPECT_EQ(a.files, b.files);
  std::vector<std::string> names;
  for (const auto& [name, text] : a.files) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"k.c", "k.cu", "k.dot", "k.h", "k.hpp", "k.json", "k.ptx"}));
  EXPECT_NE(write({fused({.in_place = true})}, options).files, write({fused()}, options).files);
  for (const auto& [name, text] : a.files) EXPECT_EQ(text.find("/tmp"), std::string::npos) << name;
}

TEST(ExportFilesTest, StayUntouchedWhereNothingChanged) {
  const ScratchFolder folder;
  const Exported exported = write({fused()}, {.name = "k", .architectures = {90}});
  exported.write(folder.file("deep/folder"));
  const fs::path path = folder.path() / "deep/folder/k.c";
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(path, old);
  exported.write(folder.file("deep/folder"));
  EXPECT_EQ(fs::last_write_time(path), old);
  put(path, "something else");
  exported.write(folder.file("deep/folder"));
  std::ifstream again(path, std::ios::binary);
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>(again), {}}), exported.files.at("k.c"));
  EXPECT_THROW(exported.write("/proc/no/such/folder"), Error);
}

TEST(ExportFilesTest, CompileAsCAndCpp) {
  const ScratchFolder folder;
  write({fused({.numbers = {"shift"}, .strided = {"x0"}}), soft()},
        {.name = "k", .architectures = {90}, .cpp_wrapper = true})
      .write(folder.path().string());
  put(folder.path() / "user.cpp", "#include \"k.hpp\"\n#include \"k.h\"\nint main() { return 0; }\n");
  const std::string at = "cd " + folder.path().string() + " && ",
                    warn = " -Wall -Wextra -pedantic -Werror -fsyntax-only ";
  const char* const cxx = std::getenv("CXX") ? std::getenv("CXX") : "c++";
  EXPECT_EQ(run(at + c_compiler() + " -std=c99" + warn + "k.c"), 0);
  EXPECT_EQ(run(at + c_compiler() + " -std=c17 -Wshadow" + warn + "k.c"), 0);
  EXPECT_EQ(run(at + cxx + " -std=c++20 -x c++" + warn + "k.c"), 0);
  EXPECT_EQ(run(at + cxx + " -std=c++17" + warn + "user.cpp"), 0);
}

/// A program of two libraries, one of them a header alone, which gives what a launch gives; compiled without Sinter.
class ProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    write({fused()}, {.name = "one", .prefix = "p_", .architectures = {90}}).write(folder.path().string());
    write({soft(), fused()}, {.name = "two", .prefix = "q_", .architectures = {90}, .format = ExportFormat::Header})
        .write(folder.path().string());
    put(folder.path() / "two_impl.c",
        "#define _POSIX_C_SOURCE 200809L\n#define Q_TWO_IMPLEMENTATION\n#include \"two.h\"\n");
    put(folder.path() / "main.c", R"(
#include <math.h>
#include "one.h"
#include "two.h"
int main(void) {
  float z[3] = {0, 1, 2}, y[3] = {1, 2, 3}, a[3], b[3];
  int i;
  if (p_fused_cpu(a, z, y, 3) != P_ONE_OK || q_fused_cpu(b, z, y, 3) != Q_TWO_OK) return 100;
  for (i = 0; i < 3; ++i)
    if (a[i] != b[i] || fabsf(a[i] - expf(z[i] + 2) * y[i]) > 1e-3f) return 101;
  if (q_soft_cpu(b, z, 1, 3) != 0 || fabsf(b[0] + b[1] + b[2] - 1) > 1e-6f) return 102;
  if (p_one_abi_version() != P_ONE_ABI_VERSION) return 103;
  if (!p_one_error_text(P_ONE_NO_DRIVER) || !p_one_error_text(P_ONE_DRIVER_ERROR + 1)) return 104;
  if (q_soft_launch(0, b, z, 1, 3, 0, 0) == 0) return 105;
  return p_fused_launch(0, a, z, y, 3);
}
)");
    ASSERT_EQ(run(at() + c_compiler() +
                  " -std=c99 -Wall -Wextra -pedantic -Werror -o program main.c one.c two_impl.c -lm -ldl -lpthread"),
              0);
  }
  std::string at() const { return "cd " + folder.path().string() + " && "; }

  ScratchFolder folder;
};

TEST_F(ProgramTest, TakesTwoLibrariesAndNoDriver) {
  put(folder.path() / "libcuda.so.1", "no library");  // before any that the machine has
  EXPECT_EQ(run(at() + "LD_LIBRARY_PATH=. ./program"), no_driver);
}

TEST_F(ProgramTest, SaysThatADriverIsTooOld) {
  put(folder.path() / "old.c", "int cuInit(unsigned flags);\nint cuInit(unsigned flags) { return (int)flags; }\n");
  ASSERT_EQ(run(at() + c_compiler() + " -shared -fPIC -Wl,-soname,libcuda.so.1 -o libcuda.so.1 old.c"), 0);
  EXPECT_EQ(run(at() + "LD_LIBRARY_PATH=. ./program"), old_driver);
}

TEST(ExportFilesTest, ManifestTellsWhatThereIs) {
  const auto json =
      nlohmann::json::parse(write({fused({.inputs = {"z", "y"}, .sizes = {{"n"}}, .numbers = {"shift"}}), soft()},
                                  {.name = "k", .prefix = "my_", .architectures = {90}})
                                .files.at("k.json"));
  EXPECT_EQ(json["abi_version"], export_abi_version);
  EXPECT_EQ(json["targets"], (std::vector<std::string>{"sm_90", "compute_90"}));
  const auto& kernel = json["kernels"][0];
  EXPECT_EQ(kernel["launch"], "my_fused_launch");
  EXPECT_EQ(kernel["inputs"][0]["name"], "z");
  EXPECT_EQ(kernel["inputs"][0]["dtype"], "float32");
  EXPECT_EQ(kernel["inputs"][0]["rank"], 1);
  EXPECT_EQ(kernel["sizes"], std::vector<std::string>{"n"});
  EXPECT_EQ(kernel["numbers"][0]["c_type"], "int64_t");
  EXPECT_EQ(kernel["steps"][0]["layouts"][0]["variants"].size(), 4u);
  EXPECT_TRUE(json["kernels"][1]["workspace"]);
  for (const auto& step : json["kernels"][1]["steps"])
    for (const auto& variant : step["layouts"][0]["variants"])
      EXPECT_LT(variant["image"].get<std::size_t>(), json["images"].size());
}

TEST(ExportFilesTest, HoldWhatNvrtcCompiled) {
  const auto make = [] {
    return export_kernel(exp(Tensor<float>(zeros<float>({3})) + 2), {.name = "e"},
                         {.architectures = {90}, .ptx_files = true});
  };
  Exported out;
  try {
    out = make();
  } catch (const DeviceError& e) {
    GTEST_SKIP() << e.what();  // there is no NVRTC
  }
  const auto json = nlohmann::json::parse(out.files.at("e.json"));
  EXPECT_GT(json["images"][0]["binaries"][0]["registers"], 4);
  EXPECT_EQ(json["images"][0]["binaries"][0]["spill_stores"], 0);
  EXPECT_NE(out.files.at("e.ptx").find(".target sm_90"), std::string::npos);
  EXPECT_NE(out.files.at("e.c").find("010102464c457fu"), std::string::npos) << "an ELF file";
  EXPECT_EQ(out.files, make().files);
  EXPECT_THROW(export_kernel(Tensor<float>(zeros<float>({3})) + 2, {}, {.architectures = {55}}), DeviceError);
}

}  // namespace
}  // namespace sinter::testing

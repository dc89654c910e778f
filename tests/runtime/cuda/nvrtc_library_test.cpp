#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include <runtime/cuda/nvrtc_library.hpp>
#include <runtime/package_folders.hpp>
#include <sinter/runtime/error.hpp>

namespace {

namespace fs = std::filesystem;
using sinter::runtime::nvrtc_candidates;
using sinter::runtime::open_nvrtc;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Sets a variable of the environment for a scope.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (old_)
      setenv(name_, old_->c_str(), 1);
    else
      unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

/// A folder that goes with its scope.
struct Folder {
  fs::path path = fs::path(::testing::TempDir()) / ("sinter_nvrtc_" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name) << "not a library";
    return path / name;
  }
  /// An NVRTC of the version that its name says.
  std::string fake(const std::string& name) const {
    fs::copy_file(SINTER_FAKE_CUDA, path / name);
    return path / name;
  }
};

TEST(NvrtcLibrary, LooksInToolkitsAndWheels) {
  const Folder folder;
  const std::string wheel13 = folder.file("venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  const std::string wheel12 = folder.file("venv/lib/python3.9/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  const std::string toolkit = folder.file("cuda/lib64/libnvrtc.so.12");
  const std::string older = folder.file("cuda/lib64/libnvrtc.so.11.2");
  folder.file("cuda/lib64/libnvrtc-builtins.so.12.4");
  const std::string packages = folder.file("packages/nvidia/cu13/lib/libnvrtc.so.13");
  const Variable a("VIRTUAL_ENV", folder.path / "venv"), b("CUDA_HOME", folder.path / "cuda");
  sinter::runtime::set_package_folders({folder.path / "packages", folder.path / "none"});
  const auto all = nvrtc_candidates();
  sinter::runtime::set_package_folders({});
  const auto at = [&](const std::string& file) { return std::ranges::find(all, file) - all.begin(); };
  EXPECT_THAT(all, AllOf(Contains(wheel13), Contains(wheel12), Contains(toolkit), Contains(older)));
  EXPECT_LT(at("libnvrtc.so.13"), at("libnvrtc.so.12"));
  EXPECT_LT(at("libnvrtc.so"), at(toolkit));
  EXPECT_LT(at(toolkit), at(older));
  EXPECT_LT(at(older), at(packages));
  EXPECT_LT(at(packages), at(wheel13));
  EXPECT_THAT(all, ::testing::Each(::testing::Not(HasSubstr("builtins"))));
}

TEST(NvrtcLibrary, ANamedFileOrFolderReplacesTheSearch) {
  const Folder folder;
  const std::string file = folder.file("libnvrtc.so.12");
  {
    const Variable named("SINTER_NVRTC", file);
    EXPECT_THAT(nvrtc_candidates(), ::testing::ElementsAre(file));
    EXPECT_THAT([] { open_nvrtc(nvrtc_candidates(), 0); },
                ThrowsMessage<sinter::DeviceError>(AllOf(HasSubstr(file), HasSubstr("SINTER_NVRTC"))));
  }
  const Variable named("SINTER_NVRTC", folder.path);
  EXPECT_THAT(nvrtc_candidates(), ::testing::ElementsAre(file));
}

TEST(NvrtcLibrary, NotFoundListsThePlacesAndSaysWhatHelps) {
  const Variable home("CUDA_HOME", "/nonexistent/toolkit");
  EXPECT_THAT([] { open_nvrtc({"/nonexistent/libnvrtc.so.13", "libm.so.6"}, 0); },
              ThrowsMessage<sinter::DeviceError>(
                  AllOf(HasSubstr("/nonexistent/toolkit/lib64"), HasSubstr("/usr/local/cuda/lib64"),
                        HasSubstr("site-packages"), HasSubstr("/nonexistent/libnvrtc.so.13: cannot open"),
                        HasSubstr("libm.so.6: not an NVRTC"), HasSubstr("pip install nvidia-cuda-nvrtc"))));
}

TEST(NvrtcLibrary, AnOlderOneThatTheDriverTakesReplacesANewerOne) {
  const Folder folder;
  const std::string newer = folder.fake("libnvrtc.so.13.0"), older = folder.fake("libnvrtc.so.12.4");
  const auto opened = open_nvrtc({newer, older}, 12080);
  EXPECT_EQ(opened.major, 12);
  EXPECT_TRUE(opened.ptx_loads);
  EXPECT_EQ(dlopen(newer.c_str(), RTLD_LAZY | RTLD_NOLOAD), nullptr) << "still loaded";
}

TEST(NvrtcLibrary, TooOldForLargeKernels) {
  const Folder folder;
  const std::string old = folder.fake("libnvrtc.so.12.0");
  EXPECT_THAT([&] { open_nvrtc({old}, 12080); },
              ThrowsMessage<sinter::DeviceError>(AllOf(HasSubstr(old + ": NVRTC 12.0 is too old"), HasSubstr("12.1"))));
}

TEST(NvrtcLibrary, NewerThanTheDriverMeansBinariesOnly) {
  try {
    const auto any = open_nvrtc(nvrtc_candidates(), 0);
    EXPECT_TRUE(any.ptx_loads);
    EXPECT_GE(any.major, 12);
    EXPECT_TRUE(std::ranges::is_sorted(any.architectures));
    EXPECT_TRUE(std::ranges::binary_search(any.architectures, 90));
    EXPECT_TRUE(open_nvrtc(nvrtc_candidates(), 1000 * any.major + 10 * any.minor).ptx_loads);
    EXPECT_FALSE(open_nvrtc(nvrtc_candidates(), 11000).ptx_loads);
  } catch (const sinter::DeviceError& e) {
    GTEST_SKIP() << e.what();
  }
}

}  // namespace

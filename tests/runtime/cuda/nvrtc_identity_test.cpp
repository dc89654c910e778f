#include <runtime/cuda/nvrtc_identity.hpp>

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "../../scratch.hpp"

namespace sinter::runtime {
namespace {

namespace fs = std::filesystem;
using sinter::testing::ScopedVariable;
using sinter::testing::ScratchFolder;
using sinter::testing::write_text;

TEST(NvrtcIdentity, NothingIsNone) {
  EXPECT_EQ(nvrtc_identity({}), "none");
  EXPECT_EQ(nvrtc_identity({"/nonexistent/libnvrtc.so.13"}), "none");
}

TEST(NvrtcIdentity, EveryFileCountsWithItsPlaceTimeAndSize) {
  const ScratchFolder scratch;
  const std::string one = scratch.file("libnvrtc.so.13"), other = scratch.file("libnvrtc.so.12");
  write_text(one, "one");
  const std::string before = nvrtc_identity({one, other});
  EXPECT_EQ(before, nvrtc_identity({one, other}));
  write_text(other, "other");
  const std::string both = nvrtc_identity({one, other});
  EXPECT_NE(both, before);
  EXPECT_NE(both, nvrtc_identity({other, one})) << "the first that fits is opened";
  write_text(one, "longer");
  EXPECT_NE(both, nvrtc_identity({one, other}));
  const std::string longer = nvrtc_identity({one, other});
  const timespec times[2] = {{1, 5}, {1, 5}};
  ASSERT_EQ(::utimensat(AT_FDCWD, one.c_str(), times, 0), 0);
  EXPECT_NE(longer, nvrtc_identity({one, other}));
  fs::rename(other, scratch.file("elsewhere"));
  EXPECT_NE(longer, nvrtc_identity({one, scratch.file("elsewhere")}));
}

TEST(NvrtcIdentity, NamesAreLookedUpAsTheLoaderDoes) {
  // The loader reads its path when a process starts, so this is one of its own.
  static const ScratchFolder scratch;  // of each process: the one that is started finds its parent's in the path
  write_text(scratch.file("libsinter-name.so.7"), "x");
  const bool is_child = std::getenv("LD_LIBRARY_PATH") != nullptr;
  const ScopedVariable path("LD_LIBRARY_PATH", is_child ? std::getenv("LD_LIBRARY_PATH") : scratch.path().string());
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(std::exit(nvrtc_identity({"libsinter-name.so.7"}) != nvrtc_identity({"libsinter-no-name.so.7"}) ? 0 : 1),
              ::testing::ExitedWithCode(0), "");
}

TEST(NvrtcIdentity, WhatIsLoadedAlreadyCounts) {
  const ScratchFolder scratch;
  const std::string library = scratch.file("libnvrtc.so.12.5");
  fs::copy_file(SINTER_FAKE_CUDA, library);
  const std::string before = nvrtc_identity({library});
  void* opened = dlopen(library.c_str(), RTLD_LAZY);
  ASSERT_TRUE(opened) << dlerror();
  EXPECT_NE(nvrtc_identity({library}), before);
  dlclose(opened);
  EXPECT_EQ(nvrtc_identity({library}), before);
}

}  // namespace
}  // namespace sinter::runtime

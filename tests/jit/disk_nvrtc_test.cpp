// A kernel that is on disk costs no compiler: NVRTC is not even loaded. Each process has a driver and an NVRTC made for
// tests, and looks at what is mapped into it.
#include <jit/cache/kernel_cache.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>

#include <runtime/cuda/nvrtc_library.hpp>
#include <sinter/runtime/error.hpp>
#include "../scratch.hpp"

namespace sinter::testing {
namespace {

namespace fs = std::filesystem;

/// What a process did to get a kernel, as bits of its exit status.
enum Did : int { compiled = 1, found_on_disk = 2, loaded_nvrtc = 4, failed = 8 };

bool is_mapped(const std::string& library) { return read_text("/proc/self/maps").find(library) != std::string::npos; }

[[noreturn]] void get_kernel() {
  int did = is_mapped("libnvrtc") ? Did::failed : 0;
  try {
    const runtime::KernelSource source{"k", "extern \"C\" __global__ void k() {}"};
    if (jit::compiled(source, runtime::gpu(0)).binary.empty()) did |= Did::failed;
    const JitStats stats = jit_stats();
    did |= (stats.compiles ? Did::compiled : 0) | (stats.disk_hits ? Did::found_on_disk : 0);
    did |= is_mapped("libnvrtc") ? Did::loaded_nvrtc : 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    did |= Did::failed;
  }
  std::_Exit(did);
}

struct DiskNvrtc : ::testing::Test {
  ScratchFolder scratch;
  std::string nvrtc = install("libnvrtc.so.12.4");
  ScopedVariable real_gpus{"SINTER_VIRTUAL_GPUS", std::nullopt}, driver{"SINTER_CUDA_DRIVER", SINTER_FAKE_CUDA},
      library{"SINTER_NVRTC", nvrtc}, mode{"SINTER_CACHE", "on"}, folder{"SINTER_CACHE_DIR", scratch.file("cache")};

  std::string install(const std::string& name) const {
    fs::copy_file(SINTER_FAKE_CUDA, scratch.file(name));
    return scratch.file(name);
  }
  /// In a process of its own.
  static int did() {
    const pid_t child = ::fork();
    if (child == 0) get_kernel();
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

TEST_F(DiskNvrtc, AHitDoesNotLoadIt) {
  EXPECT_EQ(did(), Did::compiled | Did::loaded_nvrtc);
  EXPECT_EQ(did(), Did::found_on_disk);
  EXPECT_EQ(did(), Did::found_on_disk);
}

TEST_F(DiskNvrtc, AnotherNvrtcsKernelsAreNotServed) {
  EXPECT_EQ(did(), Did::compiled | Did::loaded_nvrtc);
  {
    const ScopedVariable other("SINTER_NVRTC", install("libnvrtc.so.12.6"));
    EXPECT_EQ(did(), Did::compiled | Did::loaded_nvrtc) << "another file";
    EXPECT_EQ(did(), Did::found_on_disk);
  }
  EXPECT_EQ(did(), Did::found_on_disk);
  // An update in place, even one that leaves the size as it was.
  const timespec times[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, nvrtc.c_str(), times, 0), 0);
  EXPECT_EQ(did(), Did::compiled | Did::loaded_nvrtc);
  EXPECT_EQ(did(), Did::found_on_disk);
}

TEST_F(DiskNvrtc, OtherFlagsAreAnotherKernel) {
  EXPECT_EQ(did(), Did::compiled | Did::loaded_nvrtc);
  const ScopedVariable debug("SINTER_CUDA_DEBUG", "1");
  EXPECT_EQ(did(), Did::compiled | Did::loaded_nvrtc);
  EXPECT_EQ(did(), Did::found_on_disk);
}

TEST_F(DiskNvrtc, ARealOneIsNotLoadedEither) {
  const ScopedVariable usual("SINTER_NVRTC", std::nullopt);
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      runtime::nvrtc();
      std::_Exit(0);
    } catch (const DeviceError&) {
      std::_Exit(1);
    }
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (status != 0) GTEST_SKIP() << "NOT TESTED: there is no NVRTC";
  EXPECT_EQ(did(), Did::compiled | Did::loaded_nvrtc);
  EXPECT_EQ(did(), Did::found_on_disk);
}

}  // namespace
}  // namespace sinter::testing

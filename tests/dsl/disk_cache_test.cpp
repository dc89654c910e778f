// Expressions of one process that use kernels compiled by another one, for virtual GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sinter/sinter.hpp>

#include <jit/cache/disk_entry.hpp>
#include "../file_limit.hpp"
#include "../scratch.hpp"

namespace sn = sinter;

namespace {

namespace fs = std::filesystem;
using sinter::testing::file_limits;
using sinter::testing::read_text;
using sinter::testing::ScopedVariable;
using sinter::testing::ScratchFolder;
using sinter::testing::under_file_limit;

/// Bits of a process's exit status.
enum Did : int { compiled = 1, found_on_disk = 2, wrong = 4 };

[[noreturn]] void evaluate_as_child() {
  int did = 0;
  try {
    const auto x = sn::tensor({1.f, 2.f}).cuda();
    const sn::Tensor r = (x + 2).exp() * x;
    did |= std::abs(r.cpu()[1].item() - 2 * std::exp(4.f)) < 1e-3f ? 0 : Did::wrong;
    const auto origin = sn::kernel_history().back().origin;
    did |= origin == sn::KernelOrigin::Compiled ? Did::compiled
           : origin == sn::KernelOrigin::Disk   ? Did::found_on_disk
                                                : 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    did |= Did::wrong;
  }
  std::_Exit(did);
}

struct DslDiskCache : ::testing::Test {
  ScratchFolder scratch;
  ScopedVariable gpus{"SINTER_VIRTUAL_GPUS", "2"}, mode{"SINTER_CACHE", "on"},
      folder{"SINTER_CACHE_DIR", scratch.file("cache")}, no_dump{"SINTER_DUMP_DIR", std::nullopt};

  static int did() {
    const pid_t child = ::fork();
    if (child == 0) evaluate_as_child();
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> all;
    for (const auto& file : fs::directory_iterator(scratch.file("cache")))
      if (file.path().extension() == ".kernel") all.push_back(file.path());
    return all;
  }
};

TEST_F(DslDiskCache, AnotherProcessRunsWhatOneCompiled) {
  EXPECT_EQ(did(), Did::compiled);
  EXPECT_EQ(entries().size(), 1u);
  EXPECT_EQ(did(), Did::found_on_disk);
  const ScopedVariable readonly("SINTER_CACHE", "readonly");
  EXPECT_EQ(did(), Did::found_on_disk);
}

TEST_F(DslDiskCache, LimitsOfFileSizesAreErrors) {
  for (const rlim_t limit : file_limits) {
    const int compiles = under_file_limit(limit, []() -> int { evaluate_as_child(); });
    EXPECT_EQ(compiles & ~Did::compiled, compiles & Did::compiled ? 0 : Did::wrong) << limit;
  }
  EXPECT_EQ(did() & Did::wrong, 0);
  // Virtual GPUs load a kernel from a file in memory, which is limited as well.
  EXPECT_EQ(under_file_limit(0, []() -> int { evaluate_as_child(); }), Did::wrong);
  EXPECT_EQ(under_file_limit(1 << 20, []() -> int { evaluate_as_child(); }), Did::found_on_disk);
  EXPECT_EQ(did(), Did::found_on_disk) << "which deletes no entry";
}

TEST_F(DslDiskCache, ATornEntryIsCompiledAgain) {
  EXPECT_EQ(did(), Did::compiled);
  const fs::path entry = entries().at(0);
  fs::resize_file(entry, fs::file_size(entry) - 1);
  EXPECT_EQ(did(), Did::compiled);
  EXPECT_EQ(did(), Did::found_on_disk);
}

TEST_F(DslDiskCache, AnIntactEntryThatDoesNotLoadIsCompiledAgain) {
  EXPECT_EQ(did(), Did::compiled);
  for (const char* binary : {"no shared object",
                             "\x7f"
                             "ELF, but no more than that"}) {
    auto entry = sinter::jit::decode(read_text(entries().at(0)));
    ASSERT_TRUE(entry);
    sinter::testing::write_text(entries().at(0), sinter::jit::encode(entry->key, binary));
    EXPECT_EQ(did(), Did::compiled);
    EXPECT_EQ(did(), Did::found_on_disk);
  }
}

TEST_F(DslDiskCache, AnotherCompilersKernelsAreNotServed) {
  EXPECT_EQ(did(), Did::compiled);
  // A compiler with the same version number, in another file.
  const std::string wrapper = scratch.file("my-compiler");
  std::ofstream(wrapper) << "#!/bin/sh\nexec c++ \"$@\"\n";
  fs::permissions(wrapper, fs::perms::owner_all);
  const ScopedVariable other("SINTER_HOST_CXX", wrapper);
  EXPECT_EQ(did(), Did::compiled);
  EXPECT_EQ(did(), Did::found_on_disk);
  std::ofstream(wrapper) << "#!/bin/sh\n# another build\nexec c++ \"$@\"\n";
  EXPECT_EQ(did(), Did::compiled);
}

TEST_F(DslDiskCache, TheCompilersArgumentsCount) {
  EXPECT_EQ(did(), Did::compiled);
  const ScopedVariable other("SINTER_HOST_CXX", "c++ -O0");
  EXPECT_EQ(did(), Did::compiled);
}

TEST_F(DslDiskCache, DumpsWhatCameFromDiskToo) {
  EXPECT_EQ(did(), Did::compiled);
  const ScopedVariable dump("SINTER_DUMP_DIR", scratch.file("dump"));
  EXPECT_EQ(did(), Did::found_on_disk);
  std::vector<std::string> extensions;
  for (const auto& file : fs::directory_iterator(scratch.file("dump")))
    if (file.path().filename().string().find("exp") != std::string::npos) extensions.push_back(file.path().extension());
  EXPECT_THAT(extensions, testing::UnorderedElementsAre(".cu", ".so"));
}

TEST(DslLogDeathTest, ALineForEachPlan) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // the variable is read once
  const ScopedVariable log("SINTER_LOG", "schedule");
  EXPECT_EXIT(
      {
        const auto x = sn::tensor({1.f, 2.f});
        const sn::Tensor r = (x + 2).exp() * x;
        std::_Exit(0);
      },
      testing::ExitedWithCode(0),
      "sinter\\[schedule\\]: a graph of [0-9]+ nodes becomes 1 kernel with 0 temporaries: sinter_add_exp_mul_f32_");
}

}  // namespace

// Compiling: what is said, logged, dumped and remembered of it.
#include <jit/cache/compile.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <jit/cache/dump.hpp>
#include <jit/stats/history.hpp>
#include "../scratch.hpp"
#include "fake_gpu.hpp"
#include "setup.hpp"

namespace sinter::testing {
namespace {

namespace fs = std::filesystem;
using jit::find_or_compile;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

const sinter::test::Setup says_all([] {
  test::keep_kernels_in_memory();
  unsetenv("SINTER_DUMP_DIR");
  unsetenv("SINTER_QUIET");
});

/// What compiling several kernels in a process of its own writes to stderr.
template <class F>
void expect_said(F prepare, const std::string& pattern) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";  // variables are read once
  EXPECT_EXIT(
      {
        prepare();
        FakeGpu gpu;
        for (const char* name : {"first", "second"})
          find_or_compile({"fake", name, std::string("text of ") + name}, gpu);
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), pattern);
}

TEST(CompileDeathTest, AUserWhoWaitsIsToldOnce) {
  expect_said([] { jit::set_compile_patience(std::chrono::milliseconds(0)); },
              "^sinter: compiling kernel first takes a while[^\n]*SINTER_QUIET=1[^\n]*\n$");
}

TEST(CompileDeathTest, AUserWhoDoesNotWaitIsToldNothing) {
  expect_said([] { jit::set_compile_patience(std::chrono::hours(1)); }, "^$");
}

TEST(CompileDeathTest, NothingIsSaidToWhoAskedForQuiet) {
  expect_said(
      [] {
        setenv("SINTER_QUIET", "1", 1);
        jit::set_compile_patience(std::chrono::milliseconds(0));
      },
      "^$");
}

TEST(CompileDeathTest, LogsALineForEachEvent) {
  static const ScratchFolder scratch;  // of each process
  expect_said(
      [&] {
        setenv("SINTER_LOG", "jit,cache", 1);
        setenv("SINTER_CACHE", "on", 1);
        setenv("SINTER_CACHE_DIR", scratch.path().c_str(), 1);
      },
      "sinter\\[cache\\]: miss: first \\([0-9a-f]+.kernel\\)\n"
      "sinter\\[jit\\]: compiled first in [0-9.]+ ms: 24 bytes for fake\n"
      "sinter\\[cache\\]: stored: first [^\n]*\n"
      "sinter\\[cache\\]: swept: 0 files deleted, [0-9]+ bytes left\n"
      "sinter\\[cache\\]: miss: second");
}

TEST(CompileDeathTest, LogsARefusedFolderOnce) {
  static const ScratchFolder scratch;
  fs::permissions(scratch.path(), fs::perms::all);
  expect_said(
      [&] {
        setenv("SINTER_LOG", "cache", 1);
        setenv("SINTER_CACHE", "on", 1);
        setenv("SINTER_CACHE_DIR", scratch.path().c_str(), 1);
      },
      "^sinter\\[cache\\]: the folder [^\n]* is not used [^\n]*\n"
      "sinter\\[cache\\]: miss: first [^\n]*\n"
      "sinter\\[cache\\]: miss: second [^\n]*\n$");
}

TEST(CompileDeathTest, LogsAMissingFolderThatIsOnlyRead) {
  expect_said(
      [&] {
        setenv("SINTER_LOG", "cache", 1);
        setenv("SINTER_CACHE", "readonly", 1);
        setenv("SINTER_CACHE_DIR", "/nowhere/at all", 1);
      },
      "^sinter\\[cache\\]: miss, there is no folder /nowhere/at all: first [^\n]*\n"
      "sinter\\[cache\\]: miss, there is no folder /nowhere/at all: second [^\n]*\n$");
}

TEST(Compile, DumpsTextAndBinaryWhereAsked) {
  const ScratchFolder scratch;
  const ScopedVariable dump("SINTER_DUMP_DIR", scratch.file("dump"));
  FakeGpu gpu;
  find_or_compile({"fake", "sinter_dumped", "its text"}, gpu);
  std::vector<std::string> files;
  for (const auto& file : fs::directory_iterator(scratch.file("dump"))) {
    EXPECT_THAT(file.path().stem().string(), MatchesRegex("sinter_dumped_[0-9a-f]+"));
    files.push_back(file.path().extension().string() + ": " + read_text(file.path()));
  }
  EXPECT_THAT(files, ::testing::UnorderedElementsAre(".cu: its text", ".ptx: binary of sinter_dumped for fake"));
}

TEST(Compile, TheTextOfWhatDoesNotCompileIsDumped) {
  const ScratchFolder scratch;
  const ScopedVariable dump("SINTER_DUMP_DIR", scratch.path().string());
  FakeGpu gpu;
  gpu.refuses = true;
  EXPECT_THROW(find_or_compile({"fake", "sinter_bad", "bad text"}, gpu), CompileError);
  const fs::directory_iterator first(scratch.path());
  EXPECT_EQ(first->path().extension(), ".cu");
  EXPECT_EQ(read_text(first->path()), "bad text");
}

TEST(Compile, AFolderThatCannotBeMadeIsNoReasonToFail) {
  const ScopedVariable dump("SINTER_DUMP_DIR", "/proc/nowhere");
  FakeGpu gpu;
  EXPECT_EQ(find_or_compile({"fake", "k", "t"}, gpu).bytes, "binary of k for fake");
}

TEST(Compile, BinariesAreNamedByWhatTheyAre) {
  std::string elf(64, '\0');
  elf.replace(0, 4,
              "\x7f"
              "ELF");
  EXPECT_EQ(jit::extension(elf), ".so");
  elf[18] = static_cast<char>(190);
  EXPECT_EQ(jit::extension(elf), ".cubin");
  EXPECT_EQ(jit::extension("//\n.version 8.0"), ".ptx");
  EXPECT_EQ(jit::extension(elf.substr(0, 63)), ".ptx");
}

TEST(History, KeepsTheLastOnesInTheirOrder) {
  for (std::size_t i = 0; i < max_kernel_history + 10; ++i)
    jit::remember({"k" + std::to_string(i), Device(0), "fake", KernelOrigin::Compiled, 1.0});
  const std::vector<KernelRecord> records = kernel_history();
  ASSERT_EQ(records.size(), max_kernel_history);
  EXPECT_EQ(records.front().name, "k10");
  EXPECT_EQ(records.back().name, "k" + std::to_string(max_kernel_history + 9));
  EXPECT_STREQ(to_string(KernelOrigin::Compiled), "compiled");
  EXPECT_STREQ(to_string(KernelOrigin::Disk), "disk");
  EXPECT_STREQ(to_string(KernelOrigin::Memory), "memory");
}

}  // namespace
}  // namespace sinter::testing

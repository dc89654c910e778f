// The main function of every suite, which is a program of all test files of a folder.
//   SUITE FILE [GoogleTest's options]    the tests of one file: jit_suite jit/graph_test
//   SUITE [GoogleTest's options]         those of all files, each file in a process of its own
#include "setup.hpp"

#include <fnmatch.h>
#include <gmock/gmock.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::test {
namespace {

struct FileSetup {
  std::string path;
  void (*run)();
};
std::vector<FileSetup>& setups() {
  static std::vector<FileSetup> all;
  return all;
}

std::string selected;  // the FILE
bool ignores_leaks = false;

/// A source as a FILE is written: its path below tests/, without extension.
std::string short_name(std::string_view path) {
  constexpr std::string_view tests = "tests/";
  if (const std::size_t at = path.rfind(tests); at != path.npos) path.remove_prefix(at + tests.size());
  return std::string(path.substr(0, path.rfind('.')));
}

template <class F>
void for_each_test(F f) {
  const auto& all = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s)
    for (int t = 0; t < all.GetTestSuite(s)->total_test_count(); ++t) {
      const ::testing::TestInfo& test = *all.GetTestSuite(s)->GetTestInfo(t);
      f(std::string(test.test_suite_name()) + "." + test.name(), short_name(test.file()));
    }
}

/// Leaves out the tests of other files, whatever else the filter says. GoogleTest is to print the filter as it was.
class OnlySelected : public ::testing::EmptyTestEventListener {
 public:
  OnlySelected() {
    std::string others;
    for_each_test([&](const std::string& test, const std::string& file) {
      if (file != selected) others += ":" + test;
    });
    if (!others.empty() && filter_.find('-') == std::string::npos) others[0] = '-';
    GTEST_FLAG_SET(filter, filter_ + others);
  }
  void OnTestProgramStart(const ::testing::UnitTest&) override { GTEST_FLAG_SET(filter, filter_); }

 private:
  const std::string filter_ = GTEST_FLAG_GET(filter);
};

/// The files with tests that the filter may choose.
std::set<std::string> chosen_files() {
  const std::string filter = GTEST_FLAG_GET(filter);
  std::set<std::string> files;
  for_each_test([&](const std::string& test, const std::string& file) {
    std::istringstream patterns(filter.substr(0, filter.find('-')));
    for (std::string p; std::getline(patterns, p, ':');)
      if (fnmatch(p.c_str(), test.c_str(), 0) == 0) files.insert(file);
    if (filter.starts_with('-')) files.insert(file);
  });
  return files;
}

/// Where every access to memory is checked, which takes long, a part of the tests may do: SINTER_TEST_SAMPLE=2/3 runs
/// the second of three parts. A file's first part is one of them by its name: files with one test would otherwise all
/// be in the first. Processes that tests start are not to choose once more.
class Sample : public ::testing::Environment {
 public:
  Sample() {
    const char* sample = std::getenv("SINTER_TEST_SAMPLE");
    if (!sample || !std::getenv("SINTER_VIRTUAL_STRICT")) return;
    int part = 0, parts = 0;
    if (std::sscanf(sample, "%d/%d", &part, &parts) != 2 || part < 1 || part > parts) {
      std::fprintf(stderr, "SINTER_TEST_SAMPLE=%s is no part of several, as 2/3 is\n", sample);
      std::exit(2);
    }
    const std::size_t shard =
        (static_cast<std::size_t>(part) + std::hash<std::string>()(selected)) % static_cast<std::size_t>(parts);
    setenv("GTEST_SHARD_INDEX", std::to_string(shard).c_str(), 1);
    setenv("GTEST_TOTAL_SHARDS", std::to_string(parts).c_str(), 1);
  }
  void SetUp() override {
    for (const char* name : {"SINTER_TEST_SAMPLE", "GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS"}) unsetenv(name);
  }
};

/// What runs programs of another architecture.
#ifdef SINTER_TEST_EMULATOR
const std::string emulator = SINTER_TEST_EMULATOR " ";
#else
const std::string emulator;
#endif

std::string path_of_program() {
  char path[PATH_MAX] = {};
  return readlink("/proc/self/exe", path, sizeof path - 1) > 0 ? path : "";
}

bool passes(const std::string& file, const std::vector<std::string>& options) {
  std::vector<std::string> words{path_of_program(), file};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  int status = 0;
  return posix_spawn(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) == 0 &&
         waitpid(child, &status, 0) == child && status == 0;
}

int run_all_files(const std::vector<std::string>& options) {
  std::vector<std::string> failed;
  for (const std::string& file : chosen_files())
    if (!passes(file, options)) failed.push_back(file);
  for (const std::string& file : failed) std::printf("FAILED: %s %s\n", path_of_program().c_str(), file.c_str());
  return failed.empty() ? 0 : 1;
}

int run_selected_file() {
  bool is_there = false;
  for_each_test([&](const std::string&, const std::string& file) { is_there |= file == selected; });
  if (!is_there) {
    std::fprintf(stderr, "there are no tests of %s here; there are those of", selected.c_str());
    for (const std::string& file : chosen_files()) std::fprintf(stderr, " %s", file.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  ::testing::UnitTest::GetInstance()->listeners().Append(new OnlySelected);
  ::testing::AddGlobalTestEnvironment(new Sample);
  return RUN_ALL_TESTS();
}

int run(int argc, char** argv) {
  const std::vector<std::string> options(argv + 1, argv + argc);
  if (argc > 1 && argv[1][0] != '-') selected = argv[1];
#ifdef SINTER_KERNEL_CACHE
  setenv("SINTER_CACHE_DIR", SINTER_KERNEL_CACHE, 1);  // leaves the user's own alone
#else
  setenv("SINTER_CACHE", "memory", 0);
#endif
  setenv("SINTER_CPU_JIT", "off", 0);  // what is compiled, and when, is for the tests of that alone
  for (const FileSetup& setup : setups())
    if (short_name(setup.path) == selected) setup.run();
  if (!selected.empty() && !std::getenv("SINTER_TEST_GPU")) setenv("SINTER_VIRTUAL_GPUS", "2", 0);
  ::testing::InitGoogleMock(&argc, argv);
  return selected.empty() ? run_all_files(options) : run_selected_file();
}

}  // namespace

Setup::Setup(void (*run)(), std::source_location file) { setups().push_back({file.file_name(), run}); }

void ignore_leaks() { ignores_leaks = true; }

void keep_kernels_in_memory() { setenv("SINTER_CACHE", "memory", 1); }

std::string this_program() { return emulator + ("'" + path_of_program() + "' ") + selected; }

}  // namespace sinter::test

/// LeakSanitizer asks at the end.
extern "C" int __lsan_is_turned_off() { return sinter::test::ignores_leaks; }

int main(int argc, char** argv) { return sinter::test::run(argc, argv); }
